// Jobs and schedules as the charts use them; times in seconds on the log's clock.

class Steps {
  // A step function with its integral: sums of heights over half-open intervals.
  constructor(start, end, height) {
    const ups = orderBy(start), downs = orderBy(end), n = start.length;
    const times = new Float64Array(2 * n), values = new Float64Array(2 * n);
    let a = 0, b = 0, m = 0, level = 0;
    while (b < n) {
      const up = a < n ? start[ups[a]] : Infinity, t = Math.min(up, end[downs[b]]);
      while (a < n && start[ups[a]] === t) level += height ? height[ups[a++]] : (a++, 1);
      while (b < n && end[downs[b]] === t) level -= height ? height[downs[b++]] : (b++, 1);
      if (m === 0 ? level !== 0 : level !== values[m - 1]) { times[m] = t; values[m++] = level; }
    }
    this.times = times.slice(0, m);
    this.values = values.slice(0, m);
    this.integral = new Float64Array(m);
    for (let i = 1; i < m; i++) {
      this.integral[i] = this.integral[i - 1] + this.values[i - 1] * (this.times[i] - this.times[i - 1]);
    }
  }
  at(t) {
    const place = above(this.times, t) - 1;
    return place < 0 ? 0 : this.values[place];
  }
  area(t) {
    const place = above(this.times, t) - 1;
    return place < 0 ? 0 : this.integral[place] + this.values[place] * (t - this.times[place]);
  }
  mean(from, to) {
    return to > from ? (this.area(to) - this.area(from)) / (to - from) : this.at(from);
  }
}

class Jobs {
  constructor(columns, data) {
    Object.assign(this, columns);
    this.n = columns.job.length;
    this.names = data.names;
    this.place = new Map();
    for (let i = 0; i < this.n; i++) this.place.set(this.job[i], i);
  }
  name(key, row) {
    const code = this[key][row], names = this.names[key];
    return code < 0 ? "–" : names ? names[code] : String(code);
  }
}

class Schedule {
  // Columns per job of the whole page; NaN where this schedule does not have the job.
  constructor(jobs, columns, data, tau) {
    this.jobs = jobs;
    this.data = data;
    this.name = data.name;
    const n = jobs.n, rows = columns.rows;
    const spread = (values, absent) => {
      if (!rows || !values) return values;
      const whole = new Float64Array(n).fill(absent);
      for (let i = 0; i < rows.length; i++) whole[rows[i]] = values[i];
      return whole;
    };
    this.wait = spread(columns.wait, NaN);
    this.why = spread(columns.why, -1);
    this.procs = spread(columns.procs, 0) || jobs.procs;
    const length = spread(columns.length, NaN);
    const killed = spread(columns.killed, 0);
    const lead = spread(columns.promise, NaN), promised = spread(columns.promised, 0);
    this.start = new Float64Array(n);
    this.end = new Float64Array(n);
    this.bsld = new Float64Array(n);
    this.killed = killed || new Float64Array(n);
    this.promise = lead ? new Float64Array(n) : null;
    const walltime = spread(columns.walltime, NaN) || jobs.walltime;
    const runtime = spread(columns.runtime, NaN) || jobs.runtime;
    this.walltime = walltime;
    this.runtime = runtime;
    for (let i = 0; i < n; i++) {
      const run = Math.min(runtime[i], walltime[i]);
      this.start[i] = jobs.submit[i] + this.wait[i];
      this.end[i] = this.start[i] + (length ? length[i] : run);
      this.bsld[i] = Math.max(1, (this.end[i] - jobs.submit[i]) / Math.max(run, tau));
      if (!killed) this.killed[i] = runtime[i] > walltime[i] ? 1 : 0;
      if (lead) this.promise[i] = promised && !promised[i] ? NaN : this.start[i] + lead[i];
    }
    this.present = new Uint32Array(rows ? rows.length : n);
    for (let i = 0, k = 0; i < n; i++) if (this.wait[i] === this.wait[i]) this.present[k++] = i;
    this.columns = columns;
    if (columns.piece_row) {
      this.pieces = { start: columns.piece_start, end: columns.piece_end, procs: columns.piece_procs };
      this.waits = { from: columns.wait_from, to: columns.wait_to };
    }
  }
  // What a job had of its own time, suspensions and swaps left out.
  ran(row) { return Math.min(this.end[row] - this.start[row], this.runtime[row], this.walltime[row]); }
  get strips() { return (this._strips ??= new Strips(this, this.columns)); }
  get response() {
    return (this._response ??= this.end.map((end, i) => end - this.jobs.submit[i]));
  }
  get busy() {
    return (this._busy ??= this.pieces
      ? new Steps(this.pieces.start, this.pieces.end, this.pieces.procs)
      : new Steps(take(this.start, this.present), take(this.end, this.present), take(this.procs, this.present)));
  }
  get queue() {
    if (!this._queue) {
      const waits = this.waits;
      this._queue = waits
        ? new Steps(waits.from, waits.to, null)
        : new Steps(take(this.jobs.submit, this.present), take(this.start, this.present), null);
    }
    return this._queue;
  }
}
