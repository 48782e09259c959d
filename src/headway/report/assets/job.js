// What is told of one job.

const REASONS = {
  immediate: "it fitted when it was submitted",
  head: "it was first in the queue when its processors came free",
  backfill: "it fitted ahead of its turn without delaying a reservation",
  reservation: "its reserved start had come",
  resumed: "it was resumed",
  redirected: "it was sent to the redirection group",
  urgent: "it is urgent and went first",
  urgent_backfill: "it is urgent and fitted ahead",
  urgent_preempt: "it is urgent and others had to make room",
  promoted: "it was promoted to keep its deadline",
  moved: "it was moved to another cluster",
  recorded: "the log has its start and does not say why",
};

const STATE_WORDS = ["running", "loading its file", "swapping out", "suspended", "swapping in"];

function promiseWords(schedule, row) {
  if (!schedule.promise || Number.isNaN(schedule.promise[row])) return null;
  const kind = schedule.data.promise_kind, promised = schedule.promise[row];
  const reached = kind === "end" ? schedule.end[row] : schedule.start[row];
  const early = promised - reached, what = kind === "end" ? "end" : "start";
  const kept = early > 0 ? `${span(early)} earlier than told` : early < 0 ? `${span(-early)} later than told` : "exactly as told";
  return `${what} by ${clock.at(promised)}: ${kept}`;
}

function jobFacts(schedule, row, piece = -1) {
  const { jobs } = schedule, why = PAGE.why[schedule.why[row]];
  const facts = [
    ["user", ["user", ...PAGE.divisions].filter((key) => key === "user" || jobs.name(key, row) !== "–")
      .map((key) => (key === "user" ? "" : `${key} `) + jobs.name(key, row)).join(", ")],
    ["processors", digits(schedule.procs[row])],
    ["submitted", clock.at(jobs.submit[row])],
    ["waited", span(schedule.wait[row])],
    ["ran", `${clock.at(schedule.start[row])} – ${clock.at(schedule.end[row])}`],
    ["run time", `${span(schedule.ran(row))} of ${span(schedule.walltime[row])} asked for`
      + (schedule.killed[row] ? ", killed at the limit" : "")],
    [`bounded slowdown (tau = ${PAGE.tau} s)`, digits(schedule.bsld[row], 3)],
    ["why then", why ? `<b>${why.replace("_", " ")}</b>: ${REASONS[why] || ""}` : "–"],
  ];
  const strips = piece >= 0 ? schedule.strips : null;
  if (strips && strips.state) {
    facts.splice(5, 0, ["this piece", STATE_WORDS[strips.state[piece]] + (strips.lost[piece] ? ", lost: killed to start again" : "")]);
  }
  const promise = promiseWords(schedule, row);
  if (promise) facts.push(["promise", promise]);
  return facts;
}

function jobCard(schedule, row, piece) {
  const facts = jobFacts(schedule, row, piece).map(([name, text]) =>
    `<tr><th>${name}</th><td>${name === "why then" ? text : escaped(text)}</td></tr>`);
  return `<header>job ${schedule.jobs.job[row]}</header><table>${facts.join("")}</table>`;
}

// The picked job under every policy, side by side.
function jobPanel(schedules, row) {
  const has = schedules.filter((schedule) => schedule.wait[row] === schedule.wait[row]);
  const facts = has.map((schedule) => new Map(jobFacts(schedule, row)));
  const names = [...new Set(facts.flatMap((each) => [...each.keys()]))];
  const head = has.length > 1 ? `<tr><th></th>${has.map((s) => `<th><i style="background:${s.data.colour}"></i>${escaped(s.name)}</th>`).join("")}</tr>` : "";
  const body = names.map((name) => {
    const texts = facts.map((each) => (name === "why then" ? each.get(name) : escaped(each.get(name) ?? "–")));
    const same = texts.every((text) => text === texts[0]);
    const cells = same && has.length > 1 ? `<td colspan="${has.length}">${texts[0]}</td>` : texts.map((text) => `<td>${text}</td>`).join("");
    return `<tr><th>${name}</th>${cells}</tr>`;
  });
  return `<h3>Job ${has[0].jobs.job[row]}</h3><table class="facts">${head}${body.join("")}</table>`;
}
