// The scale of sectors. A run touches few places of a device, far apart: stretches that nothing
// touches are folded to a thin gap, unless the reader wants the true scale.

const UNTOUCHED = 0.03; // of all sectors: what is longer and untouched is folded
const PARTS = 4096; // of all sectors, in which gaps are looked for: much shorter than any that is folded
const GAP = 0.02; // of the folded scale: what a fold takes
const LEAST_DEVICE = 0.1; // of all devices' scales: what a device takes at least, so that its name has room

/** Places on a scale on which `sectors` with their `ends` (both in no order) are near each other. */
export class Folds {
  constructor(sectors, ends, folded) {
    const touched = stretches(sectors, ends, folded);
    const length = touched.reduce((sum, { from, to }) => sum + to - from, 0) || 1;
    const gap = Math.ceil(length * GAP); // places of whole sectors are whole
    let place = 0;
    for (const stretch of touched) {
      stretch.place = place;
      place += stretch.to - stretch.from + gap;
    }
    this.touched = touched;
    this.end = Math.max(place - gap, 1);
  }

  /** The place of a sector. */
  place(sector) {
    const { touched } = this;
    let at = touched.length - 1;
    while (at > 0 && touched[at].from > sector) at--;
    const { from, to, place } = touched[at];
    return place + Math.min(sector, to) - from;
  }

  /** The sector at a place; in a gap, that before it. */
  sector(place) {
    const { touched } = this;
    let at = touched.length - 1;
    while (at > 0 && touched[at].place > place) at--;
    return Math.min(touched[at].from + place - touched[at].place, touched[at].to);
  }
}

/** The scales of several devices, one above the other; a device is a number. */
export class Scales {
  constructor(folds) {
    this.folds = folds;
    const length = folds.reduce((sum, { end }) => sum + end, 0);
    let base = 0;
    this.bases = folds.map(({ end }) => {
      const mine = base;
      base += Math.max(end, Math.ceil(length * LEAST_DEVICE)) + Math.ceil(length * 2 * GAP);
      return mine;
    });
    this.end = this.bases.at(-1) + Math.max(folds.at(-1).end, folds.length > 1 ? Math.ceil(length * LEAST_DEVICE) : 0);
    this.touched = folds.flatMap(({ touched }, device) =>
      touched.map(({ from, to, place }) => ({ from, to, place: this.bases[device] + place, device })),
    );
  }

  /** The place of a device's sector. */
  place(sector, device = 0) {
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

/** Stretches of sectors with no long untouched part in them: [{from, to}]. */
function stretches(sectors, ends, folded) {
  if (!sectors.length) return [{ from: 0, to: 1 }];
  const first = sectors.reduce((least, sector) => Math.min(least, sector), Infinity);
  const last = ends.reduce((most, end) => Math.max(most, end), 0);
  const longest = folded ? Math.max((last - first) * UNTOUCHED, 2048) : Infinity;
  const lows = new Float64Array(PARTS).fill(Infinity);
  const highs = new Float64Array(PARTS);
  const unit = PARTS / (last - first + 1);
  for (let i = 0; i < sectors.length; i++) {
    const part = Math.min(Math.floor((sectors[i] - first) * unit), PARTS - 1); // 1 is lost in large numbers
    if (sectors[i] < lows[part]) lows[part] = sectors[i];
    if (ends[i] > highs[part]) highs[part] = ends[i];
  }
  const found = [{ from: first, to: first }];
  for (let part = 0; part < PARTS; part++) {
    const now = found[found.length - 1];
    if (lows[part] === Infinity) continue;
    if (lows[part] - now.to > longest) found.push({ from: lows[part], to: highs[part] });
    else now.to = Math.max(now.to, highs[part]);
  }
  return found;
}
