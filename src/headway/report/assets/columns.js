// Columns as the page carries them: byte planes of zigzag integers, deflated, in base64.

async function unpack(column) {
  const packed = fromBase64(column.data);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const { n, planes, delta, scale } = column;
  const values = new Float64Array(n);
  for (let plane = planes - 1; plane >= 0; plane--) {
    const from = plane * n;
    for (let i = 0; i < n; i++) values[i] = values[i] * 256 + bytes[from + i];
  }
  let sum = 0;
  for (let i = 0; i < n; i++) {
    const u = values[i];
    const v = u % 2 ? -(u + 1) / 2 : u / 2;
    sum = delta ? sum + v : v;
    values[i] = scale === 1 ? sum : sum * scale;
  }
  return values;
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unpackAll(table) {
  const names = Object.keys(table).filter((name) => table[name] && table[name].data !== undefined);
  const columns = await Promise.all(names.map((name) => unpack(table[name])));
  return Object.fromEntries(names.map((name, i) => [name, columns[i]]));
}

// The order of rows by a column of times, equal ones in row order. Whole numbers are sorted together with
// their row in one double, many times faster than with a comparison function.
function orderBy(values) {
  const n = values.length;
  const order = new Uint32Array(n);
  let low = Infinity, high = -Infinity, whole = true, sorted = true;
  for (let i = 0; i < n; i++) {
    const v = values[i];
    if (i && v < values[i - 1]) sorted = false;
    order[i] = i;
    if (v < low) low = v;
    if (v > high) high = v;
    if (whole && !Number.isInteger(v)) whole = false;
  }
  if (sorted) return order;
  if (whole && (high - low + 1) * n < Number.MAX_SAFE_INTEGER) {
    const keys = new Float64Array(n);
    for (let i = 0; i < n; i++) keys[i] = (values[i] - low) * n + i;
    keys.sort();
    for (let i = 0; i < n; i++) order[i] = keys[i] % n;
    return order;
  }
  return order.sort((a, b) => values[a] - values[b] || a - b);
}

function take(values, order) {
  const taken = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) taken[i] = values[order[i]];
  return taken;
}

// The first place whose value is above x, in an increasing column.
function above(values, x) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > x) high = middle; else low = middle + 1;
  }
  return low;
}
