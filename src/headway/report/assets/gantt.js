// Processors over time. From afar every pixel shows the mean colour of what it covers, so that the picture
// of years is as honest as that of seconds; near by, jobs are drawn one by one with their numbers, hatched while
// they load or swap, and pale on their processors while they are suspended.

const BLOCK = 512;
const [RUNNING, LOADING, SWAP_OUT, , SWAP_IN] = [0, 1, 2, 3, 4];

class Strips {
  // Pieces in order of start, each with its strips of neighbouring processors.
  constructor(schedule, columns) {
    const jobs = columns.rows || schedule.present;
    const given = columns.piece_row ? {
      row: columns.piece_row, start: columns.piece_start, end: columns.piece_end, procs: columns.piece_procs,
      state: columns.piece_state, lost: columns.piece_lost,
    } : {
      row: Float64Array.from(jobs), start: take(schedule.start, jobs), end: take(schedule.end, jobs),
      procs: take(schedule.procs, jobs), state: null, lost: null,
    };
    const n = given.row.length, order = orderBy(given.start);
    this.n = n;
    for (const name of ["start", "end", "procs", "row"]) this[name] = take(given[name], order);
    this.state = given.state && take(given.state, order);
    this.lost = given.lost && take(given.lost, order);
    this.band = columns.band && take(columns.band, order);
    if (columns.strip_low) this.read(columns, order);
    else Object.assign(this, paintStrips(this, schedule.data.bands));
    this.aside = this.suspensions();
    // The latest end in each block of pieces: blocks over before the window are skipped.
    this.blocks = new Float64Array(Math.ceil(n / BLOCK)).fill(-Infinity);
    for (let i = 0; i < n; i++) this.blocks[(i / BLOCK) | 0] = Math.max(this.blocks[(i / BLOCK) | 0], this.end[i]);
  }
  // A run that goes on after a gap was suspended: from, to, and the piece that has its processors afterwards.
  // On each node by itself, where it has several.
  suspensions() {
    const found = [], last = new Map();
    for (let i = 0; this.state && i < this.n; i++) {
      const key = this.band ? `${this.row[i]} ${this.band[i]}` : this.row[i], before = last.get(key);
      if (before !== undefined && !this.lost[before] && this.start[i] > this.end[before]) {
        const out = this.state[before] === SWAP_OUT ? this.start[before] : this.end[before];
        found.push({ from: out, to: this.start[i], piece: i });
      }
      last.set(key, i);
    }
    return found;
  }
  // What is drawn besides running jobs, in words for the legend.
  marks(outages) {
    const kinds = new Set((outages || []).map(([kind]) => kind));
    const states = new Set(this.state || []), lost = this.lost && this.lost.some((each) => each);
    return [
      [states.has(LOADING), "hatched", "loading"],
      [states.has(SWAP_OUT) || states.has(SWAP_IN), "hatched", "swapping"],
      [this.aside.length > 0, "faded", "suspended"],
      [lost, "crossed", "lost: stopped to start again"],
      [kinds.has("maintenance"), "hatched", "maintenance"],
      [kinds.has("reserved"), "dotted", "reserved"],
      [kinds.has("down"), "down", "down"],
      [kinds.has("drain"), "pale", "drains"],
    ].filter(([there]) => there);
  }
  // Where the schedule itself knows the processors of its pieces.
  read(columns, order) {
    const { strip_low: low, strip_size: size, strip_count: count } = columns, begin = new Uint32Array(this.n + 1);
    for (let i = 0; i < this.n; i++) begin[i + 1] = begin[i] + count[i];
    this.first = new Uint32Array(this.n + 1);
    this.low = new Float32Array(low.length);
    this.size = new Float32Array(low.length);
    order.forEach((piece, i) => {
      let m = this.first[i];
      for (let k = begin[piece]; k < begin[piece + 1]; k++, m++) { this.low[m] = low[k]; this.size[m] = size[k]; }
      this.first[i + 1] = m;
    });
  }
  // Calls visit(piece) for the pieces that overlap the window.
  each(from, to, visit) {
    const last = above(this.start, to);
    for (let block = 0; block * BLOCK < last; block++) {
      if (this.blocks[block] < from) continue;
      const stop = Math.min(last, (block + 1) * BLOCK);
      for (let i = block * BLOCK; i < stop; i++) if (this.end[i] >= from) visit(i);
    }
  }
  count(from, to, most) {
    let n = 0;
    const last = above(this.start, to);
    for (let block = 0; block * BLOCK < last && n <= most; block++) {
      if (this.blocks[block] < from) continue;
      const stop = Math.min(last, (block + 1) * BLOCK);
      for (let i = block * BLOCK; i < stop; i++) if (this.end[i] >= from) n++;
    }
    return n;
  }
  at(t, processor) {
    let found = -1;
    this.each(t, t, (i) => {
      if (this.end[i] <= t) return;
      for (let k = this.first[i]; k < this.first[i + 1]; k++) {
        if (processor >= this.low[k] && processor < this.low[k] + this.size[k]) found = i;
      }
    });
    return found;
  }
  // The suspended job whose processor stands idle then: the piece it goes on with, or -1.
  idle(t, processor) {
    for (const { from, to, piece } of this.aside) {
      if (t < from || t >= to) continue;
      for (let k = this.first[piece]; k < this.first[piece + 1]; k++) {
        if (processor >= this.low[k] && processor < this.low[k] + this.size[k]) return piece;
      }
    }
    return -1;
  }
}

class Gantt extends TimeChart {
  constructor(place, time, schedule, colouring, picked) {
    super(place, 440, time, { left: LEFT, right: 12, top: 8, bottom: 24 });
    this.picked = picked;
    this.colouring = colouring;
    this.job = null;
    this.moved = -Infinity;
    this.hovered = -1;
    this.low = 0;
    this.show(schedule);
    let seen = [time.from, time.to].join();
    time.watchers.push(() => {
      const now = [time.from, time.to].join();
      if (now !== seen) { seen = now; this.moved = performance.now(); }
    });
    this.navigate({
      pan: (dx, dy) => { this.lift((dy / this.depth) * this.span); time.pan((-dx / this.inner) * time.length); },
      zoom: (factor, x, y, vertical) => (vertical ? this.stretch(factor, y) : time.zoom(factor, this.t(x))),
      reset: () => { this.low = 0; this.span = this.procs; time.all(); },
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => { this.hovered = -1; time.point(null); },
      click: (x, y) => {
        const piece = this.under(x, y);
        this.pick(piece < 0 ? null : this.strips.row[piece]);
      },
    });
  }
  show(schedule) {
    this.schedule = schedule;
    this.strips = schedule.strips;
    this.procs = schedule.data.bands.reduce((sum, band) => sum + band.size, 0);
    this.span = Math.min(this.span || this.procs, this.procs);
    this.colours = null;
    this.request();
  }
  lift(by) { this.low = Math.min(Math.max(this.low + by, 0), this.procs - this.span); }
  stretch(factor, y) {
    const at = this.processor(y), span = Math.min(Math.max(this.span * factor, Math.min(8, this.procs)), this.procs);
    this.low = at - ((at - this.low) * span) / this.span;
    this.span = span;
    this.lift(0);
    this.time.tell();
  }
  y(processor) { return this.margin.top + this.depth * (1 - (processor - this.low) / this.span); }
  processor(y) { return this.low + (1 - (y - this.margin.top) / this.depth) * this.span; }
  under(x, y) {
    const inside = x >= this.margin.left && x <= this.margin.left + this.inner
      && y >= this.margin.top && y <= this.margin.top + this.depth;
    return inside ? this.strips.at(this.t(x), this.processor(y)) : -1;
  }
  pick(row) {
    this.job = row;
    this.picked(row);
    this.request();
  }
  find(row) {
    const { start, end, jobs } = this.schedule, length = Math.max(end[row] - start[row], 1);
    this.low = 0;
    this.span = this.procs;
    this.time.set(Math.min(jobs.submit[row], start[row]) - length, end[row] + length);
    this.pick(row);
  }
  classes() {
    if (this.colours) return this.colours;
    this.painted = null;
    const { codes, colours } = this.colouring(this.schedule);
    const code = new Uint8Array(this.strips.n);
    for (let i = 0; i < code.length; i++) code[i] = codes[this.strips.row[i]];
    return (this.colours = { code, css: colours, rgb: colours.map(rgb) });
  }
  draw(g) {
    const { bands } = this.schedule.data;
    this.fitNames(bands.length > 1 ? bands.map((band) => band.name) : [], LEFT);
    // All charts over time begin below each other.
    if (this.time.left !== this.margin.left) { this.time.left = this.margin.left; this.time.tell(); }
    const { from, to } = this.time, many = this.strips.count(from, to, 2500) > 2500;
    g.fillStyle = theme.faint;
    g.fillRect(this.margin.left, this.margin.top, this.inner, this.depth);
    if (many) this.raster(g); else this.boxes(g);
    this.away(g);
    this.bands(g);
    if (this.schedule.data.bands.length < 2) this.gridLabels(niceTicks(this.low, this.low + this.span, 6));
    this.timeAxis(false);
    this.marks(g);
    this.crosshair();
  }
  // Maintenance and processors that are down; those that drain are pale, for jobs go on there.
  away(g) {
    const outages = this.schedule.data.outages;
    if (!outages) return;
    const { from, to } = this.time, looks = { maintenance: hatch(g), reserved: dots(g) };
    this.clip(() => {
      for (const [kind, begin, end, low, size] of outages) {
        if (end < from || begin > to) continue;
        const x = Math.max(this.x(begin), -4), w = Math.max(Math.min(this.x(end), this.width + 4) - x, 0.6);
        const y = this.y(low + size), h = Math.max((size / this.span) * this.depth, 0.4);
        g.globalAlpha = kind === "drain" || kind === "reserved" ? 0.18 : kind === "down" ? 0.8 : 0.45;
        g.fillStyle = kind === "down" ? theme.ink : theme.soft;
        g.fillRect(x, y, w, h);
        g.globalAlpha = 1;
        if (looks[kind]) { g.fillStyle = looks[kind]; g.fillRect(x, y, w, h); }
      }
    });
  }
  // The outage of a processor at an instant, in words; null where it is there.
  outage(t, processor) {
    const words = {
      maintenance: "under maintenance", down: "down", drain: "drains: takes no new jobs", reserved: "reserved",
    };
    const found = (this.schedule.data.outages || []).find(([, begin, end, low, size]) =>
      t >= begin && t < end && processor >= low && processor < low + size);
    return found ? words[found[0]] : null;
  }
  gridLabels(ticks) {
    const g = this.context;
    g.font = theme.small;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.fillStyle = theme.soft;
    for (const tick of ticks) g.fillText(digits(tick), this.margin.left - 8, this.y(tick));
  }
  // A line above each node, group or cluster, and its name at the left where there is room.
  bands(g) {
    const { bands } = this.schedule.data;
    if (bands.length < 2) return;
    g.font = theme.font;
    g.textAlign = "right";
    g.textBaseline = "middle";
    const { top, left } = this.margin;
    let last = Infinity;
    for (const band of bands) {
      const from = Math.min(this.y(band.offset), top + this.depth), to = Math.max(this.y(band.offset + band.size), top);
      const middle = (from + to) / 2;
      if (from <= to || last - middle < 13) continue;
      last = middle;
      g.fillStyle = theme.soft;
      g.fillText(this.fitting(band.name), left - 12, middle);
    }
    this.clip(() => {
      for (const band of bands) {
        const at = Math.round(this.y(band.offset + band.size)) + 0.5;
        g.strokeStyle = theme.ink;
        g.globalAlpha = 0.6;
        g.beginPath(); g.moveTo(left, at); g.lineTo(left + this.inner, at); g.stroke();
        g.globalAlpha = 1;
      }
    });
  }
  raster(g) {
    const { code, rgb: palette } = this.classes();
    const W = Math.round(this.inner * this.ratio), H = Math.round(this.depth * this.ratio);
    // The pointer's line moves over a picture that stays.
    const key = [this.time.from, this.time.to, this.low, this.span, W, H, theme.faint].join();
    const moving = performance.now() - this.moved < 150;
    if (this.painted !== key && moving && this.painted && this.cost > 25) {
      // Where painting takes long, a window that moves shows the last picture moved, and a new one when it rests.
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.request(), 160);
    } else if (this.painted !== key) {
      const begun = performance.now();
      this.painted = key;
      this.pictured = { from: this.time.from, to: this.time.to, low: this.low, high: this.low + this.span };
      this.paint(W, H, code, palette);
      this.cost = performance.now() - begun;
    }
    const { from, to, low, high } = this.pictured, left = this.x(from), top = this.y(high);
    this.clip(() => g.drawImage(this.sheet, left, top, this.x(to) - left, this.y(low) - top));
  }
  paint(W, H, code, palette) {
    if (this.W !== W || this.H !== H) {
      this.W = W; this.H = H;
      this.sums = [0, 1, 2].map(() => new Float32Array(W * H));
      this.image = new ImageData(W, H);
      this.sheet = document.createElement("canvas");
      this.sheet.width = W; this.sheet.height = H;
    }
    const [R, G, B] = this.sums, ground = rgb(theme.faint);
    R.fill(ground[0]); G.fill(ground[1]); B.fill(ground[2]);
    const { from, to } = this.time, kx = W / (to - from), ky = H / this.span, strips = this.strips;
    strips.each(from, to, (i) => {
      const x0 = Math.max(0, (strips.start[i] - from) * kx), x1 = Math.min(W, (strips.end[i] - from) * kx);
      if (x1 <= x0) return;
      const colour = palette[code[i]];
      const fade = strips.lost && strips.lost[i] ? 0.45 : 1;
      const dr = (colour[0] - ground[0]) * fade, dg = (colour[1] - ground[1]) * fade, db = (colour[2] - ground[2]) * fade;
      const xs = x0 | 0, xe = Math.min(W, Math.ceil(x1)) - 1;
      // The first and the last column may be covered in part, those between are covered wholly.
      const first = Math.min(x1, xs + 1) - x0, last = xe > xs ? x1 - xe : 0;
      for (let k = strips.first[i]; k < strips.first[i + 1]; k++) {
        const y0 = Math.max(0, H - (strips.low[k] + strips.size[k] - this.low) * ky);
        const y1 = Math.min(H, H - (strips.low[k] - this.low) * ky);
        for (let y = y0 | 0; y < y1; y++) {
          const c = Math.min(y1, y + 1) - Math.max(y0, y), r = c * dr, v = c * dg, b = c * db;
          const p = y * W + xs, stop = y * W + xe;
          R[p] += first * r; G[p] += first * v; B[p] += first * b;
          for (let q = p + 1; q < stop; q++) { R[q] += r; G[q] += v; B[q] += b; }
          if (last) { R[stop] += last * r; G[stop] += last * v; B[stop] += last * b; }
        }
      }
    });
    const pixels = new Uint32Array(this.image.data.buffer);
    for (let p = 0; p < pixels.length; p++) {
      pixels[p] = 0xff000000 | ((B[p] & 255) << 16) | ((G[p] & 255) << 8) | (R[p] & 255);
    }
    this.sheet.getContext("2d").putImageData(this.image, 0, 0);
  }
  boxes(g) {
    const { from, to } = this.time, strips = this.strips, { code, css } = this.classes();
    const hatched = hatch(g);
    this.clip(() => {
      g.textBaseline = "middle";
      g.textAlign = "left";
      // First, so that the jobs that borrow the processors lie above.
      for (const each of strips.aside) {
        if (each.to < from || each.from > to) continue;
        const x = this.x(each.from), w = this.x(each.to) - x;
        g.fillStyle = css[code[each.piece]];
        g.globalAlpha = 0.22;
        for (let k = strips.first[each.piece]; k < strips.first[each.piece + 1]; k++) {
          const h = (strips.size[k] / this.span) * this.depth;
          g.fillRect(x, this.y(strips.low[k] + strips.size[k]), w, Math.max(h - (h > 5 ? 1 : 0), 0.4));
        }
        g.globalAlpha = 1;
      }
      strips.each(from, to, (i) => {
        const x0 = Math.max(this.x(strips.start[i]), -4), x1 = Math.min(this.x(strips.end[i]), this.width + 4);
        const w = Math.max(x1 - x0, 0.6);
        g.fillStyle = css[code[i]];
        g.globalAlpha = strips.lost && strips.lost[i] ? 0.35 : 0.92;
        let best = -1, tall = 0;
        for (let k = strips.first[i]; k < strips.first[i + 1]; k++) {
          const y = this.y(strips.low[k] + strips.size[k]), h = (strips.size[k] / this.span) * this.depth;
          const gap = w > 5 && h > 5 ? 1 : w > 3 && h > 3 ? 0.5 : 0;
          g.fillRect(x0, y, Math.max(w - gap, 0.4), Math.max(h - gap, 0.4));
          if (strips.lost && strips.lost[i]) cross(g, x0, y, w - gap, h - gap);
          if (strips.state && strips.state[i] !== RUNNING) {
            g.fillStyle = hatched;
            g.fillRect(x0, y, Math.max(w - gap, 0.4), Math.max(h - gap, 0.4));
            g.fillStyle = css[code[i]];
          }
          if (h > tall) { tall = h; best = y; }
        }
        g.globalAlpha = 1;
        const left = Math.max(x0, this.margin.left), room = Math.min(x1, this.margin.left + this.inner) - left;
        if (tall > 12 && room > 30) {
          const label = String(this.schedule.jobs.job[strips.row[i]]);
          g.font = theme.small;
          if (g.measureText(label).width < room - 8) {
            g.fillStyle = readable(rgb(css[code[i]]));
            g.fillText(label, left + 5, best + tall / 2);
          }
        }
      });
    });
  }
  // The job under the pointer and the one picked: outlined, its wait as a line, its promise as a mark.
  marks(g) {
    const rows = [this.job, this.hovered < 0 ? null : this.strips.row[this.hovered]];
    this.clip(() => {
      for (const row of new Set(rows)) {
        if (row === null || Number.isNaN(this.schedule.wait[row])) continue;
        const { start, end, promise, jobs } = this.schedule;
        let line = null;
        this.strips.each(start[row], end[row], (i) => {
          if (this.strips.row[i] !== row) return;
          const x0 = this.x(this.strips.start[i]), w = Math.max(2, this.x(this.strips.end[i]) - x0);
          for (let k = this.strips.first[i]; k < this.strips.first[i + 1]; k++) {
            const y = this.y(this.strips.low[k] + this.strips.size[k]);
            const h = Math.max(2, (this.strips.size[k] / this.span) * this.depth);
            g.lineWidth = 3;
            g.strokeStyle = theme.card;
            g.strokeRect(x0, y, w, h);
            g.lineWidth = 1.5;
            g.strokeStyle = theme.ink;
            g.strokeRect(x0, y, w, h);
            line ??= y + h / 2;
          }
        });
        if (line === null) continue;
        g.strokeStyle = theme.ink;
        g.lineWidth = 1.5;
        g.setLineDash([4, 3]);
        g.beginPath(); g.moveTo(this.x(jobs.submit[row]), line); g.lineTo(this.x(start[row]), line); g.stroke();
        g.setLineDash([]);
        g.fillStyle = theme.ink;
        g.beginPath(); g.arc(this.x(jobs.submit[row]), line, 3, 0, 7); g.fill();
        if (promise && promise[row] === promise[row]) {
          const at = this.x(promise[row]);
          g.beginPath(); g.moveTo(at, line - 6); g.lineTo(at + 5, line); g.lineTo(at, line + 6); g.lineTo(at - 5, line);
          g.fillStyle = theme.card; g.fill(); g.closePath(); g.stroke();
        }
      }
    });
  }
  hover(x, y, event) {
    const piece = this.under(x, y), inside = x >= this.margin.left && x <= this.margin.left + this.inner;
    this.hovered = piece;
    this.time.point(inside ? this.t(x) : null);
    if (piece < 0) {
      if (!inside) return tooltip.hide();
      const owner = this.strips.idle(this.t(x), this.processor(y)), gone = this.outage(this.t(x), this.processor(y));
      const kept = gone ? gone : owner < 0 ? "free" : `idle, kept for job ${this.schedule.jobs.job[this.strips.row[owner]]}, which is suspended`;
      return tooltip.show(`<header>${clock.at(this.t(x))}</header><div>processor ${digits(Math.floor(
        this.processor(y)))}: ${kept}</div>`, event.clientX, event.clientY);
    }
    tooltip.show(jobCard(this.schedule, this.strips.row[piece], piece), event.clientX, event.clientY);
  }
}

// White lines over a colour: a job that holds its processors, but does not run.
function hatch(g) {
  const tile = document.createElement("canvas"), size = 6;
  tile.width = tile.height = size;
  const lines = tile.getContext("2d");
  lines.strokeStyle = theme.card;
  lines.lineWidth = 1.6;
  for (const x of [-size, 0, size]) { lines.beginPath(); lines.moveTo(x, size); lines.lineTo(x + size, 0); lines.stroke(); }
  return g.createPattern(tile, "repeat");
}

// Dots: processors that are kept for somebody.
function dots(g) {
  const tile = document.createElement("canvas"), size = 7;
  tile.width = tile.height = size;
  const spots = tile.getContext("2d");
  spots.fillStyle = theme.soft;
  spots.beginPath(); spots.arc(size / 2, size / 2, 1.2, 0, 7); spots.fill();
  return g.createPattern(tile, "repeat");
}

// A run that was in vain.
function cross(g, x, y, w, h) {
  if (w < 4 || h < 4) return;
  g.strokeStyle = theme.ink;
  g.lineWidth = 1;
  g.beginPath(); g.moveTo(x, y); g.lineTo(x + w, y + h); g.moveTo(x, y + h); g.lineTo(x + w, y); g.stroke();
}

function rgb(colour) {
  const hex = colour.replace("#", "");
  return [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

function readable([r, g, b]) { return r * 0.3 + g * 0.59 + b * 0.11 > 140 ? "#111111" : "#ffffff"; }
