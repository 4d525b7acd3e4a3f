// Save the timeline as SVG: a substitute for a canvas context records the drawing calls as SVG elements.
// Colours of the run's rows are hatched, to be distinct in grey.

import { hatches, inkOn, pixel } from "./colors.mjs";
import { make } from "./dom.mjs";
import { GUTTER } from "./stage.mjs";

const NAMESPACE = "http://www.w3.org/2000/svg";
// What no XML document may have: it is drawn as the character that stands for an unknown one.
const UNFIT = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu;
const ANCHORS = { left: "start", center: "middle", right: "end" };

function svgElement(name, attributes, ...children) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === "string" ? child.replace(UNFIT, "\ufffd") : child)));
  return made;
}

const SPACE = 6; // between the lines of a hatch

function multiples(low, high) {
  const first = Math.floor(low / SPACE) + 1;
  return Array.from({ length: Math.max(Math.ceil(high / SPACE) - first, 0) }, (_, i) => (first + i) * SPACE);
}

// The lines within a rectangle, by direction. Not a <pattern>: Chromium prints that as an image of the whole page.
const LINES = {
  "-": (x0, y0, x1, y1) => multiples(y0, y1).map((y) => `M${x0} ${y}H${x1}`),
  "|": (x0, y0, x1, y1) => multiples(x0, x1).map((x) => `M${x} ${y0}V${y1}`),
  "/": (x0, y0, x1, y1) =>
    multiples(x0 + y0, x1 + y1).map((sum) => {
      const [from, to] = [Math.max(x0, sum - y1), Math.min(x1, sum - y0)];
      return `M${from} ${sum - from}L${to} ${sum - to}`;
    }),
  "\\": (x0, y0, x1, y1) =>
    multiples(y0 - x1, y1 - x0).map((off) => {
      const [from, to] = [Math.max(x0, y0 - off), Math.min(x1, y1 - off)];
      return `M${from} ${from + off}L${to} ${to + off}`;
    }),
};

/** The hatch of rectangles [x0, y0, x1, y1], as elements: none or one. */
function hatched(color, hatch, boxes) {
  if (!hatch) return [];
  const d = boxes.flatMap((box) => [...hatch].flatMap((line) => LINES[line](...box))).join("");
  return [svgElement("path", { d, stroke: inkOn(color), "stroke-opacity": 0.5, "data-hatch": hatch })];
}

/** The methods of a canvas context that the stage uses, in CSS pixels; they add elements to `group`. */
class SvgContext {
  /** hatch: pixel of a colour → [the colour, its hatch]. */
  constructor(context, ratio, hatch) {
    this.group = svgElement("g", {});
    Object.assign(this, { context, ratio, hatch, canvas: context.canvas, into: this.group });
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, dash: [] });
  }

  setTransform() {}

  clearRect() {}

  save() {}

  restore() {
    this.into = this.group;
  }

  rect(x, y, width, height) {
    this.box = { x, y, width, height };
  }

  clip() {
    const { x, y, width, height } = this.box;
    this.into = svgElement("svg", { ...this.box, viewBox: `${x} ${y} ${width} ${height}` });
    this.group.append(this.into);
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${x} ${y}`;
  }

  lineTo(x, y) {
    this.path += `L${x} ${y}`;
  }

  stroke() {
    this.#outline("path", { d: this.path });
  }

  strokeRect(x, y, width, height) {
    this.#outline("rect", { x, y, width, height });
  }

  #outline(name, shape) {
    const line = { stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash.join(" ") };
    this.into.append(svgElement(name, { ...shape, ...line, fill: "none" }));
  }

  fillRect(x, y, width, height) {
    if (width <= 0) return;
    const look = { fill: this.fillStyle, "fill-opacity": this.globalAlpha };
    const hatch = this.hatch.get(pixel(this.fillStyle)) ?? [];
    this.into.append(svgElement("rect", { x, y, width, height, ...look }), ...hatched(...hatch, [[x, y, x + width, y + height]]));
  }

  fillText(text, x, y) {
    const look = { fill: this.fillStyle, "text-anchor": ANCHORS[this.textAlign], "dominant-baseline": "central" };
    this.into.append(svgElement("text", { x, y, ...look }, text));
  }

  measureText(text) {
    this.context.font = this.font;
    return this.context.measureText(text);
  }

  /** Add a path for each colour, of rectangles, but for the ground, which the first pixel has. */
  putImageData({ data, width, height }) {
    const pixels = new Uint32Array(data.buffer);
    const areas = new Map(); // colour: boxes
    let open = new Map(); // "from to colour" of a row's stretches: the first row that has it
    for (let y = 0; y <= height; y++) {
      const stretches = new Map();
      for (let x = 0, to; x < width && y < height; x = to) {
        const color = pixels[y * width + x];
        for (to = x + 1; to < width && pixels[y * width + to] === color; ) to++;
        const key = `${x} ${to} ${color}`;
        if (color !== pixels[0]) stretches.set(key, open.get(key) ?? y);
      }
      for (const [key, top] of open) {
        if (stretches.has(key)) continue;
        const [x, to, color] = key.split(" ").map(Number);
        if (!areas.has(color)) areas.set(color, []);
        areas.get(color).push([x, top, to, y]);
      }
      open = stretches;
    }
    const into = svgElement("g", { transform: `scale(${1 / this.ratio})` });
    for (const [color, boxes] of areas) {
      const fill = `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
      const d = boxes.map(([x, top, to, y]) => `M${x} ${top}H${to}V${y}H${x}Z`).join("");
      into.append(svgElement("path", { d, fill, "shape-rendering": "crispEdges" }));
      into.append(...hatched(...(this.hatch.get(color) ?? []), boxes));
    }
    this.into.append(into);
  }
}

/** [name, colour] of the run's operations and files, which no lane names. */
function unnamed({ run: { transactions, vfs, syncs }, palette }) {
  const known = (colors, texts) => [...new Set(texts)].filter((name) => colors[name]).map((name) => [name, colors[name]]);
  const files = [vfs, syncs].flatMap((table) => table.texts.file ?? []);
  return [...known(palette.ops, transactions.texts.op), ...known(palette.files, files)];
}

/** Pixel of each colour of the run's rows → [the colour, its hatch]. */
function hatchesOf(stage) {
  const { lanes, run, palette } = stage;
  const labels = Array.from(new Set(run.points.kind), (kind) => run.about.kinds[kind]);
  const kinds = [...lanes.map((lane) => lane.kind), ...labels].map((kind) => palette.kinds[kind]);
  const others = ["wal", "journal", "script"].flatMap((table) => palette.list(run, table));
  const colors = [...kinds, ...unnamed(stage).map(([, color]) => color), ...others].filter(Boolean);
  return new Map([...hatches(colors)].map(([color, hatch]) => [pixel(color), [color, hatch]]));
}

/** A square of a legend, and its text. */
function svgEntry(x, y, name, color, hatch) {
  const box = [x, y - 4.5, x + 9, y + 4.5];
  const square = svgElement("rect", { x, y: y - 4.5, width: 9, height: 9, fill: color });
  return [square, ...hatched(...hatch.get(pixel(color)), [box]), svgElement("text", { x: x + 15, y }, name)];
}

/** The lanes' names, which the page has as elements of its own. */
function svgNames({ lanes, palette, height }, hatch) {
  const names = svgElement("svg", { width: GUTTER - 8, height, "dominant-baseline": "central", fill: palette.ink });
  for (const { name, kind, top, height: tall, picture } of lanes) {
    const y = top + (picture === "sectors" ? 20 : tall) / 2;
    if (kind) names.append(...svgEntry(13, y, name, palette.kinds[kind], hatch));
    else names.append(svgElement("text", { x: 13, y }, name));
  }
  return names;
}

/** The legend of operations and files below the lanes, and its bottom. */
function svgLegend(stage, hatch, width) {
  const legend = svgElement("g", { "dominant-baseline": "central", fill: stage.palette.ink });
  let [x, y] = [13, stage.height + 8];
  for (const [name, color] of unnamed(stage)) {
    const wide = stage.base.measureText(name).width + 30;
    if (x + wide > width) [x, y] = [13, y + 16];
    legend.append(...svgEntry(x, y, name, color, hatch));
    x += wide;
  }
  return [legend, y + 8];
}

/** The view as an SVG element, with the chosen row's chain. */
export function svgOf({ stage, highlight, chosen, run }) {
  const { base, over, pixels, ratio, palette } = stage;
  const hatch = hatchesOf(stage);
  const [below, above] = [base, over].map((context) => new SvgContext(context, ratio, hatch));
  try {
    [stage.base, stage.over, pixels.context] = [below, above, below];
    stage.draw();
    highlight.draw(chosen, null, null);
  } finally {
    [stage.base, stage.over, pixels.context] = [base, over, base];
  }
  const width = base.canvas.width / ratio;
  const [legend, height] = svgLegend(stage, hatch, width);
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  const svg = svgElement("svg", { ...size, "font-family": "Helvetica, Arial, sans-serif", "font-size": 11 });
  svg.append(svgElement("title", {}, run.about.cell ?? document.title));
  svg.append(svgElement("rect", { width, height, fill: palette.ground }), below.group, above.group);
  svg.append(svgNames(stage, hatch), legend);
  return svg;
}

export const svgText = (app) => new XMLSerializer().serializeToString(svgOf(app));

export function saveSvg(app) {
  const href = URL.createObjectURL(new Blob([svgText(app)], { type: "image/svg+xml" }));
  make("a", { href, download: `${app.run.about.run ?? "trace"}.svg` }).click();
}
