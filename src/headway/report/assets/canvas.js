// What all charts share: a sharp canvas, the theme's colours, axes, one tooltip, zoom and pan.

const theme = {
  read() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "faint", "line", "card", "accent", "hover"]) {
      this[name] = style.getPropertyValue("--" + name).trim();
    }
    this.font = "12px " + style.getPropertyValue("--sans");
    this.small = "11px " + style.getPropertyValue("--sans");
  },
};

const tooltip = {
  get box() { return (this._box ??= document.getElementById("tooltip")); },
  show(html, x, y) {
    const box = this.box;
    box.innerHTML = html;
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
    const top = Math.min(Math.max(8, y - height / 2), innerHeight - height - 8);
    box.style.transform = `translate(${Math.max(8, left)}px, ${top}px)`;
  },
  hide() { this.box.hidden = true; },
};

class Chart {
  // `place` is the element that holds the canvas; margins in CSS pixels.
  constructor(place, height, margin = { left: 56, right: 12, top: 8, bottom: 24 }) {
    this.place = place;
    this.height = height;
    this.margin = margin;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.style.height = height + "px";
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", place.dataset.label || "chart");
    place.replaceChildren(this.canvas);
    this.context = this.canvas.getContext("2d");
    this.pending = false;
    new ResizeObserver(() => this.request()).observe(place);
  }
  get inner() { return Math.max(10, this.width - this.margin.left - this.margin.right); }
  get depth() { return this.height - this.margin.top - this.margin.bottom; }
  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.redraw(); });
  }
  redraw() {
    const width = this.place.clientWidth;
    if (!width) return;
    const ratio = matchMedia("print").matches ? 3 : devicePixelRatio || 1;
    this.width = width;
    this.ratio = ratio;
    const w = Math.round(width * ratio), h = Math.round(this.height * ratio);
    if (this.canvas.width !== w || this.canvas.height !== h) { this.canvas.width = w; this.canvas.height = h; }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, this.height);
    this.draw(this.context);
    this.canvas.dataset.drawn = String(Number(this.canvas.dataset.drawn || 0) + 1);
  }
  // Names at the left get as much room as they need, up to a third of the chart; one that is longer loses its middle.
  fitNames(names, least = 80) {
    this.context.font = theme.font;
    const widest = Math.max(...names.map((name) => this.context.measureText(name).width));
    this.margin.left = Math.min(Math.max(widest + 20, least), this.width / 3);
  }
  fitting(name) {
    const fits = (text) => this.context.measureText(text).width <= this.margin.left - 16;
    let shown = name;
    for (let kept = name.length - 1; !fits(shown) && kept > 1; kept--) {
      shown = name.slice(0, Math.floor(kept / 2)) + "…" + name.slice(name.length - Math.ceil(kept / 2));
    }
    return shown;
  }
  gridY(ticks, y, label) {
    const g = this.context, { left } = this.margin;
    g.font = theme.small;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.lineWidth = 1;
    for (const tick of ticks) {
      const at = Math.round(y(tick)) + 0.5;
      g.strokeStyle = theme.line;
      g.beginPath(); g.moveTo(left, at); g.lineTo(left + this.inner, at); g.stroke();
      g.fillStyle = theme.soft;
      g.fillText(label(tick), left - 8, at);
    }
  }
  gridX(ticks, x, label, lines = true) {
    const g = this.context, { left, top } = this.margin, bottom = top + this.depth;
    g.font = theme.small;
    g.textBaseline = "top";
    g.lineWidth = 1;
    let end = -Infinity;
    for (const tick of ticks) {
      const at = Math.round(x(tick)) + 0.5;
      if (at < left - 1 || at > left + this.inner + 1) continue;
      const text = label(tick), half = g.measureText(text).width / 2;
      const place = Math.min(Math.max(at, left + half - 8), left + this.inner - half + 8);
      if (place - half < end + 10) continue;
      end = place + half;
      if (lines) { g.strokeStyle = theme.line; g.beginPath(); g.moveTo(at, top); g.lineTo(at, bottom); g.stroke(); }
      g.fillStyle = theme.soft;
      g.textAlign = "center";
      g.fillText(text, place, bottom + 7);
    }
  }
  clip(draw) {
    const g = this.context;
    g.save();
    g.beginPath();
    g.rect(this.margin.left, this.margin.top, this.inner, this.depth);
    g.clip();
    draw(g);
    g.restore();
  }
  // Pan by dragging, zoom by wheel (Ctrl held, or the chart clicked before), keys, double click for all.
  navigate({ pan, zoom, reset, hover, leave, click }) {
    const canvas = this.canvas;
    let drag = null, moved = false;
    const local = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drag = local(event);
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = local(event);
      if (drag) {
        if (moved || Math.hypot(x - drag[0], y - drag[1]) > 3) {
          moved = true;
          canvas.classList.add("dragging");
          tooltip.hide();
          pan?.(x - drag[0], y - drag[1]);
          drag = [x, y];
        }
      } else hover?.(x, y, event);
    });
    canvas.addEventListener("pointerup", (event) => {
      canvas.classList.remove("dragging");
      if (drag && !moved) click?.(...local(event), event);
      drag = null;
    });
    canvas.addEventListener("pointercancel", () => { drag = null; });
    canvas.addEventListener("pointerleave", () => { tooltip.hide(); leave?.(); });
    canvas.addEventListener("dblclick", () => reset?.());
    canvas.addEventListener("wheel", (event) => {
      if (!zoom || !(event.ctrlKey || event.metaKey || document.activeElement === canvas)) return;
      event.preventDefault();
      const [x, y] = local(event);
      const turn = (event.deltaY || event.deltaX) * (event.deltaMode ? 30 : 1);
      zoom(Math.exp(Math.max(-240, Math.min(240, turn)) / 240), x, y, event.shiftKey);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const middle = this.margin.left + this.inner / 2, centre = this.margin.top + this.depth / 2;
      const keys = {
        ArrowLeft: () => pan?.(this.inner / 8, 0), ArrowRight: () => pan?.(-this.inner / 8, 0),
        "+": () => zoom?.(0.5, middle, centre), "=": () => zoom?.(0.5, middle, centre),
        "-": () => zoom?.(2, middle, centre), 0: () => reset?.(),
      };
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
  }
}
