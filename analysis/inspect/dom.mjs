// Make HTML elements, colour swatches and bars. Text of a run is never parsed as HTML.

/** Make an element: make("b", {class: "x", click: f}, "text", child …). */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (key === "style") element.style.cssText = value;
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Replace an element's children. The focus passes from a button of them to the current one of the new,
 * else to the one in its place, so that the keyboard stays where it was. */
export function refill(element, ...children) {
  const buttons = () => [...element.querySelectorAll("button")];
  const at = buttons().indexOf(document.activeElement);
  element.replaceChildren(...children);
  if (at < 0) return;
  const next = element.querySelector("button[aria-current]") ?? buttons()[at] ?? buttons().at(-1) ?? byId("stage");
  next.focus();
}

/** A square of a colour. */
export function swatch(color) {
  return make("i", { class: "swatch", style: `background:${color}` });
}

/** Bars for shares of a whole: rows of {name, value, text, color}. */
export function bars(rows) {
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  const lines = rows.map(({ name, value, text, color }) =>
    make(
      "tr",
      {},
      make("th", {}, swatch(color), name),
      make("td", { class: "n" }, text),
      make("td", { class: "track" }, make("i", { style: `width:${(100 * value) / most}%;background:${color}` })),
    ),
  );
  return make("table", { class: "bars" }, ...lines);
}
