// Compute and draw the depth of the device queue over time.

import { mix, pixel } from "./colors.mjs";
import { eachBin, Levels } from "./levels.mjs";
import { lowerBound } from "./table.mjs";

/** The queue of each device. */
export function makeQueues(run) {
  return run.devices.map((_, device) => makeQueue(run, device));
}

/** How many commands a device had at a time: `depth[i]` from `time[i]` on. */
function makeQueue(run, device) {
  const its = (_, row) => run.deviceOf(row) === device;
  const [begin, end] = [run.commands.begin, run.commands.end].map((times) => times.filter(its));
  const ends = end.slice().sort();
  const time = new Float64Array(2 * begin.length);
  const depth = new Uint16Array(time.length);
  let [a, b, now] = [0, 0, 0];
  for (let i = 0; i < time.length; i++) {
    const issue = a < begin.length && (begin[a] < ends[b] || now === 0);
    now += issue ? 1 : -1;
    time[i] = issue ? begin[a++] : ends[b++];
    depth[i] = now;
  }
  const queue = { time, depth, deepest: depth.reduce((most, value) => Math.max(most, value), 0) };
  queue.levels = new Levels((...bins) => queueLevel(queue, ...bins));
  return queue;
}

/** The depth's `area` (times ns) and `most` in each bin. */
function queueLevel({ time, depth }, bins, step, low) {
  const [area, most] = [new Float32Array(bins), new Uint16Array(bins)];
  for (let i = 0; i < time.length; i++) {
    let from = time[i];
    const until = i + 1 < time.length ? time[i + 1] : from;
    for (let bin = Math.floor((from - low) / step); bin < bins && from < until && depth[i]; bin++) {
      const part = Math.min(low + (bin + 1) * step, until);
      area[bin] += depth[i] * (part - from);
      most[bin] = Math.max(most[bin], depth[i]);
      from = part;
    }
  }
  return { area, most };
}

/** The commands at the device at a moment. */
export function depthAt({ time, depth }, moment) {
  const after = lowerBound(time, moment);
  return after > 0 ? depth[after - 1] : 0;
}

/** Draw the queue's depth: its mean in each column as an area, its maximum as a fainter one. */
export function drawQueue(pixels, queue, box, view, palette) {
  const level = queue.levels.at(view, box.width, null);
  const [mean, most] = level ? queueColumns(level, view, box.width) : queueSingly(queue, view, box.width);
  const [area, faint] = [0.8, 0.3].map((part) => pixel(mix(palette.panel, palette.soft, part)));
  const unit = (box.height - 1) / Math.max(queue.deepest, 1);
  const bottom = box.top + box.height;
  for (let column = 0; column < box.width; column++) {
    const x = box.left + column;
    if (most[column]) pixels.column(x, bottom - Math.round(most[column] * unit), bottom, faint);
    if (mean[column]) pixels.column(x, bottom - Math.round(mean[column] * unit), bottom, area);
  }
}

function queueColumns(level, view, width) {
  const [mean, most, number] = [new Float64Array(width), new Float64Array(width), new Float64Array(width)];
  eachBin(level, view, width, (bin, column) => {
    number[column]++;
    mean[column] += level.area[bin] / level.step;
    most[column] = Math.max(most[column], level.most[bin]);
  });
  return [mean.map((sum, column) => sum / (number[column] || 1)), most];
}

function queueSingly({ time, depth }, view, width) {
  const [mean, most] = [new Float64Array(width), new Float64Array(width)];
  const step = view.span / width;
  let at = lowerBound(time, view.t0);
  let now = at > 0 ? depth[at - 1] : 0;
  for (let column = 0; column < width; column++) {
    const until = view.t0 + (column + 1) * step;
    let from = until - step;
    let sum = 0;
    most[column] = now;
    for (; at < time.length && time[at] < until; at++) {
      sum += now * (time[at] - from);
      from = time[at];
      now = depth[at];
      if (now > most[column]) most[column] = now;
    }
    mean[column] = (sum + now * (until - from)) / step;
  }
  return [mean, most];
}
