// Cache levels of detail: sums over equal time bins, drawn in place of rows when the view has too many.

const FINEST = 1 << 15; // bins of the whole run; where finer ones were needed, the view has few rows
const PER_COLUMN = 2; // bins of a column of pixels, at least

export class Levels {
  /** `build(bins, step, low, mask)` makes one level: `bins` bins of `step` ns, the first at `low`. */
  constructor(build) {
    this.build = build;
    this.made = new Map();
  }

  /** Drop all levels: the filter changed. */
  forget() {
    this.made.clear();
  }

  /** The level for a view drawn into `width` columns; null where rows are drawn one by one. */
  at(view, width, mask) {
    const whole = view.high - view.low;
    const bins = 2 ** Math.ceil(Math.log2((PER_COLUMN * width * whole) / view.span));
    if (bins > FINEST) return null;
    if (!this.made.has(bins)) {
      const step = whole / bins;
      this.made.set(bins, { bins, step, low: view.low, ...this.build(bins, step, view.low, mask) });
    }
    return this.made.get(bins);
  }
}

/** Call `visit(bin, column)` for each bin of a level that begins in the view. */
export function eachBin(level, view, width, visit) {
  const { bins, step, low } = level;
  const scale = width / view.span;
  const last = Math.min(Math.ceil((view.t1 - low) / step), bins);
  for (let bin = Math.max(Math.floor((view.t0 - low) / step), 0); bin < last; bin++) {
    const column = Math.floor((low + (bin + 0.5) * step - view.t0) * scale);
    if (column >= 0 && column < width) visit(bin, column);
  }
}
