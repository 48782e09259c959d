// Concrete processors for pieces that were only counted, painted afterwards: the lowest gap that holds a piece
// whole, else the largest gaps, so that it lies in few strips. Doing it here keeps megabytes out of the file.

class Gaps {
  // Free processors of one band as sorted half-open ranges. What lies above `size` is used only where a
  // schedule holds more than there is, for all to see.
  constructor(size) {
    this.size = size;
    this.low = [0, size];
    this.high = [size, Infinity];
  }
  take(procs, give) {
    const { low, high, size } = this;
    for (let i = 0; i < low.length && low[i] < size; i++) {
      if (high[i] - low[i] >= procs) return this.cut(i, procs, give);
    }
    while (procs > 0) {
      let best = low.length - 1, room = 0;  // the last gap has no end
      for (let i = 0; i < low.length && low[i] < size; i++) {
        if (high[i] - low[i] > room) { best = i; room = high[i] - low[i]; }
      }
      const much = room ? Math.min(procs, room) : procs;
      this.cut(best, much, give);
      procs -= much;
    }
  }
  cut(i, procs, give) {
    give(this.low[i], procs);
    this.low[i] += procs;
    if (this.low[i] >= this.high[i]) { this.low.splice(i, 1); this.high.splice(i, 1); }
  }
  put(from, procs) {
    const to = from + procs, i = above(this.low, from);
    const left = i > 0 && this.high[i - 1] === from && from !== this.size;
    const right = i < this.low.length && this.low[i] === to && to !== this.size;
    if (left && right) {
      this.high[i - 1] = this.high[i];
      this.low.splice(i, 1); this.high.splice(i, 1);
    } else if (left) this.high[i - 1] = to;
    else if (right) this.low[i] = from;
    else { this.low.splice(i, 0, from); this.high.splice(i, 0, to); }
  }
}

// Pieces in order of start; gives the first strip of each piece, and the strips' lowest processors and sizes.
function paintStrips({ start, end, procs, band }, bands) {
  const n = start.length, gaps = bands.map((each) => new Gaps(each.size)), ending = orderBy(end);
  const first = new Uint32Array(n + 1), low = [], size = [];
  let over = 0;
  for (let i = 0; i < n; i++) {
    for (; over < n && end[ending[over]] <= start[i]; over++) {
      const piece = ending[over];
      if (end[piece] <= start[piece]) continue;  // of no length: it took nothing
      const home = band ? band[piece] : 0;
      for (let k = first[piece]; k < first[piece + 1]; k++) gaps[home].put(low[k] - bands[home].offset, size[k]);
    }
    const home = band ? band[i] : 0, { offset } = bands[home];
    const give = (from, much) => { low.push(from + offset); size.push(much); };
    if (end[i] > start[i]) gaps[home].take(procs[i], give); else give(0, procs[i]);
    first[i + 1] = low.length;
  }
  return { first, low: Float32Array.from(low), size: Float32Array.from(size) };
}
