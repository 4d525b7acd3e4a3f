// Unpack a table of the run from the page into typed arrays (pack.py has the format); search and group them.

const TYPES = {
  u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array,
  u4: Uint32Array, i4: Int32Array, f8: Float64Array,
};

const SIGNED = ["begin", "result"]; // all others are below 0 only where a value is missing

/** One table: `rows`, an array per column, and the texts of those columns that hold text. */
export class Table {
  constructor(name, spec, buffer) {
    this.id = name;
    this.rows = spec.rows;
    this.texts = {};
    for (const [column, { type, at, delta, texts }] of Object.entries(spec.columns)) {
      const stored = new TYPES[type](buffer, at, spec.rows);
      this[column] = delta ? summed(stored) : stored;
      if (texts) this.texts[column] = texts;
    }
    if (this.begin) this.end = ends(this.begin, this.took);
    this.columns = Object.keys(spec.columns);
  }

  /** The text of a row, null if it has none. */
  text(column, row) {
    return this.texts[column][this[column][row]];
  }

  /** A row's value as a table shows it: text, number, or null. */
  value(column, row) {
    if (this.texts[column]) return this.text(column, row);
    const value = this[column][row];
    return value < 0 && !SIGNED.includes(column) ? null : value;
  }
}

/** Unpack the table `name`, which the page carries in an element of its own. */
export async function unpack(name, spec) {
  const element = document.getElementById(`table-${name}`);
  const stream = new Blob([bytes(element.textContent)]).stream();
  const inflated = stream.pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(inflated).arrayBuffer();
  element.remove();
  return new Table(name, spec, buffer);
}

function bytes(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const made = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) made[i] = text.charCodeAt(i);
  return made;
}

function summed(differences) {
  const made = new Float64Array(differences.length);
  let sum = 0;
  for (let i = 0; i < made.length; i++) made[i] = sum += differences[i];
  return made;
}

function ends(begin, took) {
  const made = new Float64Array(begin.length);
  for (let i = 0; i < made.length; i++) made[i] = begin[i] + took[i];
  return made;
}

/** The first position in a sorted array with at least `value`. */
export function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows grouped by a key: `of(key)` are the rows that have it. Keys below 0 belong to no group. */
export class Groups {
  constructor(keys, rows = null, count = 0) {
    for (const key of keys) if (key >= count) count = key + 1;
    this.start = new Uint32Array(count + 1);
    for (const key of keys) if (key >= 0) this.start[key + 1]++;
    for (let i = 0; i < count; i++) this.start[i + 1] += this.start[i];
    this.rows = new Uint32Array(this.start[count]);
    const free = this.start.slice();
    for (let i = 0; i < keys.length; i++) {
      if (keys[i] >= 0) this.rows[free[keys[i]]++] = rows ? rows[i] : i;
    }
  }

  of(key) {
    if (key < 0 || key + 1 >= this.start.length) return this.rows.subarray(0, 0);
    return this.rows.subarray(this.start[key], this.start[key + 1]);
  }
}
