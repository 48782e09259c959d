// The one time window that curves and Gantt share, and the curves over it.

const LEFT = 56;  // room at the left for numbers, in pixels

class TimeWindow {
  constructor(low, high) {
    const margin = (high - low) * 0.01 || 1;
    this.first = low;
    this.last = high;
    this.low = low - margin;
    this.high = high + margin;
    this.from = this.low;
    this.to = this.high;
    this.left = LEFT;
    this.cursor = null;
    this.watchers = [];
  }
  get length() { return this.to - this.from; }
  set(from, to) {
    const all = this.high - this.low;
    let length = Math.min(Math.max(to - from, 0.01), all);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - length / 2, this.low), this.high - length);
    this.to = this.from + length;
    this.tell();
  }
  zoom(factor, at) { this.set(at - (at - this.from) * factor, at + (this.to - at) * factor); }
  pan(by) {
    const shift = Math.min(Math.max(by, this.low - this.from), this.high - this.to);
    this.set(this.from + shift, this.to + shift);
  }
  all() { this.set(this.low, this.high); }
  point(t) { if (t !== this.cursor) { this.cursor = t; this.tell(); } }
  tell() { for (const watcher of this.watchers) watcher(); }
}

class TimeChart extends Chart {
  constructor(place, height, time, margin) {
    super(place, height, margin);
    this.time = time;
    time.watchers.push(() => this.request());
  }
  x(t) { return this.margin.left + ((t - this.time.from) / this.time.length) * this.inner; }
  t(x) { return this.time.from + ((x - this.margin.left) / this.inner) * this.time.length; }
  timeAxis(lines = true) {
    const { ticks, step } = timeTicks(this.time.from, this.time.to, this.inner);
    this.gridX(ticks, (t) => this.x(t), (t) => clock.tick(t, step), lines);
  }
  crosshair() {
    if (this.time.cursor === null) return;
    const g = this.context, at = Math.round(this.x(this.time.cursor)) + 0.5;
    if (at < this.margin.left || at > this.margin.left + this.inner) return;
    g.strokeStyle = theme.hover;
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(at, this.margin.top); g.lineTo(at, this.margin.top + this.depth); g.stroke();
  }
}

class Curves extends TimeChart {
  // Step functions of several schedules; what many steps share one bucket is drawn as their mean.
  constructor(place, time, schedules, { steps, label, percent }) {
    super(place, 200, time, { left: LEFT, right: 12, top: 18, bottom: 24 });
    Object.assign(this, { schedules, steps, label, percent });
    this.shown = new Set(schedules);
    this.navigate({
      pan: (dx) => time.pan((-dx / this.inner) * time.length),
      zoom: (factor, x) => time.zoom(factor, this.t(x)),
      reset: () => time.all(),
      hover: (x, y, event) => this.hover(x, event),
      leave: () => time.point(null),
    });
  }
  // Pixels that share a mean: wide where several curves would be a tangle.
  get bucket() { return this.shown.size > 1 ? 14 : 2; }
  buckets(schedule) {
    const steps = this.steps(schedule), size = this.bucket, count = Math.ceil(this.inner / size);
    const scale = this.percent ? 1 / schedule.data.capacity : 1;
    const values = new Float64Array(count);
    let before = steps.area(this.time.from);
    const width = (this.time.length * size) / this.inner;
    for (let i = 0; i < count; i++) {
      const area = steps.area(this.time.from + (i + 1) * width);
      values[i] = ((area - before) / width) * scale;
      before = area;
    }
    return values;
  }
  points(schedule) {
    const crowded = this.schedules.some((s) => this.shown.has(s) && this.crowds(s));
    const key = `${this.time.from} ${this.time.to} ${this.inner} ${this.bucket} ${crowded}`;
    if (this.kept?.key !== key) this.kept = { key, crowded, of: new Map() };
    if (!this.kept.of.has(schedule)) this.kept.of.set(schedule, this.fresh(schedule));
    return this.kept.of.get(schedule);
  }
  // The steps of a schedule in the window: from the last one before it on.
  within(schedule) {
    const { times } = this.steps(schedule);
    return [Math.max(0, above(times, this.time.from) - 1), above(times, this.time.to)];
  }
  // Whether it has more steps than pixels show. Then all curves are means: a mean beside a peak misleads.
  crowds(schedule) {
    const [first, last] = this.within(schedule);
    return last - first >= this.inner / 2;
  }
  fresh(schedule) {
    const steps = this.steps(schedule), scale = this.percent ? 1 / schedule.data.capacity : 1;
    const points = [];
    if (!this.kept.crowded) {
      const [first, last] = this.within(schedule);
      points.push([this.time.from, steps.at(this.time.from) * scale]);
      for (let i = first; i < last; i++) {
        if (steps.times[i] > this.time.from) points.push([steps.times[i], steps.values[i] * scale]);
      }
      points.push([this.time.to, steps.at(this.time.to) * scale]);
      return points;
    }
    const values = this.buckets(schedule), width = (this.time.length * this.bucket) / this.inner;
    this.kept.meanOf = width;
    for (let i = 0; i < values.length; i++) points.push([this.time.from + i * width, values[i]]);
    return points;
  }
  draw(g) {
    this.margin.left = this.time.left;
    const curves = this.schedules.filter((s) => this.shown.has(s)).map((s) => [s, this.points(s)]);
    let top = this.percent ? 1 : 1;
    if (!this.percent) for (const [, points] of curves) for (const [, v] of points) top = Math.max(top, v * 1.05);
    this.y = (v) => this.margin.top + this.depth * (1 - v / top);
    this.gridY(niceTicks(0, top, 4), this.y, (v) => (this.percent ? `${Math.round(v * 100)} %` : digits(v)));
    this.timeAxis();
    this.clip(() => {
      for (const [place, [schedule, points]] of curves.entries()) {
        const path = new Path2D();
        let last = null;
        for (const [t, v] of points) {
          const x = this.x(t), y = this.y(v);
          if (last === null) path.moveTo(x, y); else { path.lineTo(x, last); path.lineTo(x, y); }
          last = y;
        }
        if (curves.length === 1) {
          const filled = new Path2D(path);
          filled.lineTo(this.x(points[points.length - 1][0]), this.y(0));
          filled.lineTo(this.x(points[0][0]), this.y(0));
          g.globalAlpha = 0.16;
          g.fillStyle = schedule.data.colour;
          g.fill(filled);
        }
        // Later curves are thinner, so that one under another is still seen.
        g.lineWidth = curves.length > 1 ? Math.max(1.2, 3.6 - 1.2 * place) : 1.25;
        g.lineJoin = "round";
        g.strokeStyle = schedule.data.colour;
        g.stroke(path);
        g.globalAlpha = 1;
      }
    });
    if (this.kept?.meanOf && curves.length > 1) {
      g.font = theme.small;
      g.fillStyle = theme.soft;
      g.textAlign = "right";
      g.textBaseline = "top";
      g.fillText(`means over ${span(this.kept.meanOf)}`, this.margin.left + this.inner, 0);
    }
    this.crosshair();
  }
  hover(x, event) {
    if (x < this.margin.left || x > this.margin.left + this.inner) { tooltip.hide(); return this.time.point(null); }
    const t = this.t(x), half = this.time.length / this.inner;
    this.time.point(t);
    const lines = this.schedules.filter((s) => this.shown.has(s)).map((s) => {
      const mean = this.steps(s).mean(t - half, t + half);
      const text = this.percent
        ? `${((100 * mean) / s.data.capacity).toFixed(1)} % (${digits(mean)} of ${digits(s.data.capacity)})`
        : `${digits(mean, 3)} waiting`;
      return `<div><i style="background:${s.data.colour}"></i>${escaped(s.name)} <b>${text}</b></div>`;
    });
    tooltip.show(`<header>${clock.at(t)}</header>${lines.join("")}`, event.clientX, event.clientY);
  }
}

class Overview extends TimeChart {
  // All of the time in a strip, with the window marked on it; drag to move the window.
  constructor(place, time, schedule) {
    super(place, 46, time, { left: LEFT, right: 12, top: 4, bottom: 4 });
    this.schedule = schedule;
    this.navigate({
      pan: (dx) => time.pan((dx / this.inner) * (time.high - time.low)),
      zoom: (factor) => time.zoom(factor, (time.from + time.to) / 2),
      reset: () => time.all(),
      click: (x) => {
        const t = this.whole(x), half = time.length / 2;
        time.set(t - half, t + half);
      },
    });
  }
  whole(x) { return this.time.low + ((x - this.margin.left) / this.inner) * (this.time.high - this.time.low); }
  draw(g) {
    this.margin.left = this.time.left;
    const { low, high, from, to } = this.time, { left, top } = this.margin, busy = this.schedule.busy;
    const key = `${this.inner} ${this.schedule.name}`;
    if (this.key !== key) {
      this.key = key;
      this.bars = Array.from({ length: Math.ceil(this.inner) }, (_, i) =>
        busy.mean(low + ((high - low) * i) / this.inner, low + ((high - low) * (i + 1)) / this.inner));
    }
    g.fillStyle = theme.faint;
    g.fillRect(left, top, this.inner, this.depth);
    g.fillStyle = this.schedule.data.colour;
    g.globalAlpha = 0.45;
    this.bars.forEach((busy, i) => {
      const h = this.depth * Math.min(1, busy / this.schedule.data.capacity);
      g.fillRect(left + i, top + this.depth - h, 1, h);
    });
    g.globalAlpha = 1;
    const x0 = left + ((from - low) / (high - low)) * this.inner;
    const x1 = Math.max(left + ((to - low) / (high - low)) * this.inner, x0 + 2);
    g.fillStyle = theme.card;
    g.globalAlpha = 0.72;
    g.fillRect(left, top, x0 - left, this.depth);
    g.fillRect(x1, top, left + this.inner - x1, this.depth);
    g.globalAlpha = 1;
    g.strokeStyle = theme.accent;
    g.lineWidth = 1.5;
    g.strokeRect(x0, top + 0.5, x1 - x0, this.depth - 1);
  }
}
