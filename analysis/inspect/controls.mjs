// Make the inspect page's lane names, filter switches and buttons, and handle its keyboard shortcuts.

import { byId, make, refill, swatch } from "./dom.mjs";
import { HOW, NO_OP } from "./filter.mjs";
import { search } from "./search.mjs";
import { GUTTER } from "./stage.mjs";
import { saveSvg } from "./svg.mjs";

const KEYS = [
  ["← →", "pan; with Shift, a whole view"],
  ["+ −  ↑ ↓", "zoom in, out"],
  ["0", "the whole run"],
  ["N  P", "next, previous transaction"],
  ["/", "go to a transaction by its number; c12: a block command; s4096: the first command of a sector"],
  ["/", "search for a file, a label or an operation: Enter goes to the next, with Shift to the previous"],
  ["F", "zoom to the selection"],
  ["Y", "fit the sectors to the view, and back"],
  ["G", "fold the sectors that nothing touches, or not"],
  ["C", "the power's cut, of a page of a trial"],
  ["T", "the tables behind the pictures"],
  ["S", "save the view as SVG"],
  ["Esc", "choose nothing"],
  ["wheel", "zoom; sideways, or with Alt, pan; with Shift over the sectors, zoom those"],
  ["drag", "pan; with Shift, zoom to a box; in the top picture, choose a part of the run"],
  ["click", "light up a chain and list it; double click zooms to it"],
  ["click on a lane", "hide or show that kind; with Shift, only that kind"],
];

/** Name the lanes; those of kinds are switches. */
export function laneNames(app) {
  const { palette, lanes, filter } = app;
  const kinds = lanes.filter((lane) => lane.kind).map((lane) => lane.kind);
  const made = lanes
    .filter((lane) => lane.name)
    .map((lane) => {
      const style = `top:${lane.top}px;height:${lane.picture === "sectors" ? 20 : lane.height}px;width:${GUTTER - 8}px`;
      if (lane.picture === "sectors") return sectorLane(app, style);
      const depth = lane.queue ? `, 0 to ${lane.queue.deepest}` : "";
      if (!lane.kind) return make("div", { class: "lane", style }, lane.name + depth);
      return make(
        "button",
        {
          class: "lane kind",
          style,
          "aria-pressed": String(filter.isOn("kind", lane.kind)),
          "data-kind": lane.kind,
          title: `hide or show; with Shift, only ${lane.kind}`,
          click: (event) => app.toggle("kind", lane.kind, event.shiftKey, kinds),
        },
        swatch(palette.kinds[lane.kind]),
        lane.name,
      );
    });
  refill(byId("lanes"), ...made);
}

function sectorLane(app, style) {
  const button = (text, title, act) => make("button", { title, click: act }, text);
  return make(
    "div",
    { class: "lane", style },
    "sectors",
    button("fit", "fit to the view, and back (Y)", () => app.fitSectors()),
    button(app.run.folded ? "unfold" : "fold", "what nothing touches (G)", () => app.fold()),
  );
}

/** Switches of operations and of how work is tied to a transaction. */
export function switches(app) {
  const { run, filter, palette } = app;
  const ops = [...(run.transactions.texts.op ?? []), NO_OP];
  const hows = Object.keys(HOW).filter((how) => run.commands.texts.how?.includes(how));
  const chip = (group, name, all, color, title) =>
    make(
      "button",
      {
        class: "chip",
        "aria-pressed": String(filter.isOn(group, name)),
        "data-switch": `${group} ${name}`,
        title,
        click: (event) => app.toggle(group, name, event.shiftKey, all),
      },
      color ? swatch(color) : null,
      name,
    );
  const parts = [];
  const title = (text) => parts.push(make("span", { class: "soft" }, text));
  if (!run.about.trace) {
    title("operation");
    parts.push(...ops.map((op) => chip("op", op, ops, palette.ops[op] ?? palette.soft, "with Shift, only this")));
  }
  if (hows.length) {
    title("work");
    parts.push(...hows.map((how) => chip("how", how, hows, null, HOW[how])));
  }
  if (filter.off.size) parts.push(make("button", { class: "chip", id: "all", click: () => app.showAll() }, "show all"));
  refill(byId("filters"), ...parts);
}

export function buttons(app) {
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("whole", () => app.whole());
  on("in", () => app.zoom(0.5));
  on("out", () => app.zoom(2));
  on("next", () => app.step(1));
  on("previous", () => app.step(-1));
  on("open", () => app.toggleTables());
  on("svg", () => saveSvg(app));
  on("theme", () => app.nextTheme());
  on("help", () => byId("keys").showModal());
  search(app);
  const rows = KEYS.map(([key, text]) => make("tr", {}, make("th", {}, key), make("td", {}, text)));
  byId("keys").append(
    make("table", {}, ...rows),
    make("form", { method: "dialog" }, make("button", {}, "close")),
  );
}

export function keys(app) {
  const acts = {
    ArrowLeft: (event) => app.pan(event.shiftKey ? -1 : -0.15),
    ArrowRight: (event) => app.pan(event.shiftKey ? 1 : 0.15),
    ArrowUp: () => app.zoom(0.6),
    ArrowDown: () => app.zoom(1 / 0.6),
    "+": () => app.zoom(0.6),
    "=": () => app.zoom(0.6),
    "-": () => app.zoom(1 / 0.6),
    0: () => app.whole(),
    Home: () => app.whole(),
    n: () => app.step(1),
    p: () => app.step(-1),
    f: () => app.zoomToChosen(),
    y: () => app.fitSectors(),
    g: () => app.fold(),
    c: () => app.showCut(),
    t: () => app.toggleTables(),
    s: () => saveSvg(app),
    "/": () => byId("goto").focus(),
    "?": () => byId("keys").showModal(),
    Escape: () => app.choose(null),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    if (event.target === byId("goto")) {
      if (event.key === "Escape") byId("stage").focus();
      return;
    }
    const scrolls = event.target.closest?.("#rows, #details");
    if (scrolls && event.key.startsWith("Arrow")) return;
    const act = acts[event.key] ?? acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
