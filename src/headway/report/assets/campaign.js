// A campaign: boxes of one metric for every policy, each cell a point.

class Boxes extends Chart {
  constructor(place, groups, cells, metric, texts) {
    super(place, 40 + groups.length * 34, { left: 60, right: 24, top: 8, bottom: 26 });
    Object.assign(this, { groups, cells, texts });
    this.show(metric);
    this.navigate({
      pan: (dx) => this.move((-dx / this.inner) * (this.to - this.from)),
      zoom: (factor, x) => {
        const at = this.value(x);
        this.from = Math.max(at - (at - this.from) * factor, this.low);
        this.to = Math.min(at + (this.to - at) * factor, this.high);
        this.request();
      },
      reset: () => { this.from = this.low; this.to = this.high; this.request(); },
      hover: (x, y, event) => this.hover(x, y, event),
      leave: () => { this.near = null; this.request(); },
    });
  }
  show(metric) {
    this.metric = metric;
    this.lines = this.groups.map((group) => {
      const points = group.rows.map((row) => ({ row, value: this.cells[row][metric] })).filter((p) => Number.isFinite(p.value));
      const sorted = points.map((p) => p.value).sort((a, b) => a - b);
      const q = (p) => {
        const at = p * (sorted.length - 1), i = Math.floor(at);
        return sorted[i] + (at - i) * ((sorted[i + 1] ?? sorted[i]) - sorted[i]);
      };
      return { group, points, sorted, q, mean: sorted.reduce((a, b) => a + b, 0) / sorted.length };
    });
    const all = this.lines.flatMap((line) => line.sorted);
    const low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
    this.log = low > 0 && high / low > 50;
    const scale = this.log ? Math.log10 : (v) => v;
    const room = (scale(high) - scale(low)) * 0.04 || 0.5;
    this.low = this.from = scale(low) - room;
    this.high = this.to = scale(high) + room;
    this.request();
  }
  move(by) {
    const length = this.to - this.from;
    this.from = Math.min(Math.max(this.from + by, this.low), this.high - length);
    this.to = this.from + length;
    this.request();
  }
  value(x) { return this.from + ((x - this.margin.left) / this.inner) * (this.to - this.from); }
  x(v) { return this.margin.left + (((this.log ? Math.log10(v) : v) - this.from) / (this.to - this.from)) * this.inner; }
  row(i) { return this.margin.top + ((i + 0.5) * this.depth) / this.lines.length; }
  text(v) { return this.texts[this.metric] === "s" ? span(v) : digits(v, 4); }
  draw(g) {
    this.fitNames(this.groups.map((group) => group.name));
    const ticks = [];
    if (this.log) {
      for (let p = Math.floor(this.from); p <= this.to; p++) for (const f of [1, 2, 5]) ticks.push(f * 10 ** p);
    } else ticks.push(...niceTicks(this.from, this.to, Math.max(2, this.inner / 110)));
    const seen = ticks.filter((v) => this.x(v) >= this.margin.left && this.x(v) <= this.margin.left + this.inner);
    const every = Math.ceil((seen.length * 80) / this.inner) || 1;
    this.gridX(seen.filter((_, i) => i % every === 0), (v) => this.x(v), (v) => this.text(v));
    this.lines.forEach((line, i) => {
      const y = this.row(i), colour = line.group.colour;
      g.fillStyle = theme.ink;
      g.font = theme.font;
      g.textAlign = "right";
      g.textBaseline = "middle";
      g.fillText(this.fitting(line.group.name), this.margin.left - 12, y);
      if (!line.sorted.length) return;
      this.clip(() => {
        const [q1, q2, q3] = [0.25, 0.5, 0.75].map((p) => this.x(line.q(p)));
        g.strokeStyle = theme.soft;
        g.lineWidth = 1;
        g.beginPath(); g.moveTo(this.x(line.sorted[0]), y); g.lineTo(this.x(line.sorted[line.sorted.length - 1]), y); g.stroke();
        g.fillStyle = colour;
        g.globalAlpha = 0.25;
        g.fillRect(q1, y - 9, Math.max(q3 - q1, 1), 18);
        g.globalAlpha = 0.55;
        for (const point of line.points) {
          g.beginPath(); g.arc(this.x(point.value), y + jitter(point.row) * 14, 2.4, 0, 7); g.fill();
        }
        g.globalAlpha = 1;
        g.strokeStyle = colour;
        g.lineWidth = 2.5;
        g.beginPath(); g.moveTo(q2, y - 10); g.lineTo(q2, y + 10); g.stroke();
        const m = this.x(line.mean);
        g.fillStyle = theme.card;
        g.lineWidth = 1.5;
        g.beginPath(); g.moveTo(m, y - 5); g.lineTo(m + 5, y); g.lineTo(m, y + 5); g.lineTo(m - 5, y); g.closePath(); g.fill(); g.stroke();
        if (this.near && this.near.line === line) {
          g.strokeStyle = theme.ink;
          g.beginPath(); g.arc(this.x(this.near.point.value), y + jitter(this.near.point.row) * 14, 5, 0, 7); g.stroke();
        }
      });
    });
  }
  hover(x, y, event) {
    const i = Math.floor((y - this.margin.top) / (this.depth / this.lines.length)), line = this.lines[i];
    if (!line || !line.sorted.length) { this.near = null; return tooltip.hide(); }
    let near = null, best = 144;
    for (const point of line.points) {
      const d = (this.x(point.value) - x) ** 2 + (this.row(i) + jitter(point.row) * 14 - y) ** 2;
      if (d < best) { best = d; near = point; }
    }
    this.near = near && { line, point: near };
    this.request();
    const about = near
      ? `<div>${escaped(this.cells[near.row].workload)}, seed ${this.cells[near.row].seed ?? "–"} <b>${this.text(near.value)}</b></div>`
      : `<div>median <b>${this.text(line.q(0.5))}</b></div><div>mean <b>${this.text(line.mean)}</b></div>
         <div>middle half <b>${this.text(line.q(0.25))} – ${this.text(line.q(0.75))}</b></div><div>${line.sorted.length} cells</div>`;
    tooltip.show(`<header>${escaped(line.group.name)}</header>${about}`, event.clientX, event.clientY);
  }
}

// Between -0.5 and 0.5, the same for the same row each time.
function jitter(row) { const x = Math.sin(row * 12.9898 + 4.1) * 43758.5453; return x - Math.floor(x) - 0.5; }

function startCampaign(page) {
  const metric = document.getElementById("box-metric");
  const boxes = new Boxes(document.getElementById("boxes"), page.groups, page.cells, metric.value, page.units);
  metric.addEventListener("change", () => boxes.show(metric.value));
  const columns = page.columns.map((name) => {
    const number = page.numeric.includes(name);
    const value = (row) => page.cells[row][name];
    return {
      title: name.replaceAll("_", " ") + (page.units[name] === "s" ? " (s)" : ""), number, about: page.units[name] || "",
      value: number ? (row) => value(row) ?? NaN : (row) => String(value(row) ?? ""),
      text: (row) => (number ? digits(value(row) ?? NaN) : String(value(row) ?? "–")),
    };
  });
  const cells = new LongTable(document.getElementById("cells"), columns, page.cells.map((_, i) => i));
  return { boxes, cells, charts: [boxes] };
}
