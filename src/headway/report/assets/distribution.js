// Which share of the jobs waited at most so long: one curve per schedule, over a logarithmic axis.

const MEASURES = {
  wait: { label: "wait", time: true, of: (s) => s.wait },
  response: { label: "response time", time: true, of: (s) => s.response },
  bsld: { get label() { return `bounded slowdown (tau = ${PAGE.tau} s)`; }, time: false, of: (s) => s.bsld },
};

class Distribution extends Chart {
  constructor(place, schedules, measure) {
    super(place, 260, { left: 56, right: 16, top: 8, bottom: 26 });
    this.schedules = schedules;
    this.measure = measure;
    this.select(() => true);
    this.navigate({
      pan: (dx) => this.move((-dx / this.inner) * (this.to - this.from)),
      zoom: (factor, x) => {
        const at = this.value(x);
        this.from = at - (at - this.from) * factor;
        this.to = at + (this.to - at) * factor;
        if (this.to - this.from > this.limit) { this.from = 0; this.to = this.limit; }
        this.move(0);
      },
      reset: () => { this.from = 0; this.to = this.limit; this.request(); },
      hover: (x, y, event) => this.hover(x, event),
      leave: () => { this.cursor = null; this.request(); },
    });
  }
  select(kept) {
    const { of } = MEASURES[this.measure];
    let top = 10;
    this.curves = this.schedules.map((schedule) => {
      const values = of(schedule), chosen = new Float64Array(schedule.present.length);
      let n = 0;
      for (const i of schedule.present) if (kept(i)) chosen[n++] = Math.max(values[i], 1);
      const sorted = chosen.subarray(0, n).sort();
      if (sorted.length) top = Math.max(top, sorted[sorted.length - 1]);
      return { schedule, sorted };
    });
    this.limit = Math.log10(top) * 1.02;
    this.from = 0;
    this.to = this.limit;
    this.request();
  }
  move(by) {
    const length = this.to - this.from;
    this.from = Math.min(Math.max(this.from + by, 0), this.limit - length);
    this.to = this.from + length;
    this.request();
  }
  value(x) { return this.from + ((x - this.margin.left) / this.inner) * (this.to - this.from); }
  draw(g) {
    const x = (v) => this.margin.left + ((Math.log10(v) - this.from) / (this.to - this.from)) * this.inner;
    const y = (share) => this.margin.top + this.depth * (1 - share);
    this.gridY([0, 0.25, 0.5, 0.75, 1], y, (share) => `${share * 100} %`);
    const low = 10 ** this.from, high = 10 ** this.to;
    if (MEASURES[this.measure].time) {
      const marks = LOG_TIMES.filter(([v]) => v >= low * 0.999 && v <= high);
      const ticks = marks.length > 1 ? marks : niceTicks(low, high, 6).map((v) => [v, span(v)]);
      this.gridX(ticks.map(([v]) => v), x, (v) => ticks.find(([t]) => t === v)[1]);
    } else {
      const powers = [];
      for (let p = Math.ceil(this.from - 1e-9); p <= this.to; p++) powers.push(10 ** p);
      this.gridX(powers.length > 1 ? powers : niceTicks(low, high, 6), x, (v) => digits(v));
    }
    this.clip(() => {
      for (const { schedule, sorted } of this.curves) {
        if (!sorted.length) continue;
        g.strokeStyle = schedule.data.colour;
        g.lineWidth = 2;
        g.lineJoin = "round";
        g.beginPath();
        for (let px = 0; px <= this.inner; px++) {
          const share = above(sorted, 10 ** this.value(this.margin.left + px) * (1 + 1e-12)) / sorted.length;
          if (px) g.lineTo(this.margin.left + px, y(share)); else g.moveTo(this.margin.left, y(share));
        }
        g.stroke();
      }
    });
    if (this.cursor !== null && this.cursor !== undefined) {
      const at = Math.round(this.cursor) + 0.5;
      g.strokeStyle = theme.hover;
      g.lineWidth = 1;
      g.beginPath(); g.moveTo(at, this.margin.top); g.lineTo(at, this.margin.top + this.depth); g.stroke();
      for (const { schedule, sorted } of this.curves) {
        const share = above(sorted, 10 ** this.value(this.cursor)) / sorted.length;
        g.fillStyle = schedule.data.colour;
        g.beginPath(); g.arc(this.cursor, y(share), 4, 0, 7); g.fill();
      }
    }
  }
  hover(x, event) {
    if (x < this.margin.left || x > this.margin.left + this.inner) return tooltip.hide();
    this.cursor = x;
    this.request();
    const value = 10 ** this.value(x), { label, time } = MEASURES[this.measure];
    const lines = this.curves.map(({ schedule, sorted }) => {
      const share = sorted.length ? above(sorted, value) / sorted.length : NaN;
      return `<div><i style="background:${schedule.data.colour}"></i>${escaped(schedule.name)} <b>${(100 * share).toFixed(1)} %</b></div>`;
    });
    tooltip.show(`<header>${label} at most ${time ? span(value) : digits(value, 3)}</header>${lines.join("")}`, event.clientX, event.clientY);
  }
}

// Means by class: one line per class, one dot per schedule, over a logarithmic axis.
class ClassDots extends Chart {
  constructor(place, schedules, tables, key, measure) {
    super(place, 200, { left: 110, right: 24, top: 8, bottom: 26 });
    this.schedules = schedules;
    this.tables = tables;
    this.show(key, measure);
    this.navigate({ hover: (x, y, event) => this.hover(y, event) });
  }
  show(key, measure) {
    const first = this.tables[0][key];
    const chosen = key === "size" ? first : [...first].sort((a, b) => b.area - a.area).slice(0, 20);
    this.measure = measure;
    this.lines = chosen.map((row) => ({
      name: row.name, jobs: row.jobs,
      values: this.tables.map((table) => table[key].find((other) => other.name === row.name)?.[measure] ?? NaN),
    }));
    this.key = key;
    this.height = 34 + Math.max(1, this.lines.length) * 21;
    this.canvas.style.height = this.height + "px";
    this.request();
  }
  draw(g) {
    this.fitNames(this.lines.map((line) => `${line.name}`));
    const all = this.lines.flatMap((line) => line.values).filter(Number.isFinite);
    const time = this.measure !== "mean_bsld" && this.measure !== "max_bsld";
    const high = Math.log10(Math.max(10, ...all)) * 1.03;
    const least = Math.log10(Math.max(1, Math.min(...all))), low = Math.max(0, least - (high - least) * 0.08);
    const x = (v) => this.margin.left + ((Math.log10(Math.max(v, 10 ** low)) - low) / (high - low)) * this.inner;
    const step = this.depth / Math.max(1, this.lines.length);
    const ticks = time ? LOG_TIMES.filter(([v]) => v >= 10 ** low && v <= 10 ** high)
      : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000].filter((v) => v >= 10 ** low && v <= 10 ** high).map((v) => [v, digits(v)]);
    this.gridX(ticks.map(([v]) => v), x, (v) => ticks.find(([t]) => t === v)[1]);
    this.lines.forEach((line, i) => {
      const y = this.margin.top + (i + 0.5) * step, known = line.values.filter(Number.isFinite);
      g.fillStyle = i === this.under ? theme.ink : theme.soft;
      g.font = theme.font;
      g.textAlign = "right";
      g.textBaseline = "middle";
      g.fillText(this.fitting(`${line.name}`), this.margin.left - 12, y);
      g.strokeStyle = theme.line;
      g.lineWidth = 3;
      g.beginPath(); g.moveTo(x(Math.min(...known)), y); g.lineTo(x(Math.max(...known)), y); g.stroke();
      line.values.forEach((value, k) => {
        if (!Number.isFinite(value)) return;
        g.fillStyle = this.schedules[k].data.colour;
        g.globalAlpha = 0.9;
        g.beginPath(); g.arc(x(value), y, i === this.under ? 6 : 5, 0, 7); g.fill();
        g.globalAlpha = 1;
      });
    });
  }
  hover(y, event) {
    const i = Math.floor((y - this.margin.top) / (this.depth / Math.max(1, this.lines.length))), line = this.lines[i];
    this.under = i;
    this.request();
    if (!line) return tooltip.hide();
    const time = this.measure !== "mean_bsld" && this.measure !== "max_bsld";
    const lines = line.values.map((value, k) => `<div><i style="background:${this.schedules[k].data.colour}"></i>${escaped(this.schedules[k].name)} <b>${time ? span(value) : digits(value, 3)}</b></div>`);
    const what = this.key === "size" ? `${escaped(line.name)} processors` : `${this.key} ${escaped(line.name)}`;
    tooltip.show(`<header>${what}, ${digits(line.jobs)} jobs</header>${lines.join("")}`, event.clientX, event.clientY);
  }
}
