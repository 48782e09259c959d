// Puts the page together once it stands: unpack the columns, draw, connect the controls.

const PAGE = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);

async function startSchedules(page) {
  clock.origin = page.origin;
  const jobs = new Jobs(await unpackAll(page.jobs), page);
  const schedules = [];
  for (const data of page.schedules) {
    const columns = await unpackAll(data.columns);
    schedules.push(new Schedule(jobs, columns, data, page.tau));
    await breath();
  }
  let low = Infinity, high = -Infinity;
  for (const s of schedules) for (const i of s.present) {
    if (jobs.submit[i] < low) low = jobs.submit[i];
    if (s.end[i] > high) high = s.end[i];
  }
  const time = new TimeWindow(low, high);
  const utilization = new Curves(byId("utilization"), time, schedules, { steps: (s) => s.busy, percent: true });
  const queue = new Curves(byId("queue"), time, schedules, { steps: (s) => s.queue, percent: false });
  await breath();
  const colourings = { why: byWhy, size: bySize };
  for (const key of ["user", ...page.divisions]) colourings[key] = byOwner(key, time);
  for (const key of page.divisions) byId("colour").append(new Option(key));
  const paint = (s) => colourings[byId("colour").value](s);
  const gantt = new Gantt(byId("gantt"), time, schedules[0], paint, (row) => {
    byId("job").innerHTML = row === null ? "" : jobPanel(schedules, row);
    byId("job").hidden = row === null;
  });
  const overview = new Overview(byId("overview"), time, schedules[0]);
  const legend = () => {
    const { names, colours } = paint(gantt.schedule);
    byId("legend").innerHTML = names.map((name, i) => `<span><i style="background:${colours[i]}"></i>${escaped(name)}</span>`).join("")
      + gantt.strips.marks(gantt.schedule.data.outages).map(([, look, name]) => `<span><i class="${look}"></i>${escaped(name)}</span>`).join("");
  };
  legend();
  const recolour = () => { gantt.colours = null; gantt.request(); legend(); };
  byId("colour").addEventListener("change", recolour);
  // Who has a colour of their own depends on the window; it is chosen anew when the window rests.
  let resting = 0, window_ = "";
  time.watchers.push(() => {
    const now = `${time.from} ${time.to}`;
    if (now === window_ || ["why", "size"].includes(byId("colour").value)) return;
    window_ = now;
    clearTimeout(resting);
    resting = setTimeout(recolour, 250);
  });
  toggles("shown", schedules, (shown) => {
    for (const chart of [utilization, queue]) { chart.shown = shown; chart.request(); }
  });
  zoomButtons(time, gantt);
  await breath();
  const distributions = ["wait", "bsld"].map((m) => new Distribution(byId(`distribution-${m}`), schedules, m));
  classChooser(jobs, (kept) => distributions.forEach((chart) => chart.select(kept)));
  const tables = page.schedules.map((data) => data.classes);
  const dots = new ClassDots(byId("classes"), schedules, tables, byId("class-key").value, byId("class-measure").value);
  for (const id of ["class-key", "class-measure"]) {
    byId(id).addEventListener("change", () => {
      dots.show(byId("class-key").value, byId("class-measure").value);
      for (const option of byId("class-key").options) byId(`table-${option.value}`).hidden = !option.selected;
    });
  }
  const table = jobTable(schedules[0], (row) => {
    gantt.find(row);
    byId("gantt").scrollIntoView({ block: "center" });
  });
  choose("which", schedules, (chosen) => {
    gantt.show(chosen);
    overview.schedule = chosen;
    overview.request();
    table.show(chosen);
    legend();
  });
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const row = jobs.place.get(Number(byId("find-job").value));
    const there = row !== undefined && gantt.schedule.wait[row] === gantt.schedule.wait[row];
    byId("find-job").setCustomValidity(there ? "" : "this schedule has no such job");
    if (there) gantt.find(row); else byId("find-job").reportValidity();
  });
  byId("find-job").addEventListener("input", () => byId("find-job").setCustomValidity(""));
  const charts = [utilization, queue, gantt, overview, ...distributions, dots];
  return { jobs, schedules, time, gantt, utilization, queue, distributions, dots, table, charts };
}

// The page answers and draws what it has before it goes on.
function breath() { return new Promise((next) => requestAnimationFrame(() => setTimeout(next))); }

function jobTable(first, open) {
  let schedule = first;
  const { jobs } = first, number = (title, values, text, about) => ({
    title, number: true, about, value: (row) => values()[row], text: (row) => text(values()[row]),
  });
  // Names are compared once each, not once per job.
  const owner = (key) => {
    const names = jobs.names[key], rank = names && new Map(names.map((_, i) => i)
      .sort((a, b) => collator.compare(names[a], names[b])).map((code, place) => [code, place]));
    const value = (row) => (rank ? rank.get(jobs[key][row]) ?? NaN : jobs[key][row]);
    return { title: key, value, text: (row) => jobs.name(key, row) };
  };
  const columns = [
    number("job", () => jobs.job, String),
    ...["user", ...PAGE.divisions].filter((key) => jobs[key].some((code) => code >= 0)).map(owner),
    number("procs", () => schedule.procs, digits),
    number("submit", () => jobs.submit, (t) => clock.at(t)),
    number("wait", () => schedule.wait, span),
    number("start", () => schedule.start, (t) => clock.at(t)),
    {
      title: "run", number: true, value: (row) => schedule.ran(row), text: (row) => span(schedule.ran(row)),
    },
    number("walltime", () => schedule.walltime, span),
    number("slowdown", () => schedule.bsld, (v) => digits(v, 3), `bounded slowdown, tau = ${PAGE.tau} s`),
    { title: "why", value: (row) => schedule.why[row], text: (row) => (PAGE.why[schedule.why[row]] ?? "–").replace("_", " ") },
  ];
  const table = new LongTable(byId("jobs"), columns, first.present, { open });
  table.by = columns.findIndex((column) => column.title === "wait");
  table.up = false;
  // The longest waits come first, sorted when the browser has nothing better to do.
  table.show = (chosen) => { schedule = chosen; table.use(chosen.present); };
  (window.requestIdleCallback ?? setTimeout)(() => table.arrange());
  return table;
}

// ---- colours of the Gantt chart: a class per job, and the name and colour of each class -------

// The colours are those of the Gantt charts that figures/gantt.py draws.

function byWhy(schedule) {
  const seen = PAGE.why.map((_, code) => code).filter((code) => schedule.why.includes(code));
  const place = new Map(seen.map((code, i) => [code, i]));
  return {
    codes: schedule.why.map((code) => place.get(code) ?? 0),
    names: seen.map((code) => PAGE.why[code].replace("_", " ")),
    colours: seen.map((code) => PAGE.why_colours[code]),
  };
}
function bySize(schedule) {
  const m = schedule.data.capacity, limits = [32, 8, 4, 2].map((d) => Math.max(1, Math.floor(m / d)));
  const codes = schedule.procs.map((procs) => limits.filter((limit) => procs > limit).length);
  const names = [...limits, m].map((high, i, all) => (i ? `${digits(all[i - 1] + 1)}–${digits(high)}` : `1–${digits(high)}`) + " processors");
  return { codes, names, colours: PAGE.width_colours };
}
function byOwner(key, time) {
  return (schedule) => {
    const { jobs } = schedule, area = new Map(), owners = PAGE.owner_colours.slice(0, -1);
    for (const i of schedule.present) {
      const code = jobs[key][i], inside = Math.min(schedule.end[i], time.to) - Math.max(schedule.start[i], time.from);
      if (inside > 0) area.set(code, (area.get(code) || 0) + schedule.procs[i] * inside);
    }
    const ranked = [...area.keys()].sort((a, b) => area.get(b) - area.get(a)).slice(0, owners.length);
    const place = new Map(ranked.map((code, i) => [code, i]));
    const codes = jobs[key].map((code) => place.get(code) ?? ranked.length);
    const label = (code) => `${key} ${code < 0 ? "–" : jobs.names[key] ? jobs.names[key][code] : code}`;
    const names = ranked.map(label), colours = owners.slice(0, ranked.length);
    if (area.size > ranked.length) names.push(`${area.size - ranked.length} others`), colours.push(PAGE.owner_colours.at(-1));
    return { codes, names, colours };
  };
}

// ---- controls ---------------------------------------------------------------------------------

function choose(id, schedules, chosen) {
  const place = byId(id);
  if (schedules.length < 2) return;
  place.append(...schedules.map((schedule, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.innerHTML = `<i style="background:${schedule.data.colour}"></i>${escaped(schedule.name)}`;
    button.setAttribute("aria-pressed", String(i === 0));
    button.addEventListener("click", () => {
      [...place.children].forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      chosen(schedule);
    });
    return button;
  }));
}

function toggles(id, schedules, changed) {
  const place = byId(id), shown = new Set(schedules);
  if (schedules.length < 2) return;
  const legend = schedules.map((s) => `<span><i style="background:${s.data.colour}"></i>${escaped(s.name)}</span>`).join("");
  document.querySelectorAll(".legend.runs").forEach((place) => { place.innerHTML = legend; });
  place.append(...schedules.map((schedule) => {
    const button = document.createElement("button");
    button.type = "button";
    button.innerHTML = `<i style="background:${schedule.data.colour}"></i>${escaped(schedule.name)}`;
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      if (shown.has(schedule) && shown.size > 1) shown.delete(schedule); else shown.add(schedule);
      button.setAttribute("aria-pressed", String(shown.has(schedule)));
      changed(shown);
    });
    return button;
  }));
}

function zoomButtons(time, gantt) {
  const act = {
    in: () => time.zoom(0.5, (time.from + time.to) / 2), out: () => time.zoom(2, (time.from + time.to) / 2),
    all: () => { gantt.low = 0; gantt.span = gantt.procs; time.all(); },
    left: () => time.pan(-time.length / 2), right: () => time.pan(time.length / 2),
    taller: () => gantt.stretch(0.5, gantt.margin.top + gantt.depth / 2),
    flatter: () => gantt.stretch(2, gantt.margin.top + gantt.depth / 2),
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.zoom;
      if (act[name]) return act[name]();
      const middle = (time.from + time.to) / 2, half = Number(name) / 2;
      time.set(middle - half, middle + half);
    });
  }
  // The margin around the first and the last instant has no times of its own.
  const within = (t) => Math.min(Math.max(t, time.first), time.last);
  const tell = () => {
    const from = within(time.from), to = within(time.to);
    byId("window").textContent = `${clock.at(from)} – ${clock.at(to)} (${span(to - from)})`;
  };
  time.watchers.push(tell);
  tell();
}

function classChooser(jobs, select) {
  const key = byId("jobs-of"), exact = new Map();
  const sizes = new Set();
  for (let i = 0; i < jobs.n; i++) sizes.add(Math.ceil(Math.log2(Math.max(1, jobs.procs[i]))));
  const add = (label, kept) => { exact.set(label, kept); key.append(new Option(label)); };
  add("all jobs", () => true);
  for (const power of [...sizes].sort((a, b) => a - b)) {
    const low = power ? 2 ** (power - 1) + 1 : 1, high = 2 ** power;
    add(`${low >= high ? high : `${low}–${high}`} processors`, (i) => jobs.procs[i] >= Math.min(low, high) && jobs.procs[i] <= high);
  }
  for (const owner of [...PAGE.divisions, "user"]) {
    const count = new Map();
    for (let i = 0; i < jobs.n; i++) count.set(jobs[owner][i], (count.get(jobs[owner][i]) || 0) + 1);
    const most = [...count.keys()].filter((code) => code >= 0).sort((a, b) => count.get(b) - count.get(a)).slice(0, 20);
    if (most.length > 1) {
      for (const code of most) add(`${owner} ${jobs.names[owner] ? jobs.names[owner][code] : code}`, (i) => jobs[owner][i] === code);
    }
  }
  key.addEventListener("change", () => select(exact.get(key.value)));
}

// ---- start ------------------------------------------------------------------------------------

async function start() {
  document.querySelectorAll("table.sort").forEach(sortable);
  for (const tabs of document.querySelectorAll(".tabs")) {
    const buttons = [...tabs.querySelectorAll("button")];
    buttons.forEach((button) => button.addEventListener("click", () => {
      for (const other of buttons) {
        other.setAttribute("aria-pressed", String(other === button));
        byId(other.dataset.panel).hidden = other !== button;
      }
    }));
  }
  theme.read();
  if (PAGE.kind === "side by side") {
    document.documentElement.dataset.state = "drawn";
    return;
  }
  if (PAGE.kind !== "campaign" && typeof DecompressionStream === "undefined") {
    byId("trouble").hidden = false;
    byId("trouble").textContent = "This browser is too old to draw the charts; the tables are complete. Any browser of 2023 or later draws them.";
    return;
  }
  const parts = PAGE.kind === "campaign" ? startCampaign(PAGE) : await startSchedules(PAGE);
  window.headway = parts;
  const again = () => { theme.read(); parts.charts.forEach((chart) => chart.redraw()); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  addEventListener("beforeprint", again);
  addEventListener("afterprint", again);
  parts.charts.forEach((chart) => chart.redraw());
  performance.mark("drawn");
  document.documentElement.dataset.state = "drawn";
}

start();
