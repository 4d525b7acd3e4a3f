// The timeline's drawing area: map times and sectors to pixels; draw lanes, axes and texts on one canvas,
// below the highlights on another.

import { mix, inkOn, pixel } from "./colors.mjs";
import { moment, ticks } from "./format.mjs";
import { labels, place } from "./lanes.mjs";
import { bytesOverTime, drawBytes } from "./overview.mjs";
import { Pixels } from "./pixels.mjs";
import { drawQueue } from "./queue.mjs";
import { drawSectors } from "./sectors.mjs";
import { drawTrack } from "./tracks.mjs";

// CSS pixels, for the names of the lanes; page.css has the same limit of a narrow window
export const GUTTER = innerWidth <= 640 ? 148 : 196;
const SECTORS_TITLE = 24; // CSS pixels at the top of the sectors: their name and switches
const FONT = '11px "Inter", "Helvetica Neue", Helvetica, Arial, sans-serif';

export class Stage {
  constructor(run, view, filter, palette, lanes) {
    Object.assign(this, { run, view, filter, palette, lanes });
    this.element = document.getElementById("stage");
    this.base = document.getElementById("base").getContext("2d", { alpha: false });
    this.over = document.getElementById("over").getContext("2d");
    this.widths = new Map();
    this.resize();
  }

  resize() {
    this.ratio = window.devicePixelRatio || 1;
    this.width = Math.max(this.element.clientWidth - GUTTER - 10, 50);
    this.height = place(this.lanes, this.element.clientHeight);
    for (const { canvas } of [this.base, this.over]) {
      canvas.width = Math.round((GUTTER + this.width + 10) * this.ratio);
      canvas.height = Math.round(this.height * this.ratio);
      canvas.style.width = `${GUTTER + this.width + 10}px`;
      canvas.style.height = `${this.height}px`;
    }
    if (this.pixels) this.pixels.resize();
    else this.pixels = new Pixels(this.base);
    this.bytes = null;
  }

  /** Drop the values kept from frame to frame: the filter or the theme changed. */
  forget() {
    this.bytes = null;
    this.run.pointLevels.forget();
    for (const { track } of this.lanes) track?.levels.forget();
  }

  x(time) {
    return GUTTER + ((time - this.view.t0) / this.view.span) * this.width;
  }

  /** The time that an x means in the overview, which always shows the whole run. */
  timeInRun(x) {
    return this.view.low + ((x - GUTTER) / this.width) * (this.view.high - this.view.low);
  }

  time(x) {
    return this.view.t0 + ((x - GUTTER) / this.width) * this.view.span;
  }

  sectorLane() {
    return this.lanes[this.lanes.length - 1];
  }

  /** The y of a place on the scale of sectors; placeAt is its inverse. */
  placeY(place) {
    const { top, height } = this.sectorLane();
    return top + height - ((place - this.view.s0) / (this.view.s1 - this.view.s0)) * height;
  }

  placeAt(y) {
    const { top, height } = this.sectorLane();
    return this.view.s0 + ((top + height - y) / height) * (this.view.s1 - this.view.s0);
  }

  /** A lane's box in device pixels. */
  box(lane) {
    const round = (value) => Math.round(value * this.ratio);
    const top = round(lane.top);
    return { left: round(GUTTER), top, width: round(this.width), height: round(lane.top + lane.height) - top };
  }

  draw() {
    const { pixels, palette, run, view, filter } = this;
    pixels.data.fill(pixel(palette.ground));
    const texts = [];
    for (const lane of this.lanes) {
      const box = this.box(lane);
      if (lane.picture !== "axis") {
        pixels.rect(box.left, box.top, box.left + box.width, box.top + box.height, pixel(palette.panel));
      }
      if (lane.track) {
        const colors = palette.list(run, lane.table);
        const bars = drawTrack(pixels, lane.track, box, view, filter.masks[lane.table], colors, palette);
        for (const bar of bars) texts.push([lane.table, bar]);
      } else {
        this.#picture(lane, box);
      }
    }
    pixels.put();
    this.base.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.base.font = FONT;
    this.base.textBaseline = "middle";
    if (run.commands.rows || run.transactions.rows) this.#axis();
    if (run.points.rows) this.#sectorAxis();
    this.#empty();
    this.#phases();
    for (const [table, bar] of texts) this.text(this.base, table, bar);
  }

  #picture(lane, box) {
    const { pixels, palette, run, view, filter } = this;
    if (lane.picture === "queue") drawQueue(pixels, lane.queue, box, view, palette);
    if (lane.picture === "sectors") {
      this.#grid(box);
      this.#gaps(box);
      drawSectors(pixels, run, box, view, filter.masks.points, palette, Math.round(1.6 * this.ratio));
    }
    if (lane.picture === "overview") {
      this.bytes ??= bytesOverTime(run, filter.masks.points, view, Math.max(Math.floor(this.width / 2), 1));
      drawBytes(pixels, run, this.bytes, box, palette);
    }
  }

  #grid(box) {
    const color = pixel(mix(this.palette.panel, this.palette.soft, 0.16));
    for (const time of this.ticks().marks) {
      const x = Math.round(this.x(time) * this.ratio);
      this.pixels.rect(x, box.top, x + 1, box.top + box.height, color);
    }
  }

  /** Show the ground where sectors that nothing touches are folded away. */
  #gaps(box) {
    const { touched } = this.run.folds;
    const limit = (y) => Math.min(Math.max(Math.round(y * this.ratio), box.top), box.top + box.height);
    for (let i = 1; i < touched.length; i++) {
      const below = touched[i - 1];
      const [high, low] = [this.placeY(touched[i].place), this.placeY(below.place + below.to - below.from)].map(limit);
      this.pixels.rect(box.left, high, box.left + box.width, low, pixel(this.palette.ground));
    }
  }

  ticks() {
    return ticks(this.view.t0, this.view.t1, this.width, 110);
  }

  #axis() {
    const { base, palette } = this;
    const lane = this.lanes.find((lane) => lane.picture === "axis");
    const { step, marks } = this.ticks();
    base.textAlign = "center";
    for (const time of marks) {
      const x = this.x(time);
      base.fillStyle = palette.line;
      base.fillRect(Math.round(x), lane.top + lane.height - 4, 1, 4);
      const text = moment(time, step);
      const half = base.measureText(text).width / 2;
      base.fillStyle = palette.soft;
      const at = Math.min(Math.max(x, GUTTER + half), GUTTER + this.width - half);
      base.fillText(text, at, lane.top + 8);
    }
  }

  #sectorAxis() {
    const { base, palette, view, run } = this;
    const lane = this.sectorLane();
    // the lane's name and its switches are above
    const within = (y) => y >= lane.top + SECTORS_TITLE && y <= lane.top + lane.height - 5;
    this.#devices(lane);
    let free = Infinity; // nothing is written below here yet
    base.textAlign = "right";
    base.fillStyle = palette.soft;
    for (const { from, to, place } of run.folds.touched) {
      const [low, high] = [this.placeY(place), this.placeY(place + to - from)];
      const [first, last] = [from + Math.max(view.s0 - place, 0), Math.min(to, from + view.s1 - place)];
      if (last <= first) continue;
      const { step, marks } = ticks(first * 512, last * 512, Math.max(low - high, 1), 40);
      for (const bytes of marks.length ? marks : [first * 512]) {
        const y = this.placeY(place + bytes / 512 - from);
        if (!within(y) || y > free) continue;
        base.fillText(offset(bytes, marks.length ? step : 1e5), GUTTER - 8, y);
        base.fillRect(GUTTER - 5, Math.round(y), 4, 1);
        free = y - 14;
      }
    }
  }

  /** Name each of several devices where its sectors begin. */
  #devices(lane) {
    const { base, palette, run } = this;
    if (run.devices.length < 2) return;
    const [top, bottom] = [lane.top + SECTORS_TITLE, lane.top + lane.height];
    base.textAlign = "left";
    base.fillStyle = palette.ink;
    run.folds.bases.forEach((place, device) => {
      const [low, high] = [place, run.folds.bases[device + 1] ?? run.folds.end].map((at) => this.placeY(at));
      if (high > bottom || low < top) return;
      base.fillText(run.devices[device], 13, Math.min(Math.max(low - 6, top), bottom - 6));
    });
  }

  #empty() {
    const { base, run, palette } = this;
    base.textAlign = "center";
    base.fillStyle = palette.soft;
    const nothing = { ...Object.fromEntries(this.lanes.map((lane) => [lane.picture, !run.points.rows])) };
    nothing.queue = !run.commands.rows;
    nothing.axis = false;
    for (const lane of this.lanes) {
      const none = lane.track ? !lane.track.begin.length : nothing[lane.picture];
      if (none) base.fillText("nothing", GUTTER + this.width / 2, lane.top + lane.height / 2);
    }
  }

  /** Name the phases that have no transactions; the transactions show the others. */
  #phases() {
    const { base, run, palette, view } = this;
    const lane = this.lanes.find((lane) => lane.table === "transactions");
    if (!lane) return; // of a trace alone
    for (let row = 0; row < run.phases.rows; row++) {
      const name = run.phases.text("phase", row);
      const left = this.x(Math.max(run.phases.begin[row], view.t0));
      const right = this.x(Math.min(run.phases.end[row], view.t1));
      if (run.phases.transactions[row] > 0 || this.#measure(base, name) + 8 > right - left) continue;
      base.fillStyle = palette.soft;
      base.fillText(name, (left + right) / 2, lane.top + lane.height / 2);
    }
  }

  /** Write the longest label that fits into a bar (device pixels). */
  text(context, table, { row, left, right, top, bottom, color }) {
    const room = (right - left) / this.ratio - 6;
    if ((bottom - top) / this.ratio < 10) return;
    context.font = FONT;
    const text = labels(this.run, table, row).find((text) => this.#measure(context, text) <= room);
    if (!text) return;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = inkOn(color);
    context.fillText(text, (left + right) / 2 / this.ratio, (top + bottom) / 2 / this.ratio + 0.5);
  }

  #measure(context, text) {
    let width = this.widths.get(text);
    if (width === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      width = context.measureText(text).width;
      this.widths.set(text, width);
    }
    return width;
  }
}

/** An offset on the device, with the digits that a step needs: "134.2 MB". */
function offset(bytes, step) {
  const [unit, name] = bytes >= 1e9 && step >= 1e6 ? [1e9, "GB"] : bytes >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  const digits = Math.min(Math.max(Math.ceil(Math.log10(unit / step) - 1e-9), 0), 4);
  return `${(bytes / unit).toFixed(digits)} ${name}`;
}
