// Find the row or sector under the pointer, and the rectangle of a row's bar.

import { lowerBound } from "./table.mjs";
import { GUTTER } from "./stage.mjs";

const NEAR = 4; // CSS pixels

/** The lane at a height, null between lanes. */
export function laneAt(stage, y) {
  return stage.lanes.find((lane) => y >= lane.top && y < lane.top + lane.height) ?? null;
}

/** {table, row} at a point of the stage, null if there is nothing. */
export function pick(stage, x, y) {
  const lane = laneAt(stage, y);
  if (!lane || x < GUTTER || x > GUTTER + stage.width) return null;
  if (lane.track) return pickBar(stage, lane, x, y);
  if (lane.picture === "sectors") return pickPoint(stage, x, y);
  return null;
}

function pickBar(stage, lane, x, y) {
  const { begin, end, reach, rows, slot, slots } = lane.track;
  const mask = stage.filter.masks[lane.table];
  const time = stage.time(x);
  const near = stage.time(x + NEAR) - time;
  const wanted = Math.min(Math.floor(((y - lane.top) / lane.height) * slots), slots - 1);
  let best = null;
  let least = Infinity;
  const last = lowerBound(begin, time + near);
  for (let i = lowerBound(reach, time - near); i < last; i++) {
    const row = rows ? rows[i] : i;
    if (!mask[row] || end[i] < time - near) continue;
    const off = time < begin[i] ? begin[i] - time : time > end[i] ? time - end[i] : 0;
    const distance = off + (slot[i] === wanted ? 0 : near / 2);
    if (distance < least) [best, least] = [row, distance];
  }
  return best === null ? null : { table: lane.table, row: best };
}

function pickPoint(stage, x, y) {
  const { run, view, filter } = stage;
  const { points, commands } = run;
  const lane = stage.sectorLane();
  const time = stage.time(x);
  const near = stage.time(x + NEAR) - time;
  const unit = lane.height / (view.s1 - view.s0);
  let best = null;
  let least = NEAR + 1;
  const last = lowerBound(points.begin, time + near);
  for (let i = lowerBound(points.reach, time - near); i < last; i++) {
    if (!filter.masks.points[i]) continue;
    const end = commands.end[points.command[i]];
    if (end < time - near) continue;
    const low = stage.placeY(points.place[i]);
    const high = low - (points.bytes[i] / 512) * unit;
    const dy = y > low ? y - low : y < high ? high - y : 0;
    const dt = time < points.begin[i] ? points.begin[i] - time : time > end ? time - end : 0;
    const distance = Math.hypot(dy, (dt / near) * NEAR);
    if (distance < least) [best, least] = [points.command[i], distance];
  }
  return best === null ? null : { table: "commands", row: best };
}

/** The bar of a row in its lane, in CSS pixels; null where it is not in view or in another lane. */
export function barOf(stage, lane, row) {
  const { rows, slot, slots } = lane.track;
  const i = rows ? position(rows, row) : row;
  if (i < 0) return null;
  const table = stage.run[lane.table];
  const [from, to] = [stage.x(table.begin[row]), stage.x(table.end[row])];
  if (to < GUTTER - 2 || from > GUTTER + stage.width + 2) return null;
  const part = lane.height / slots;
  const left = Math.max(from, GUTTER - 1);
  const right = Math.max(Math.min(to, GUTTER + stage.width + 1), left + 2);
  const top = lane.top + slot[i] * part;
  return { left, right, top, bottom: top + part };
}

function position(sorted, value) {
  const place = lowerBound(sorted, value);
  return sorted[place] === value ? place : -1;
}
