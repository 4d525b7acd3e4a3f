// Compute the position of a row's bar.

import { GUTTER } from "./stage.mjs";
import { lowerBound } from "./table.mjs";

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
