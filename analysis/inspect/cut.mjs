// Draw a trial's simulated power cut on the timeline, and mark the transactions and commands lost or kept.

import { barOf } from "./pick.mjs";
import { GUTTER } from "./stage.mjs";

/** The time to show, [begin, end]: from the first lost transaction, or the one in progress, to the cut. */
export function aroundCut({ about, transactions }) {
  const { time, lost, under_way } = about.cut;
  const first = lost[0] ?? under_way;
  const end = under_way === null ? time : transactions.end[under_way];
  return first === null ? [time - 2e6, time + 2e6] : [transactions.begin[first], Math.max(end, time)];
}

/** Mark the transactions and commands that are gone, and those that the device kept; draw the cut. */
export function drawCut(stage) {
  const { cut } = stage.run.about;
  if (!cut) return;
  const { over, palette, lanes, filter } = stage;
  const mark = (lane, rows, isGone) => {
    for (const row of rows) {
      const bar = filter.masks[lane.table][row] ? barOf(stage, lane, row) : null;
      if (bar) frame(over, bar, palette, isGone);
    }
  };
  over.save();
  over.beginPath();
  over.rect(GUTTER - 2, 0, stage.width + 4, stage.height);
  over.clip();
  over.lineWidth = 2;
  for (const lane of lanes) {
    if (lane.table === "transactions") mark(lane, cut.lost, true);
    if (lane.table !== "commands") continue;
    mark(lane, cut.kept, false);
    mark(lane, cut.gone, true);
  }
  line(stage, cut.time);
  over.restore();
}

/** Frame a bar; a lost one is pale, and struck out. */
function frame(over, { left, right, top, bottom }, palette, isGone) {
  if (isGone) fade(over, palette, left, top, right - left, bottom - top);
  over.strokeStyle = isGone ? palette.bad : palette.ink;
  over.strokeRect(left + 1, top + 1, Math.max(right - left - 2, 1), bottom - top - 2);
  if (!isGone) return;
  over.beginPath();
  over.moveTo(left + 1, bottom - 1);
  over.lineTo(right - 1, top + 1);
  over.stroke();
}

function fade(over, palette, left, top, width, height) {
  over.globalAlpha = 0.5;
  over.fillStyle = palette.ground;
  over.fillRect(left, top, width, height);
  over.globalAlpha = 1;
}

/** Draw the cut as a line in the overview and one through all other lanes, with later times faded. If it is
 * out of view, its label has an arrow towards it. */
function line(stage, time) {
  const { over, palette, lanes, view } = stage;
  over.fillStyle = palette.bad;
  const whole = GUTTER + ((time - view.low) / (view.high - view.low)) * stage.width;
  over.fillRect(Math.round(whole) - 1, lanes[0].top, 2, lanes[0].height);
  const x = stage.x(time);
  const { top } = lanes[1];
  const [before, behind] = [x < GUTTER, x > GUTTER + stage.width];
  const from = before ? GUTTER : x;
  if (!behind) fade(over, palette, from, top, GUTTER + stage.width - from, stage.height - top);
  over.fillStyle = palette.bad;
  if (!before && !behind) over.fillRect(Math.round(x) - 1, top, 2, stage.height - top);
  const text = before ? "◂ power cut" : behind ? "power cut ▸" : "power cut";
  const width = over.measureText(text).width + 8;
  const left = Math.min(Math.max(x + 1, GUTTER), GUTTER + stage.width - width);
  const lane = stage.sectorLane();
  over.fillRect(left, lane.top, width, 16);
  over.fillStyle = palette.ground;
  over.textAlign = "left";
  over.textBaseline = "middle";
  over.fillText(text, left + 4, lane.top + 8.5);
}
