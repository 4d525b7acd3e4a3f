// Colours of the inspect page: the theme's from page.css, those of kinds, files and operations from page.py;
// mix two, convert one to a pixel.

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** A colour between two: 0 is `a`, 1 is `b`. */
export function mix(a, b, part) {
  const [x, y] = [rgb(a), rgb(b)];
  const mixed = x.map((value, i) => Math.round(value + (y[i] - value) * part));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** The colour as one little-endian RGBA pixel. */
export function pixel(hex) {
  const [r, g, b] = rgb(hex);
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

function luminance(hex) {
  const [r, g, b] = rgb(hex).map((value) => (value / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Black or white, whichever can be read on the colour. */
export const inkOn = (hex) => (luminance(hex) > 0.3 ? "#000000" : "#ffffff");

const HATCHES = ["", "/", "\\", "-", "|", "/\\", "-|", "/-"]; // directions of their lines
const APART = 15; // least difference of CIE L* between distinguishable greys

/** A hatch for each colour, which makes those about as dark distinct in grey. */
export function hatches(colors) {
  const grey = (color) => 116 * Math.cbrt(luminance(color)) - 16;
  const made = new Map();
  for (const color of colors) {
    if (made.has(color)) continue;
    const alike = [...made].filter(([other]) => Math.abs(grey(other) - grey(color)) < APART).map(([, hatch]) => hatch);
    made.set(color, HATCHES.find((hatch) => !alike.includes(hatch)) ?? HATCHES[made.size % HATCHES.length]);
  }
  return made;
}

/** The colours in force: those of the stylesheet, and those of kinds, files and operations. */
export class Palette {
  constructor(about) {
    this.about = about;
    this.read();
  }

  /** Read the stylesheet again: the theme may have changed. */
  read() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ground", "ink", "soft", "line", "panel", "mark", "bad"]) {
      this[name] = style.getPropertyValue(`--${name}`).trim();
    }
    this.dark = inkOn(this.ground) === "#ffffff";
    const { kinds, files, ops } = this.about.colors;
    const fit = (colors) =>
      Object.fromEntries(
        Object.entries(colors).map(([name, color]) => [name, this.dark ? mix(color, "#ffffff", 0.14) : color]),
      );
    this.kinds = fit(kinds);
    this.files = fit(files);
    this.ops = fit(ops);
    this.script = fit({ script: "#A07855" });
    this.wal = fit({ "WAL checkpoint": "#2F6B4F" });
    this.journal = fit({ "journal commit": "#7B6FD0", checkpoint: "#CC79A7" });
  }

  /** The colour of a row of a table. */
  of(run, table, row) {
    const [column, colors] = COLORED[table];
    return this[colors][run[table].text(column, row)] ?? this.soft;
  }

  /** The colours of a column's texts, in the order of the texts. */
  list(run, table) {
    const [column, colors] = COLORED[table];
    return (run[table].texts[column] ?? []).map((text) => this[colors][text] ?? this.soft);
  }
}

export const COLORED = {
  transactions: ["op", "ops"],
  vfs: ["file", "files"],
  syncs: ["file", "files"],
  wal: ["what", "wal"],
  journal: ["what", "journal"],
  script: ["what", "script"],
  commands: ["kind", "kinds"],
};
