// The visible range of time and sectors: set, zoom and pan it within the run.

const SHORTEST = 200; // ns

/** Times in ns since the run's origin, places on the scale of sectors (folds.mjs). */
export class View {
  constructor(run, sectors) {
    const margin = (run.end - run.begin) * 0.004 || 1;
    this.low = run.begin - margin;
    this.high = run.end + margin;
    this.sectors = sectors;
    this.whole();
    this.allSectors();
  }

  get span() {
    return this.t1 - this.t0;
  }

  get isWhole() {
    return this.t0 === this.low && this.t1 === this.high;
  }

  whole() {
    [this.t0, this.t1] = [this.low, this.high];
  }

  allSectors() {
    [this.s0, this.s1] = this.sectors;
  }

  /** Show t0 to t1, no shorter than a command and no longer than the run. */
  set(t0, t1) {
    const span = Math.min(Math.max(t1 - t0, SHORTEST), this.high - this.low);
    const begin = (t0 + t1 - span) / 2;
    this.t0 = Math.min(Math.max(begin, this.low), this.high - span);
    this.t1 = this.t0 + span;
  }

  /** Make the span `factor` times as long, with `at` staying where it is. */
  zoom(factor, at = (this.t0 + this.t1) / 2) {
    const span = Math.min(Math.max(this.span * factor, SHORTEST), this.high - this.low);
    const before = ((at - this.t0) / this.span) * span;
    this.set(at - before, at - before + span);
  }

  pan(ns) {
    const move = Math.min(Math.max(ns, this.low - this.t0), this.high - this.t1);
    this.t0 += move;
    this.t1 += move;
  }

  zoomSectors(factor, at) {
    const [low, high] = this.sectors;
    const span = Math.min(Math.max((this.s1 - this.s0) * factor, 64), high - low);
    const begin = at - ((at - this.s0) / (this.s1 - this.s0)) * span;
    this.s0 = Math.min(Math.max(begin, low), high - span);
    this.s1 = this.s0 + span;
  }

  /** Show a stretch with some room on both sides. */
  show([begin, end], room = 0.15) {
    const margin = Math.max((end - begin) * room, 500);
    this.set(begin - margin, end + margin);
  }
}
