// Draw a lane: a bar for each row where there is room, else how busy each column of pixels was.

import { mix, pixel } from "./colors.mjs";
import { eachBin } from "./levels.mjs";
import { lowerBound } from "./table.mjs";

const BAR = 2.5; // device pixels: a narrower row is counted into its column
const LONG = 5; // bins: a longer row is a bar in a level, too
const LEAST = 1e-6; // of a column: the part of a row without a length

let busy = new Float32Array(0); // [class * width + column]: part of the column's time

/** Sum a track over bins: `sums`, busy ns of each class in each bin, and `long`, the rows drawn as bars. */
export function trackLevel(track, bins, step, low, mask) {
  const { begin, end, rows, codes, classes } = track;
  const sums = new Float32Array(classes * bins);
  const long = [];
  for (let i = 0; i < begin.length; i++) {
    const row = rows ? rows[i] : i;
    if (!mask[row]) continue;
    if (end[i] - begin[i] > LONG * step) {
      long.push(i);
      continue;
    }
    let bin = Math.max(Math.floor((begin[i] - low) / step), 0); // it may have begun before the run
    if (bin >= bins) continue;
    const base = codes[row] * bins;
    sums[base + bin] += LEAST * step;
    for (let from = Math.max(begin[i], low); from < end[i] && bin < bins; bin++) {
      const until = Math.min(low + (bin + 1) * step, end[i]);
      sums[base + bin] += until - from;
      from = until;
    }
  }
  return { sums, long };
}

/** Draw a lane's track into box {left, top, width, height} (device pixels); return the bars wide
 * enough for text as {row, left, right, top, bottom, color}. */
export function drawTrack(pixels, track, box, view, mask, colors, palette) {
  const { width } = box;
  if (busy.length < track.classes * width) busy = new Float32Array(track.classes * width);
  busy.fill(0, 0, track.classes * width);
  const level = track.levels.at(view, width, mask);
  const wide = level ? ofLevel(level, track, width, view) : singly(track, width, view, mask);
  drawColumns(pixels, box, colors, palette, track.table === "script");
  return drawBars(pixels, track, box, view, wide, colors);
}

/** Fill `busy` from a level; return its long rows that are in view. */
function ofLevel(level, { classes, begin, end }, width, view) {
  const { sums, bins, step, long } = level;
  const number = new Uint16Array(width);
  eachBin(level, view, width, (bin, column) => {
    number[column]++;
    for (let kind = 0; kind < classes; kind++) busy[kind * width + column] += sums[kind * bins + bin];
  });
  for (let column = 0; column < width; column++) {
    const time = number[column] * step;
    for (let kind = 0; kind < classes; kind++) busy[kind * width + column] /= time || 1;
  }
  return long.filter((i) => end[i] >= view.t0 && begin[i] < view.t1);
}

/** Fill `busy` from the rows that are too narrow for a bar; return the others. */
function singly({ begin, end, reach, rows, codes }, width, view, mask) {
  const scale = width / view.span;
  const last = lowerBound(begin, view.t1);
  const wide = [];
  for (let i = lowerBound(reach, view.t0); i < last; i++) {
    const row = rows ? rows[i] : i;
    if (!mask[row] || end[i] < view.t0) continue;
    const part = (end[i] - begin[i]) * scale;
    if (part >= BAR) {
      wide.push(i);
    } else {
      const column = Math.min(Math.max(Math.floor((begin[i] - view.t0) * scale), 0), width - 1);
      busy[codes[row] * width + column] += part + LEAST;
    }
  }
  return wide;
}

/** With `moments`, which have no length, each is a line from top to bottom. */
function drawColumns(pixels, box, colors, palette, moments) {
  const full = colors.map(pixel);
  const pale = colors.map((color) => pixel(mix(palette.panel, color, palette.dark ? 0.4 : 0.34)));
  const tints = moments ? full : pale;
  for (let column = 0; column < box.width; column++) {
    let most = -1;
    let sum = 0;
    for (let kind = 0; kind < colors.length; kind++) {
      const part = busy[kind * box.width + column];
      sum += part;
      if (part > 0 && (most < 0 || part > busy[most * box.width + column])) most = kind;
    }
    if (most < 0) continue;
    const x = box.left + column;
    let bottom = box.top + box.height;
    pixels.column(x, box.top, bottom, tints[most]);
    const unit = box.height / Math.max(sum, 1);
    for (let kind = 0; kind < colors.length; kind++) {
      const part = busy[kind * box.width + column];
      if (part <= 0) continue;
      const tall = Math.max(Math.round(part * unit), 1);
      pixels.column(x, Math.max(bottom - tall, box.top), bottom, full[kind]);
      bottom -= tall;
    }
  }
}

function drawBars(pixels, track, box, view, wide, colors) {
  const { begin, end, rows, slot, slots, codes } = track;
  const scale = box.width / view.span;
  const full = colors.map(pixel);
  const texts = [];
  const part = box.height / slots;
  for (const i of wide) {
    const row = rows ? rows[i] : i;
    const from = (begin[i] - view.t0) * scale;
    const to = (end[i] - view.t0) * scale;
    const left = box.left + Math.max(Math.round(from), 0);
    const gap = to - from > 5 ? 1 : 0; // parts it from the next
    const right = box.left + Math.min(Math.max(Math.round(to) - gap, Math.round(from) + 1), box.width);
    const top = box.top + Math.round(slot[i] * part);
    const bottom = box.top + Math.round((slot[i] + 1) * part) - (slots > 1 ? 1 : 0);
    pixels.rect(left, top, right, bottom, full[codes[row]]);
    if (right - left > 12) texts.push({ row, left, right, top, bottom, color: colors[codes[row]] });
  }
  return texts;
}
