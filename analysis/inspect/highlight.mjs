// Draw the overlay: light up causes and effects of the hovered or chosen row; power cut, pointer, zoom box.

import { barOf } from "./pick.mjs";
import { mix } from "./colors.mjs";
import { drawCut } from "./cut.mjs";
import { GUTTER } from "./stage.mjs";

const LIT = 4000; // rows of a table that are lit one by one
const LINKS = 160; // lines between lanes before they hide more than they show

export class Highlight {
  constructor(stage) {
    this.stage = stage;
  }

  /** Draw the overlay: the window in the overview, the chain, a trial's cut, the moment pointed at. */
  draw(chain, pointer, box) {
    const { stage } = this;
    const { over } = stage;
    over.setTransform(stage.ratio, 0, 0, stage.ratio, 0, 0);
    over.clearRect(0, 0, over.canvas.width, over.canvas.height);
    if (chain) this.#chain(chain);
    this.#window();
    drawCut(stage);
    if (pointer) {
      over.fillStyle = stage.palette.soft;
      const { top } = stage.lanes[1]; // below the overview, which has a scale of its own
      over.fillRect(Math.round(pointer.x), top, 1, stage.height - top);
    }
    if (box) {
      over.strokeStyle = stage.palette.ink;
      over.setLineDash([3, 3]);
      over.strokeRect(box.x + 0.5, box.y + 0.5, box.width, box.height);
      over.setLineDash([]);
    }
  }

  #window() {
    const { stage } = this;
    const { over, view, palette } = stage;
    if (view.isWhole) return;
    const lane = stage.lanes[0];
    const scale = stage.width / (view.high - view.low);
    const left = GUTTER + (view.t0 - view.low) * scale;
    const right = Math.max(GUTTER + (view.t1 - view.low) * scale, left + 2);
    over.fillStyle = palette.ground;
    over.globalAlpha = 0.6;
    over.fillRect(GUTTER, lane.top, left - GUTTER, lane.height);
    over.fillRect(right, lane.top, GUTTER + stage.width - right, lane.height);
    over.globalAlpha = 1;
    over.strokeStyle = palette.ink;
    over.strokeRect(left + 0.5, lane.top + 0.5, right - left - 1, lane.height - 1);
  }

  #chain(chain) {
    const { stage } = this;
    const { over, palette } = stage;
    over.save();
    over.beginPath();
    over.rect(GUTTER, 0, stage.width, stage.height);
    over.clip();
    over.globalAlpha = palette.dark ? 0.68 : 0.72;
    over.fillStyle = palette.ground;
    for (const lane of stage.lanes) {
      if (lane.track || lane.picture === "sectors") over.fillRect(GUTTER, lane.top, stage.width, lane.height);
    }
    over.globalAlpha = 1;
    const bars = this.#bars(chain);
    this.#links(chain, bars);
    for (const bar of bars.values()) this.#bar(chain, bar);
    this.#points(chain);
    over.restore();
  }

  /** The bars of a chain by "table row". */
  #bars(chain) {
    const { stage } = this;
    const bars = new Map();
    for (const lane of stage.lanes) {
      if (!lane.track) continue;
      for (const row of [...chain[lane.table]].slice(0, LIT)) {
        const bar = barOf(stage, lane, row);
        if (!bar) continue;
        const color = stage.palette.of(stage.run, lane.table, row);
        bars.set(`${lane.table} ${row}`, { table: lane.table, row, ...bar, color });
      }
    }
    return bars;
  }

  #bar(chain, bar) {
    const { stage } = this;
    const { over, ratio, palette } = stage;
    over.fillStyle = bar.color;
    over.fillRect(bar.left, bar.top, bar.right - bar.left, bar.bottom - bar.top);
    const chosen = bar.table === chain.table && bar.row === chain.row;
    if (chosen) {
      over.strokeStyle = palette.ink;
      over.lineWidth = 1.5;
      over.strokeRect(bar.left - 0.5, bar.top - 0.5, bar.right - bar.left + 1, bar.bottom - bar.top + 1);
      over.lineWidth = 1;
    }
    stage.text(over, bar.table, {
      ...bar,
      left: bar.left * ratio,
      right: bar.right * ratio,
      top: bar.top * ratio,
      bottom: bar.bottom * ratio,
    });
  }

  /** Draw lines from each row of the chain to its effects. */
  #links(chain, bars) {
    const { over, palette, run } = this.stage;
    const { commands, syncs, vfs } = run;
    const pairs = [];
    const link = (a, b) => {
      if (bars.has(a) && bars.has(b)) pairs.push([bars.get(a), bars.get(b)]);
    };
    for (const row of chain.vfs) link(`transactions ${vfs.transaction[row]}`, `vfs ${row}`);
    for (const row of chain.syncs) link(`vfs ${syncs.vfs_call[row]}`, `syncs ${row}`);
    for (const row of chain.commands) {
      const journal = commands.journal[row];
      const above = [
        journal >= 0 && `journal ${journal}`,
        `syncs ${commands.sync[row]}`,
        `vfs ${commands.vfs_call[row]}`,
        ...[...run.transactionsOf(row)].map((transaction) => `transactions ${transaction}`),
      ];
      const nearest = above.find((key) => bars.has(key));
      if (nearest) link(nearest, `commands ${row}`);
    }
    if (pairs.length > LINKS) return;
    over.lineWidth = 1;
    over.strokeStyle = mix(palette.ground, palette.soft, 0.75);
    over.beginPath();
    for (const [a, b] of pairs) {
      const x = Math.min(Math.max((b.left + b.right) / 2, a.left + 1), a.right - 1);
      over.moveTo(x, a.bottom);
      over.lineTo((b.left + b.right) / 2, b.top);
    }
    over.stroke();
  }

  #points(chain) {
    const { stage } = this;
    const { over, run, palette, view } = stage;
    const lane = stage.sectorLane();
    for (const command of [...chain.commands].slice(0, LIT)) {
      const [from, to] = [stage.x(run.commands.begin[command]), stage.x(run.commands.end[command])];
      if (to < GUTTER || from > GUTTER + stage.width) continue;
      for (const point of run.pointsOf.of(command)) {
        const y = stage.placeY(run.points.place[point]);
        if (y < lane.top || y > lane.top + lane.height + 4) continue;
        const high = Math.max((run.points.bytes[point] / 512 / (view.s1 - view.s0)) * lane.height, 4);
        const width = Math.max(to - from, 4);
        over.fillStyle = palette.ink;
        over.fillRect(from - 1, y - high - 1, width + 2, high + 2);
        over.fillStyle = palette.kinds[run.about.kinds[run.points.kind[point]]];
        over.fillRect(from, y - high, width, high);
      }
    }
  }
}
