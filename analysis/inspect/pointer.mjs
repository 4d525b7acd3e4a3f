// Handle mouse and touch on the timeline: hover with a tooltip, click, drag, zoom to a box.

import { note } from "./details.mjs";
import { byId, make } from "./dom.mjs";
import { count, duration, moment, size } from "./format.mjs";
import { laneAt, pick } from "./pick.mjs";
import { depthAt } from "./queue.mjs";
import { GUTTER } from "./stage.mjs";

const STILL = 4; // CSS pixels that a click may move

export function pointer(app) {
  const { stage, view } = app;
  const { element } = stage;
  let drag = null;
  const at = (event) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  element.addEventListener("pointerdown", (event) => {
    const from = at(event);
    if (event.button !== 0 || from.x < GUTTER) return;
    element.setPointerCapture(event.pointerId);
    const lane = laneAt(stage, from.y);
    drag = { from, last: from, moved: false, box: event.shiftKey, overview: lane?.picture === "overview" };
    hide();
  });

  element.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (!drag) return hover(here, event);
    if (Math.hypot(here.x - drag.from.x, here.y - drag.from.y) > STILL) drag.moved = true;
    if (!drag.moved) return;
    if (drag.overview || drag.box) app.box = boxOf(stage, drag.from, here, drag.overview);
    else view.pan(-((here.x - drag.last.x) / stage.width) * view.span);
    drag.last = here;
    app.changed(!drag.overview && !drag.box);
  });

  element.addEventListener("pointerup", (event) => {
    const here = at(event);
    if (drag?.moved && (drag.overview || drag.box)) zoomToBox(app, drag, here);
    else if (drag && !drag.moved) click(here, drag);
    drag = null;
    app.box = null;
    app.changed(true);
  });

  element.addEventListener("pointercancel", () => {
    drag = null;
    app.box = null;
    app.changed();
  });

  element.addEventListener("pointerleave", () => {
    hide();
    app.hover(null, null);
  });

  element.addEventListener("dblclick", (event) => {
    const { x, y } = at(event);
    const picked = pick(stage, x, y);
    if (picked) app.choose(picked.table, picked.row, true);
    else if (x > GUTTER) app.whole();
  });

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      hide();
      const here = at(event);
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      const turn = sideways ? event.deltaX : event.deltaY;
      const factor = Math.exp(Math.min(Math.max(turn, -120), 120) * 0.003);
      if (event.shiftKey && laneAt(stage, here.y)?.picture === "sectors") {
        view.zoomSectors(factor, stage.placeAt(here.y));
      } else if (sideways || event.altKey || event.shiftKey) view.pan((turn / stage.width) * view.span);
      else view.zoom(factor, stage.time(here.x));
      app.changed(true);
    },
    { passive: false },
  );

  function click(here, { overview }) {
    if (overview) {
      const time = stage.timeInRun(here.x);
      view.set(time - view.span / 2, time + view.span / 2);
      return app.changed(true);
    }
    const picked = pick(stage, here.x, here.y);
    return picked ? app.choose(picked.table, picked.row) : app.choose(null);
  }

  function hover(here, event) {
    if (here.x < GUTTER || here.x > GUTTER + stage.width) {
      hide();
      return app.hover(null, null);
    }
    const picked = pick(stage, here.x, here.y);
    app.hover(picked, laneAt(stage, here.y)?.picture === "overview" ? null : here);
    show(picked ? lines(app, picked) : around(app, here), event);
  }
}

function boxOf(stage, a, b, overview) {
  const lane = stage.lanes[0];
  const [x, width] = [Math.max(Math.min(a.x, b.x), GUTTER), Math.abs(a.x - b.x)];
  if (overview) return { x, width, y: lane.top, height: lane.height };
  const sectors = a.y >= stage.sectorLane().top;
  const { top } = stage.lanes[1];
  const [y, height] = sectors ? [Math.min(a.y, b.y), Math.abs(a.y - b.y)] : [top, stage.height - top - 1];
  return { x, width, y, height, sectors };
}

function zoomToBox({ stage, view }, { from, overview }, here) {
  const box = boxOf(stage, from, here, overview);
  if (overview) return view.set(stage.timeInRun(box.x), stage.timeInRun(box.x + box.width));
  if (box.sectors && box.height > 6) {
    [view.s0, view.s1] = [stage.placeAt(box.y + box.height), stage.placeAt(box.y)];
  }
  return view.set(stage.time(box.x), stage.time(box.x + box.width));
}

/** The tip of a row: a title, and lines. */
function lines({ run }, { table, row }) {
  const { commands } = run;
  const took = `${duration(run[table].took[row])} from ${(run[table].begin[row] / 1e9).toFixed(6)} s`;
  const out = [run.label(table, row), took];
  if (table === "transactions") {
    const { bytes, flushes, syncs } = run.transactions;
    out.push(`${size(Math.max(bytes[row], 0))} written, ${syncs[row]} syncs, ${flushes[row]} flushes`);
  }
  out.push(note(run, table, row));
  if (table === "commands") {
    const causes = [...run.transactionsOf(row)].slice(0, 4).map((number) => run.label("transactions", number));
    if (commands.sector[row] >= 0) out.push(`at sector ${count(commands.sector[row])}`);
    out.push([commands.text("how", row), causes.join(", ")].filter(Boolean).join(": "));
  }
  return out;
}

/** The tip between rows: the time, and what the lane shows there. */
function around({ run, stage, view }, here) {
  const lane = laneAt(stage, here.y);
  if (lane?.picture === "overview") return aroundInRun(run, stage, here);
  const out = [moment(Math.max(stage.time(here.x), 0), view.span / stage.width)];
  if (lane?.picture === "sectors") {
    const place = stage.placeAt(here.y);
    const device = run.devices.length > 1 ? ` of ${run.devices[run.folds.device(place)]}` : "";
    out.push(`sector ${count(Math.round(run.folds.sector(place)))}${device}`);
  }
  if (lane?.picture === "queue") out.push(`${depthAt(lane.queue, stage.time(here.x))} commands at the device`);
  return out;
}

function aroundInRun(run, stage, here) {
  const { sums, totals, bins, step, low } = stage.bytes;
  const bin = Math.min(Math.max(Math.floor((stage.timeInRun(here.x) - low) / step), 0), bins - 1);
  const parts = run.about.kinds
    .map((kind, i) => [kind, sums[i * bins + bin]])
    .filter(([, bytes]) => bytes > 0)
    .map(([kind, bytes]) => `${kind} ${size(bytes)}`);
  return [`${size(totals[bin])} in ${duration(step)}`, `from ${moment(Math.max(low + bin * step, 0), step)}`, ...parts];
}

function show([title, ...rest], event) {
  const tip = byId("tip");
  tip.replaceChildren(make("b", {}, title), ...rest.filter(Boolean).map((text) => make("div", {}, text)));
  tip.hidden = false;
  const { offsetWidth, offsetHeight } = tip;
  const x = event.clientX + 14 + offsetWidth > innerWidth ? event.clientX - offsetWidth - 12 : event.clientX + 14;
  const y = event.clientY + 14 + offsetHeight > innerHeight ? event.clientY - offsetHeight - 12 : event.clientY + 14;
  tip.style.left = `${Math.max(x, 2)}px`;
  tip.style.top = `${Math.max(y, 2)}px`;
}

function hide() {
  byId("tip").hidden = true;
}
