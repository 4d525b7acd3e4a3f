// The inspect page as a whole: its state (view, filter, chosen row) and actions (zoom, step, choose).

import { Palette } from "./colors.mjs";
import { laneNames, switches } from "./controls.mjs";
import { Details } from "./details.mjs";
import { aroundCut } from "./cut.mjs";
import { byId } from "./dom.mjs";
import { Filter } from "./filter.mjs";
import { makeLanes } from "./lanes.mjs";
import { Highlight } from "./highlight.mjs";
import { Chain, CHOOSABLE } from "./run.mjs";
import { setScale } from "./sectors.mjs";
import { Stage } from "./stage.mjs";
import { svgOf } from "./svg.mjs";
import { lowerBound } from "./table.mjs";
import { Tables } from "./tables.mjs";
import { View } from "./view.mjs";

const THEMES = ["auto", "light", "dark"];

export class App {
  constructor(run) {
    this.run = run;
    this.palette = new Palette(run.about);
    this.view = new View(run, run.sectors);
    this.filter = new Filter(run);
    this.lanes = makeLanes(run);
    this.stage = new Stage(run, this.view, this.filter, this.palette, this.lanes);
    this.highlight = new Highlight(this.stage);
    this.details = new Details(this);
    this.tables = new Tables(this);
    this.chosen = null; // the Chain that was clicked
    this.hovered = null; // the Chain under the pointer
    this.pointerAt = null;
    this.box = null;
    this.stale = false; // the base must be drawn again
    this.isRequested = false; // a frame was requested
  }

  /** Request a frame: of everything with `base`, else of the overlay. */
  changed(base = false) {
    this.stale ||= base;
    if (this.isRequested) return;
    this.isRequested = true;
    requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.isRequested = false;
    if (this.stale) {
      this.stage.draw();
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.settled(), 150);
    }
    this.stale = false;
    this.highlight.draw(this.hovered ?? this.chosen, this.pointerAt, this.box);
  }

  /** Update the tables, which are slow to redo, and the address once the view has stopped moving. */
  settled() {
    this.tables.show();
    const parts = new URLSearchParams();
    if (!this.view.isWhole) {
      parts.set("from", Math.round(this.view.t0));
      parts.set("to", Math.round(this.view.t1));
    }
    if (this.chosen) parts.set(this.chosen.table, this.chosen.row);
    history.replaceState(null, "", `#${parts}`);
  }

  /** Highlight the chain of a row {table, row}, or of none. */
  hover(picked, at) {
    const same = picked && this.hovered?.table === picked.table && this.hovered?.row === picked.row;
    if (!same) this.hovered = picked && new Chain(this.run, picked.table, picked.row);
    this.pointerAt = at;
    this.changed();
  }

  /** Choose a row and list its chain; with `zoom`, show it. Null chooses nothing. */
  choose(table, row, zoom = false) {
    this.chosen = table === null ? null : new Chain(this.run, table, row);
    this.hovered = null;
    this.details.show(this.chosen);
    if (zoom && this.chosen) this.view.show(this.chosen.span());
    this.changed(true);
  }

  zoomToChosen() {
    if (this.chosen) this.view.show(this.chosen.span());
    this.changed(true);
  }

  /** Choose the next (1) or previous (-1) transaction that is shown. */
  step(by) {
    const { transactions } = this.run;
    const mask = this.filter.masks.transactions;
    const middle = lowerBound(transactions.begin, (this.view.t0 + this.view.t1) / 2) - (by > 0 ? 1 : 0);
    let row = this.chosen?.table === "transactions" ? this.chosen.row : middle;
    do row += by;
    while (row >= 0 && row < transactions.rows && !mask[row]);
    if (row < 0 || row >= transactions.rows) return;
    const far = transactions.begin[row] < this.view.t0 || transactions.end[row] > this.view.t1;
    this.choose("transactions", row, far || this.view.isWhole);
  }

  zoom(factor) {
    const at = this.pointerAt ? this.stage.time(this.pointerAt.x) : undefined;
    this.view.zoom(factor, at);
    this.changed(true);
  }

  pan(part) {
    this.view.pan(part * this.view.span);
    this.changed(true);
  }

  whole() {
    this.view.whole();
    this.view.allSectors();
    this.changed(true);
  }

  /** Show a trial's power cut, from the first transaction that it lost. */
  showCut() {
    if (this.run.about.cut) this.view.show(aroundCut(this.run));
    this.changed(true);
  }

  /** Fit the sectors to the points in view; again: all of them. */
  fitSectors() {
    const { view, run, filter } = this;
    const [s0, s1] = [view.s0, view.s1];
    view.allSectors();
    if (s0 === view.s0 && s1 === view.s1) {
      let [low, high] = [Infinity, 0];
      const { points } = run;
      const last = lowerBound(points.begin, view.t1);
      for (let i = lowerBound(points.reach, view.t0); i < last; i++) {
        if (!filter.masks.points[i]) continue;
        low = Math.min(low, points.place[i]);
        high = Math.max(high, points.place[i] + points.bytes[i] / 512);
      }
      const room = Math.max((high - low) * 0.04, 16);
      if (low < high) [view.s0, view.s1] = [low - room, high + room];
    }
    this.changed(true);
  }

  /** Fold the sectors that nothing touches, or show them all. */
  fold() {
    setScale(this.run, !this.run.folded);
    this.view.sectors = this.run.sectors;
    this.view.allSectors();
    laneNames(this);
    this.changed(true);
  }

  toggle(group, name, only, all) {
    this.filter.toggle(group, name, only, all);
    this.refilter();
  }

  showAll() {
    this.filter.reset();
    this.refilter();
  }

  refilter() {
    this.stage.forget();
    laneNames(this);
    switches(this);
    this.changed(true);
  }

  toggleTables() {
    this.tables.toggle();
    this.resize();
  }

  nextTheme() {
    const now = document.documentElement.dataset.theme ?? "auto";
    this.theme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
  }

  theme(name) {
    document.documentElement.dataset.theme = name;
    byId("theme").textContent = `theme: ${name}`;
    this.recolor();
  }

  recolor() {
    this.palette.read();
    this.refilter();
    this.details.show(this.chosen);
  }

  resize() {
    this.stage.resize();
    laneNames(this);
    this.changed(true);
  }

  /** Draw the view as SVG for a sheet of paper, light and as wide as it is, as Chromium prints no canvas that
   * changed before printing; or go back to the screen. */
  paper(isPaper) {
    const { body, documentElement } = document;
    if (isPaper) this.onScreen = documentElement.dataset.theme ?? "auto";
    body.classList.toggle("paper", isPaper);
    this.theme(isPaper ? "light" : this.onScreen);
    this.resize();
    byId("sheet").replaceChildren(...(isPaper ? [svgOf(this)] : []));
  }

  /** Show what the address names: from, to (ns), a chosen row, a table, a theme; else a trial's cut. */
  restore(address) {
    this.showCut();
    const given = new URLSearchParams(address.replace(/^#/, ""));
    const number = (name) => Number(given.get(name) ?? NaN);
    if (THEMES.includes(given.get("theme"))) this.theme(given.get("theme"));
    for (const table of CHOOSABLE) {
      const row = number(table);
      if (Number.isInteger(row) && row >= 0 && row < this.run[table].rows) {
        this.choose(table, row, !given.has("from"));
      }
    }
    if (number("from") < number("to")) this.view.set(number("from"), number("to"));
    if (given.has("tables")) this.toggleTables();
  }
}
