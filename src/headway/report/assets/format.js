// Numbers and times for people.

const MINUTE = 60, HOUR = 3600, DAY = 86400;

function digits(value, most = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(most)));
}

function span(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.abs(seconds), sign = seconds < 0 ? "−" : "";
  if (s < 120) return sign + digits(s, 3) + " s";
  const whole = Math.round(s);
  const d = Math.floor(whole / DAY), h = Math.floor((whole % DAY) / HOUR), m = Math.floor((whole % HOUR) / MINUTE);
  const two = (a, unit, b, small) => `${sign}${a.toLocaleString("en")} ${unit}${b ? ` ${b} ${small}` : ""}`;
  if (d) return two(d, "d", h, "h");
  return h ? two(h, "h", m, "min") : two(m, "min", whole % 60, "s");
}

// A log without a date counts days from its beginning.
const clock = {
  origin: null,
  parts(t) {
    const day = Math.floor(t / DAY), rest = t - day * DAY;
    const two = (x) => String(Math.floor(x)).padStart(2, "0");
    const time = `${two(rest / HOUR)}:${two((rest % HOUR) / MINUTE)}`;
    const date = this.origin === null ? `day ${day.toLocaleString("en")}`
      : new Date((this.origin + t) * 1000).toISOString().slice(0, 10);
    return { date, time, second: two(rest % MINUTE) };
  },
  at(t) {
    if (this.origin !== null) {
      return `${new Date(Math.round((this.origin + t) * 1000)).toISOString().slice(0, 19).replace("T", " ")} UTC`;
    }
    const { date, time, second } = this.parts(t);
    return `${date} ${time}:${second}`;
  },
  tick(t, step) {
    const shifted = this.origin === null ? t : t + (this.origin % DAY);
    const { time, second } = this.parts(shifted);
    const { date } = this.parts(t);
    if (step >= DAY) return date;
    const fraction = step < 1 ? "." + (t % 1).toFixed(3).slice(2) : "";
    if (step < MINUTE) return `${time}:${second}${fraction}`;
    return time === "00:00" ? date : time;
  },
};

const TIME_STEPS = [0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 604800, 1209600, 2592000, 5184000, 7776000, 15552000, 31536000, 63072000, 157680000];

function timeTicks(from, to, width) {
  const wanted = (to - from) / Math.max(2, width / 110);
  const step = TIME_STEPS.find((s) => s >= wanted) ?? TIME_STEPS[TIME_STEPS.length - 1];
  const shift = clock.origin === null ? 0 : clock.origin % DAY;
  const ticks = [];
  for (let i = 0 + Math.ceil((from + shift) / step); i * step - shift <= to; i++) ticks.push(i * step - shift + 0);
  return { ticks, step };
}

function niceTicks(from, to, count) {
  const raw = (to - from) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const ticks = [];
  for (let i = 0 + Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) ticks.push(i * step + 0);
  return ticks;
}

const LOG_TIMES = [[1, "≤ 1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [1800, "30 min"], [3600, "1 h"],
  [7200, "2 h"], [14400, "4 h"], [28800, "8 h"], [43200, "12 h"], [86400, "1 d"], [259200, "3 d"], [604800, "1 week"], [2629746, "1 month"], [31556952, "1 year"]];

function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}
