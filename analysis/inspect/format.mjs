// Format numbers, sizes and times; choose the round steps of an axis.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/** A duration in ns with three or four significant digits: "4.68 ms". */
export function duration(ns) {
  const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3];
  const value = ns / size;
  const digits = unit === "ns" ? 0 : Math.max(0, 3 - Math.trunc(Math.log10(Math.abs(value) || 1)) - 1);
  return `${value.toFixed(digits)} ${unit}`;
}

/** A size in bytes in binary units: "24 KiB". */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    unit++;
  }
  return `${bytes >= 100 || Number.isInteger(bytes) ? Math.round(bytes) : bytes.toFixed(1)} ${units[unit]}`;
}

/** A size as short as it gets: "24K". */
export function shortSize(bytes) {
  return size(bytes).replace(/ (.)i?B?$/, "$1");
}

/** A whole number with its thousands set apart. */
export function count(value) {
  return value.toLocaleString("en-US");
}

/** A share as percent, with the digits that a small one needs. */
export function percent(share) {
  return `${(100 * share).toFixed(share && share < 0.01 ? 3 : 1)} %`;
}

/** Round steps of 1, 2 or 5 times a power of 10: about one for each `room` of `width` pixels. */
export function ticks(low, high, width, room) {
  const rough = ((high - low) * room) / Math.max(width, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((times) => times * power >= rough) * power;
  const marks = [];
  if (low + step === low) return { step, marks }; // numbers so large that a step changes nothing
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) marks.push(at);
  return { step, marks };
}

/** A moment since the run's beginning, with the digits that a step between ticks needs. */
export function moment(ns, step) {
  const [size, unit] = ns === 0 ? UNITS[0] : (UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3]);
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(ns / size).toFixed(Math.min(digits, 9))} ${unit}`;
}
