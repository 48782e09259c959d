// Tables that sort: those written into the page, and long ones of which a page is shown at a time.

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    if (head.classList.contains("fixed")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const numeric = head.classList.contains("number");
      const up = now ? now === "descending" : !numeric;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const key = (row) => {
        const cell = row.cells[column], raw = cell.dataset.value ?? cell.textContent;
        return numeric ? (raw === "" ? NaN : Number(raw)) : raw;
      };
      const rows = [...body.rows].map((row) => [key(row), row]);
      rows.sort(([a], [b]) => order(a, b, up));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

// Numbers by size, texts by the alphabet (numbers in them by size), what is unknown always last.
const collator = new Intl.Collator("en", { numeric: true });
function order(a, b, up) {
  if (typeof a === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return up ? a - b : b - a;
  }
  return up ? collator.compare(a, b) : collator.compare(b, a);
}

class LongTable {
  // Columns: {title, value(row), text(row), number, about}; `rows` is an array of row numbers.
  constructor(place, columns, rows, { size = 15, open } = {}) {
    Object.assign(this, { place, columns, all: rows, rows, size, open, page: 0, by: null, up: true });
    place.innerHTML = `<div class="scroll"><table class="grid"><thead><tr></tr></thead><tbody></tbody></table></div>
      <nav class="pages"><button type="button">‹</button><span></span><button type="button">›</button></nav>`;
    const head = place.querySelector("tr");
    columns.forEach((column, i) => {
      const cell = document.createElement("th");
      cell.className = column.number ? "number" : "";
      cell.title = column.about || "";
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.title;
      button.addEventListener("click", () => this.sort(i));
      cell.append(button);
      head.append(cell);
    });
    const [back, on] = place.querySelectorAll("nav button");
    back.addEventListener("click", () => this.turn(-1));
    on.addEventListener("click", () => this.turn(1));
    this.draw();
  }
  sort(i) {
    const column = this.columns[i];
    this.up = this.by === i ? !this.up : !column.number;
    this.by = i;
    this.arrange();
  }
  arrange() {
    const column = this.columns[this.by], up = this.up;
    if (column) {
      const rows = Array.from(this.all), keys = rows.map(column.value), places = rows.map((_, i) => i);
      places.sort((a, b) => order(keys[a], keys[b], up));
      this.rows = places.map((place) => rows[place]);
    } else this.rows = this.all;
    this.page = 0;
    this.draw();
  }
  use(rows) { this.all = rows; this.arrange(); }
  turn(by) {
    this.page = Math.min(Math.max(this.page + by, 0), Math.max(0, Math.ceil(this.rows.length / this.size) - 1));
    this.draw();
  }
  draw() {
    const from = this.page * this.size, shown = this.rows.slice(from, from + this.size);
    this.place.querySelectorAll("th").forEach((head, i) => {
      if (i === this.by) head.setAttribute("aria-sort", this.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    const body = this.place.querySelector("tbody");
    body.replaceChildren(...Array.from(shown, (row) => {
      const line = document.createElement("tr");
      for (const column of this.columns) {
        const cell = document.createElement("td");
        if (column.number) cell.className = "number";
        cell.dataset.label = column.title;
        const text = document.createElement("span");
        text.textContent = column.text(row);
        cell.append(text);
        line.append(cell);
      }
      if (this.open) { line.className = "link"; line.addEventListener("click", () => this.open(row)); }
      return line;
    }));
    const last = Math.min(from + this.size, this.rows.length);
    this.place.querySelector("nav span").textContent = this.rows.length
      ? `${digits(from + 1)}–${digits(last)} of ${digits(this.rows.length)}` : "none";
  }
}
