// Save the timeline as SVG: a substitute for a canvas context records the drawing calls as SVG elements.

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

/** The methods of a canvas context that the stage uses, in CSS pixels; they add elements to `group`. */
class SvgContext {
  constructor(context, ratio) {
    this.group = svgElement("g", {});
    Object.assign(this, { context, ratio, canvas: context.canvas, into: this.group });
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
    const look = { fill: this.fillStyle, "fill-opacity": this.globalAlpha };
    if (width > 0) this.into.append(svgElement("rect", { x, y, width, height, ...look }));
  }

  fillText(text, x, y) {
    const look = { fill: this.fillStyle, "text-anchor": ANCHORS[this.textAlign], "dominant-baseline": "central" };
    this.into.append(svgElement("text", { x, y, ...look }, text));
  }

  measureText(text) {
    this.context.font = this.font;
    return this.context.measureText(text);
  }

  /** Add a rectangle for each area of one colour, but for the ground, which the first pixel has. */
  putImageData({ data, width, height }) {
    const pixels = new Uint32Array(data.buffer);
    const areas = svgElement("g", { transform: `scale(${1 / this.ratio})`, "shape-rendering": "crispEdges" });
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
        const fill = `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
        areas.append(svgElement("rect", { x, y: top, width: to - x, height: y - top, fill }));
      }
      open = stretches;
    }
    this.into.append(areas);
  }
}

/** The lanes' names, which the page has as elements of its own. */
function svgNames({ lanes, palette, height }) {
  const names = svgElement("svg", { width: GUTTER - 8, height, "dominant-baseline": "central", fill: palette.ink });
  for (const { name, kind, top, height: tall, picture } of lanes) {
    const y = top + (picture === "sectors" ? 20 : tall) / 2;
    if (kind) names.append(svgElement("rect", { x: 13, y: y - 4.5, width: 9, height: 9, fill: palette.kinds[kind] }));
    names.append(svgElement("text", { x: kind ? 28 : 13, y }, name));
  }
  return names;
}

/** The view as an SVG element, with the chosen row's chain. */
export function svgOf({ stage, highlight, chosen, run }) {
  const { base, over, pixels, ratio, palette, height } = stage;
  const [below, above] = [base, over].map((context) => new SvgContext(context, ratio));
  try {
    [stage.base, stage.over, pixels.context] = [below, above, below];
    stage.draw();
    highlight.draw(chosen, null, null);
  } finally {
    [stage.base, stage.over, pixels.context] = [base, over, base];
  }
  const width = base.canvas.width / ratio;
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  const svg = svgElement("svg", { ...size, "font-family": "Helvetica, Arial, sans-serif", "font-size": 11 });
  svg.append(svgElement("title", {}, run.about.cell ?? document.title));
  svg.append(svgElement("rect", { width, height, fill: palette.ground }), below.group, above.group, svgNames(stage));
  return svg;
}

export const svgText = (app) => new XMLSerializer().serializeToString(svgOf(app));

export function saveSvg(app) {
  const href = URL.createObjectURL(new Blob([svgText(app)], { type: "image/svg+xml" }));
  make("a", { href, download: `${app.run.about.run ?? "trace"}.svg` }).click();
}
