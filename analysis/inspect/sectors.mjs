// The lane of sectors: place sectors read, written or discarded on a folded scale, and draw them by label.

import { pixel } from "./colors.mjs";
import { Folds, Scales } from "./folds.mjs";
import { Levels } from "./levels.mjs";
import { lowerBound } from "./table.mjs";

const CELLS = 1024; // parts of the sectors that a level distinguishes

/** Each stretch of sectors that was read, written or discarded, with its kind: a piece of a command,
 * or a command without pieces. */
export function makePoints(run) {
  const { commands, pieces, about } = run;
  const codes = (texts = []) => texts.map((text) => about.kinds.indexOf(text));
  const [ofLabel, ofKind] = [codes(pieces.texts.label), codes(commands.texts.kind)];
  const room = pieces.rows + commands.rows;
  const points = { command: new Uint32Array(room), kind: new Uint8Array(room) };
  for (const name of ["sector", "bytes", "begin", "reach"]) points[name] = new Float64Array(room);
  let rows = 0;
  let latest = 0;
  const add = (row, kind, table, at) => {
    [points.command[rows], points.kind[rows], points.begin[rows]] = [row, kind, commands.begin[row]];
    [points.sector[rows], points.bytes[rows]] = [table.sector[at], table.bytes[at]];
    points.reach[rows++] = latest = Math.max(latest, commands.end[row]); // the latest end up to here
  };
  for (let row = 0; row < commands.rows; row++) {
    const parts = run.piecesOf.of(row);
    for (const part of parts) if (pieces.sector[part] >= 0) add(row, ofLabel[pieces.label[part]], pieces, part);
    if (!parts.length && commands.sector[row] >= 0 && commands.bytes[row] > 0) {
      add(row, ofKind[commands.kind[row]], commands, row);
    }
  }
  for (const [name, column] of Object.entries(points)) points[name] = column.subarray(0, rows);
  return { id: "points", rows, ...points };
}

/** Set the places of points on a scale with its gaps folded, or not. */
export function setScale(run, folded) {
  const { points, about } = run;
  const touched = about.touched.map((all) => (folded ? all : [[all[0][0], all.at(-1)[1]]]));
  run.folds = new Scales(touched.map((stretches) => new Folds(stretches)));
  run.folded = folded;
  points.place = points.sector.map((sector, i) => run.folds.place(sector, run.deviceOf(points.command[i])));
  const room = Math.max(run.folds.end * 0.03, 8);
  run.sectors = [-room, run.folds.end + room];
  run.pointLevels = new Levels((...bins) => pointsLevel(run, ...bins));
}

/** The points of a level: one of a kind in each bin and each of CELLS parts of the sectors. */
export function pointsLevel({ points, sectors }, bins, step, low, mask) {
  const [first, last] = sectors;
  const unit = CELLS / (last - first);
  const seen = new Int32Array(256 * CELLS).fill(-1); // [kind * CELLS + cell]: the bin it was in last
  const kept = new Uint32Array(points.rows);
  let count = 0;
  for (let i = 0; i < points.rows; i++) {
    if (!mask[i]) continue;
    const bin = Math.floor((points.begin[i] - low) / step);
    const cell = points.kind[i] * CELLS + Math.floor((points.place[i] - first) * unit);
    if (seen[cell] === bin) continue;
    seen[cell] = bin;
    kept[count++] = i;
  }
  return { kept: kept.slice(0, count) };
}

/** Draw the sectors that were read, written or discarded in the view: dots, or true extents. */
export function drawSectors(pixels, run, box, view, mask, palette, dot) {
  const { begin, reach, place, bytes, command, kind } = run.points;
  const { took } = run.commands;
  const colors = Uint32Array.from(run.about.kinds, (name) => pixel(palette.kinds[name]));
  const scale = box.width / view.span;
  const tall = box.height / (view.s1 - view.s0);
  const bottom = box.top + box.height;
  const right = box.left + box.width;
  const coarse = (view.s1 - view.s0) * CELLS >= (view.sectors[1] - view.sectors[0]) * box.height;
  const kept = coarse ? run.pointLevels.at(view, box.width, mask)?.kept : null;
  const last = kept ? kept.length : lowerBound(begin, view.t1);
  for (let at = kept ? 0 : lowerBound(reach, view.t0); at < last; at++) {
    const i = kept ? kept[at] : at;
    if (!mask[i]) continue;
    const x = box.left + (begin[i] - view.t0) * scale;
    const y = bottom - (place[i] - view.s0) * tall;
    const wide = took[command[i]] * scale;
    const high = (bytes[i] / 512) * tall;
    if (wide <= dot && high <= dot) {
      if (x < box.left || x + dot > right || y - dot < box.top || y > bottom) continue;
      pixels.dot(x | 0, (y - dot) | 0, dot, colors[kind[i]]);
    } else {
      const top = Math.max(y - Math.max(high, dot), box.top);
      const low = Math.min(y, bottom);
      const end = Math.min(x + Math.max(wide, dot), right);
      if (low >= top) pixels.rect(Math.max(x, box.left), top, end, Math.max(low, top + 1), colors[kind[i]]);
    }
  }
}
