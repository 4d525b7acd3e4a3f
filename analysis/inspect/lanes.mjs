// Define the timeline's lanes, from transactions down to device sectors: contents, heights, texts of bars.

import { COLORED } from "./colors.mjs";
import { size, shortSize } from "./format.mjs";
import { Levels } from "./levels.mjs";
import { Groups } from "./table.mjs";
import { trackLevel } from "./tracks.mjs";

const LEAST_SECTORS = 110; // CSS pixels for the sectors, before lanes are made smaller
const SMALL = 0.72;
const SLOTS = 3; // a lane draws bars that overlap in time below each other, in at most so many slots

/** The rows of one table that a lane shows, by begin; rows that overlap in time get different slots. */
class Track {
  constructor(run, table, rows = null) {
    this.table = table;
    this.rows = rows;
    const { begin, end } = run[table];
    this.begin = rows ? Float64Array.from(rows, (row) => begin[row]) : begin;
    this.end = rows ? Float64Array.from(rows, (row) => end[row]) : end;
    const count = this.begin.length;
    this.reach = new Float64Array(count); // the latest end up to here: sorted, as begin is
    this.slot = new Uint8Array(count);
    this.slots = 1;
    const free = new Float64Array(SLOTS).fill(-1);
    let latest = -Infinity;
    for (let i = 0; i < count; i++) {
      this.reach[i] = latest = Math.max(latest, this.end[i]);
      let slot = free.findIndex((until) => until <= this.begin[i]);
      if (slot < 0) slot = SLOTS - 1;
      free[slot] = Math.max(free[slot], this.end[i]);
      this.slot[i] = slot;
      if (slot >= this.slots) this.slots = slot + 1;
    }
    this.codes = run[table][COLORED[table][0]];
    this.classes = Math.max(run[table].texts[COLORED[table][0]]?.length ?? 0, 1);
    this.levels = new Levels((...bins) => trackLevel(this, ...bins));
  }
}

/** The lanes of a run; `top` and `height` in CSS pixels are set by `place`. */
export function makeLanes(run) {
  const lane = (name, height, table, rows) => ({ name, tall: height, table, track: new Track(run, table, rows) });
  const lanes = [
    { name: run.about.trace ? "bytes" : "bytes written", tall: 44, picture: "overview" },
    { name: "", tall: 20, picture: "axis" },
  ];
  if (!run.about.trace) {
    lanes.push(lane("transactions", 26, "transactions"));
    if (run.vfs.rows > 0) lanes.push(lane("SQLite file operations", 24, "vfs"));
    if (run.wal.rows > 0) lanes.push(lane("WAL checkpoints", 20, "wal"));
    lanes.push(lane("filesystem syncs", 20, "syncs"));
    const journal = run.journal.texts.what?.includes("checkpoint") ? "checkpoints" : "journal commits";
    lanes.push(lane(journal, 20, "journal"));
    if (run.script.rows > 0) lanes.push(lane("script", 20, "script"));
  }
  const byKind = new Groups(run.commands.kind);
  const codes = run.commands.texts.kind ?? [];
  for (const kind of run.about.kinds) {
    const rows = byKind.of(codes.indexOf(kind));
    if (rows.length) lanes.push({ ...lane(kind, 17, "commands", rows), kind });
  }
  const several = run.devices.length > 1;
  run.queues.forEach((queue, device) => {
    const name = several ? `queue of ${run.devices[device]}` : "device queue";
    lanes.push({ name, tall: several ? 28 : 44, picture: "queue", queue });
  });
  lanes.push({ name: "sectors", tall: 0, picture: "sectors" });
  return lanes;
}

/** Set top and height of each lane. The last gets the rest of `height`; if that is little, others shrink. */
export function place(lanes, height) {
  const gap = (lane) => (lane.kind || lane.picture === "overview" ? 1 : 4);
  const taken = lanes.reduce((sum, lane) => sum + lane.tall + gap(lane), 0);
  const part = height - taken < LEAST_SECTORS ? SMALL : 1;
  let top = 0;
  for (const lane of lanes) {
    lane.top = top;
    lane.height = Math.round(lane.tall * (lane.picture === "axis" ? 1 : part));
    if (lane.picture === "sectors") lane.height = Math.max(height - top - 4, 60);
    top += lane.height + gap(lane);
  }
  return top;
}

/** The texts of a bar, the longest first. */
export function labels(run, table, row) {
  const { transactions, vfs, syncs, journal, commands } = run;
  const label = run.label(table, row);
  if (table === "script") return [label];
  if (table === "journal") return [label, `${journal.number[row]}`];
  if (table === "wal") return [label, run.wal.text("what", row), run.wal.text("trigger", row)].filter(Boolean);
  if (table === "transactions") {
    return [`${label}: ${(transactions.took[row] / 1e6).toPrecision(3)} ms`, label, `${row}`];
  }
  if (table === "vfs") {
    const op = vfs.text("op", row);
    const bytes = op === "write" && vfs.bytes[row] > 0 ? ` ${size(vfs.bytes[row])}` : "";
    return [`${label}${bytes}`, label, op];
  }
  if (table === "syncs") {
    const call = syncs.datasync[row] > 0 ? "fdatasync" : "fsync";
    const [name, file] = [syncs.text("name", row), syncs.text("file", row)];
    return [name && `${call} ${name}`, file && `${call} ${file}`, file, call].filter(Boolean);
  }
  const rwbs = `${commands.text("rwbs", row)}${run.failed(row) ? " failed" : ""}`;
  if (commands.bytes[row] <= 0) return [rwbs];
  return [`${rwbs} ${size(commands.bytes[row])}`, `${rwbs} ${shortSize(commands.bytes[row])}`, rwbs];
}
