// Map sectors to places on the sector axis: untouched stretches are folded to thin gaps, devices stacked.

const GAP = 0.02; // of the folded scale: the length of a fold
const LEAST_DEVICE = 0.1; // of all devices' scales: the shortest of a device, so that its name has room

/** The scale of one device; `touched` are stretches of its sectors, [from, to] in order. */
export class Folds {
  constructor(touched) {
    const length = touched.reduce((sum, [from, to]) => sum + to - from, 0) || 1;
    const gap = Math.ceil(length * GAP); // places of whole sectors are whole
    let next = 0;
    this.touched = touched.map(([from, to]) => {
      const place = next;
      next += to - from + gap;
      return { from, to, place };
    });
    this.end = Math.max(next - gap, 1);
  }

  /** The place of a sector. */
  place(sector) {
    const { from, to, place } = this.#last((stretch) => stretch.from <= sector);
    return place + Math.min(sector, to) - from;
  }

  /** The sector at a place; in a gap, the one before it. */
  sector(at) {
    const { from, to, place } = this.#last((stretch) => stretch.place <= at);
    return Math.min(from + at - place, to);
  }

  #last(isBefore) {
    return this.touched.findLast(isBefore) ?? this.touched[0];
  }
}

/** The scales of several devices, one above the other; a device is a number. */
export class Scales {
  constructor(folds) {
    this.folds = folds;
    const length = folds.reduce((sum, { end }) => sum + end, 0);
    const least = folds.length > 1 ? Math.ceil(length * LEAST_DEVICE) : 0;
    this.end = -Math.ceil(length * 2 * GAP);
    this.bases = folds.map(({ end }) => {
      const base = this.end + Math.ceil(length * 2 * GAP);
      this.end = base + Math.max(end, least);
      return base;
    });
    this.touched = folds.flatMap(({ touched }, device) =>
      touched.map(({ from, to, place }) => ({ from, to, place: this.bases[device] + place })),
    );
  }

  /** The place of a device's sector. */
  place(sector, device) {
    return this.bases[device] + this.folds[device].place(sector);
  }

  /** The device at a place; between two, the lower. */
  device(place) {
    return Math.max(this.bases.findLastIndex((base) => base <= place), 0);
  }

  /** The sector at a place of that device. */
  sector(place) {
    const device = this.device(place);
    return this.folds[device].sector(place - this.bases[device]);
  }
}
