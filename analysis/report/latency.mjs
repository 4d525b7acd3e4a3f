// Draw the report's latency curves in the browser; a stretch of time is enlarged by dragging over it.

const lines = JSON.parse(document.getElementById("latencies").textContent);
const place = document.getElementById("zoom");
const [all, slow] = place.querySelectorAll("button");
const output = place.querySelector("output");
const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [691, 230, 42, 680, 24, 200];
const least = Math.min(...lines.map(({ ms }) => ms[0]));
const most = Math.max(...lines.map(({ ms }) => ms.at(-1)));
let range = [least, most];
let drag = null;

function make(name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": "latency, enlarged" });

/** Return the share of a line's transactions that ended within so many ms. */
const share = (line, ms) => line.share[line.ms.findLastIndex((each) => each <= ms)] ?? 0;

/** Round steps of 1, 2 or 5 times a power of 10, about five of them. */
function ticks(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 5));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= (high - low) / 5);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, at) => +((first + at) * step).toPrecision(12));
}

// a logarithmic scale where the times of the range differ much
const scale = () => (range[0] > 0 && range[1] / range[0] > 8 ? Math.log : (ms) => ms);

function draw() {
  const [low, high] = range;
  const of = scale();
  const x = (ms) => LEFT + ((of(ms) - of(low)) / (of(high) - of(low) || 1)) * (RIGHT - LEFT);
  const before = lines.map((line) => share(line, low * (1 - 1e-9)));
  const [bottom, top] = [Math.min(...before), Math.max(...lines.map((line) => share(line, high)))];
  const y = (part) => BOTTOM - ((part - bottom) / (top - bottom || 1)) * (BOTTOM - TOP);
  svg.replaceChildren();
  const line = (points, look) => svg.append(make("polyline", { points: points.join(" "), fill: "none", ...look }));
  const faint = { stroke: "currentColor", "stroke-opacity": 0.15 };
  const decades = of === Math.log ? [1, 2, 5].flatMap((n) => Array.from({ length: 19 }, (_, at) => n * 10 ** (at - 6))) : ticks(low, high);
  for (const ms of decades.filter((each) => each >= low && each <= high)) {
    line([[x(ms), TOP], [x(ms), BOTTOM]], faint);
    svg.append(make("text", { x: x(ms), y: BOTTOM + 12, "text-anchor": "middle" }, +ms.toPrecision(6)));
  }
  for (const part of top > bottom ? ticks(bottom, top) : [top]) {
    line([[LEFT, y(part)], [RIGHT, y(part)]], faint);
    svg.append(make("text", { x: LEFT - 4, y: y(part) + 3, "text-anchor": "end" }, part));
  }
  svg.append(make("text", { x: (LEFT + RIGHT) / 2, y: HIGH - 4, "text-anchor": "middle" }, "latency, ms"));
  for (const [at, each] of lines.entries()) {
    const look = { stroke: each.color, "stroke-width": 1.6, "stroke-dasharray": ["", "6 2", "2 2", "6 2 2 2"][at % 4] };
    const points = [[LEFT, y(before[at])]];
    for (const [i, ms] of each.ms.entries()) if (ms >= low && ms <= high) points.push([x(ms), points.at(-1)[1]], [x(ms), y(each.share[i])]);
    line([...points, [RIGHT, points.at(-1)[1]]], look);
    const left = LEFT + (at * (RIGHT - LEFT)) / lines.length;
    line([[left, 9], [left + 18, 9]], look);
    svg.append(make("text", { x: left + 22, y: 12 }, `${each.op}: ${+(100 * (share(each, high) - before[at])).toPrecision(4)} %`));
  }
  output.textContent = `shares of the transactions that took ${low.toPrecision(4)} to ${high.toPrecision(4)} ms`;
}

/** Return the time at a pointer. */
function timeAt({ clientX }) {
  const box = svg.getBoundingClientRect();
  const part = (((clientX - box.left) / box.width) * WIDE - LEFT) / (RIGHT - LEFT);
  const [from, to] = range.map(scale());
  const at = from + Math.min(1, Math.max(0, part)) * (to - from);
  return scale() === Math.log ? Math.exp(at) : at;
}

function show(low, high) {
  range = low < high ? [low, high] : range;
  draw();
}

all.addEventListener("click", () => show(least, most));
slow.addEventListener("click", () => show(Math.min(...lines.map(({ ms, share }) => ms[share.findIndex((each) => each >= 0.9)])), most));
svg.addEventListener("pointerdown", (event) => {
  drag = timeAt(event);
  svg.setPointerCapture(event.pointerId);
});
svg.addEventListener("pointerup", (event) => {
  const times = [drag, timeAt(event)].sort((a, b) => a - b);
  drag = null;
  show(...times);
});
place.append(svg);
place.hidden = false;
draw();
