// Sum and draw the top lane of the timeline: bytes written over time, by label.

import { pixel } from "./colors.mjs";

const TALLEST = 4; // times the 95th percentile: a higher column is cut, and marked

/** Bytes of each kind in `bins` equal parts of the run: `sums[kind * bins + bin]`, their `totals`,
 * and `most`, the bytes that the full height stands for. */
export function bytesOverTime(run, mask, { low, high }, bins) {
  const { points } = run;
  const sums = new Float64Array(run.about.kinds.length * bins);
  const totals = new Float64Array(bins);
  for (let i = 0; i < points.rows; i++) {
    if (!mask[i]) continue;
    const bin = Math.min(Math.floor(((points.begin[i] - low) / (high - low)) * bins), bins - 1);
    sums[points.kind[i] * bins + bin] += points.bytes[i];
    totals[bin] += points.bytes[i];
  }
  const ranked = totals.filter((total) => total > 0).sort();
  const usual = ranked[Math.floor(0.95 * (ranked.length - 1))] ?? 1;
  return { bins, sums, totals, most: Math.min(ranked.at(-1) ?? 1, TALLEST * usual), step: (high - low) / bins, low };
}

/** Draw those bytes, stacked by kind. */
export function drawBytes(pixels, run, { bins, sums, totals, most }, box, palette) {
  const colors = run.about.kinds.map((kind) => pixel(palette.kinds[kind]));
  for (let bin = 0; bin < bins; bin++) {
    const [x0, x1] = [bin, bin + 1].map((at) => box.left + Math.round((at * box.width) / bins));
    let sum = 0;
    let bottom = box.top + box.height;
    for (let kind = 0; kind < colors.length; kind++) {
      sum += sums[kind * bins + bin];
      const top = box.top + box.height - Math.round(Math.min(sum / most, 1) * box.height);
      pixels.rect(x0, top, x1, bottom, colors[kind]);
      bottom = top;
    }
    if (totals[bin] > most) pixels.rect(x0, box.top, x1, box.top + 2, pixel(palette.ink));
  }
}
