// The panel of text tables: the rows in view that pass the filter, to read, sort and copy.

import { byId, make, refill } from "./dom.mjs";
import { count } from "./format.mjs";
import { lowerBound } from "./table.mjs";

const SHOWN = 300;
// the text of a tab, and the heading of its rows' numbers
const TABS = {
  transactions: ["transactions", "transaction"],
  vfs: ["file operations", "call"],
  wal: ["WAL checkpoints", "checkpoint"],
  syncs: ["syncs", "sync"],
  journal: ["commits and checkpoints", "row"],
  script: ["script", "row"],
  commands: ["block commands", "command"],
  points: ["sectors"],
  queue: ["device queue"],
  bytes: ["bytes over time"],
};
const OF_TRACE = ["commands", "points", "queue", "bytes"];

export class Tables {
  constructor(app) {
    this.app = app;
    this.element = byId("tables");
    this.sorted = null; // {column, down}
    const names = app.run.about.trace ? OF_TRACE : Object.keys(TABS);
    this.name = names[0];
    const tab = (name) => make("button", { "data-table": name, click: () => this.open(name) }, TABS[name][0]);
    byId("tabs").append(...names.map(tab));
    byId("tsv").addEventListener("click", () => this.copy("\t"));
    byId("csv").addEventListener("click", () => this.copy(","));
  }

  get isOpen() {
    return !this.element.hidden;
  }

  open(name) {
    if (name !== this.name) this.sorted = null;
    this.name = name;
    this.show();
  }

  toggle() {
    this.element.hidden = !this.element.hidden;
    byId("open").setAttribute("aria-expanded", this.isOpen);
    this.show();
  }

  /** The open table in view: {rows, columns: {name: row => value}, choose?: row => [table, row]}. */
  contents() {
    const { run, view, filter } = this.app;
    if (this.name === "queue") return this.#queue();
    if (this.name === "bytes") return this.#bytes();
    const table = run[this.name];
    const mask = filter.masks[this.name];
    const reach = table.reach ?? table.end;
    const rows = range(0, lowerBound(table.begin, view.t1)).filter((row) => mask[row] && reach[row] >= view.t0);
    const begin = (row) => table.begin[row] + run.about.origin;
    if (this.name === "points") {
      const columns = {
        issue_ns: begin,
        sector: (row) => table.sector[row],
        bytes: (row) => table.bytes[row],
        label: (row) => run.about.kinds[table.kind[row]],
        command: (row) => table.command[row],
        transaction: (row) => run.commands.value("transaction", table.command[row]),
      };
      return { rows, columns, choose: (row) => ["commands", table.command[row]] };
    }
    const columns = { [TABS[this.name][1]]: (row) => row, begin_ns: begin, took_ns: (row) => table.took[row] };
    for (const column of ["transaction", ...table.columns]) {
      if (table[column] && column !== "begin" && column !== "took") columns[column] = (row) => table.value(column, row);
    }
    return { rows, columns, choose: (row) => [this.name, row] };
  }

  #queue() {
    const { run, view } = this.app;
    const rows = run.queues.flatMap(({ time, depth }, device) =>
      range(lowerBound(time, view.t0), lowerBound(time, view.t1)).map((i) => [run.devices[device], time[i], depth[i]]),
    );
    const times = { time_ns: ([, time]) => time + run.about.origin, commands: ([, , depth]) => depth };
    return { rows, columns: run.devices.length > 1 ? { device: ([device]) => device, ...times } : times };
  }

  #bytes() {
    const { kinds, origin } = this.app.run.about;
    const { sums, bins, step, low } = this.app.stage.bytes;
    const edge = (bin) => Math.round(low + bin * step) + origin;
    const columns = { begin_ns: edge, end_ns: (bin) => edge(bin + 1) };
    kinds.forEach((kind, i) => (columns[kind] = (bin) => sums[i * bins + bin]));
    return { rows: range(0, bins), columns };
  }

  #ordered() {
    const contents = this.contents();
    if (this.sorted) {
      const { column, down } = this.sorted;
      const keys = new Map(contents.rows.map((row) => [row, contents.columns[column](row)]));
      const sign = down ? -1 : 1;
      contents.rows.sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    }
    return contents;
  }

  /** Show the first rows of the table. */
  show() {
    if (!this.isOpen) return;
    for (const tab of byId("tabs").children) tab.setAttribute("aria-current", tab.dataset.table === this.name);
    const { columns, rows, choose } = this.#ordered();
    const head = Object.keys(columns).map((column) => {
      const isSorted = this.sorted?.column === column;
      const mark = isSorted ? (this.sorted.down ? " ↓" : " ↑") : "";
      const click = () => {
        this.sorted = { column, down: !(isSorted && this.sorted.down) };
        this.show();
      };
      const sort = isSorted && (this.sorted.down ? "descending" : "ascending");
      return make("th", { "aria-sort": sort }, make("button", { click }, column + mark));
    });
    const lines = rows.slice(0, SHOWN).map((row) => {
      const cells = Object.values(columns).map((value, i) => {
        const cell = value(row);
        const text = String(cell ?? "–");
        // the row's own click chooses it
        const shown = choose && i === 0 ? make("button", {}, text) : text;
        return make("td", typeof cell === "number" ? { class: "n" } : {}, shown);
      });
      return make("tr", choose ? { click: () => this.app.choose(...choose(row), true) } : {}, ...cells);
    });
    refill(byId("rows"), make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines)));
    const more = rows.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    byId("count").textContent = `${count(rows.length)} rows in view${more}`;
  }

  /** All rows as text, one line each. */
  text(separator) {
    const { columns, rows } = this.#ordered();
    const field = (cell) => {
      const text = String(cell ?? "");
      return separator === "," && /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const values = Object.values(columns);
    const lines = rows.map((row) => values.map((value) => field(value(row))).join(separator));
    return `${[Object.keys(columns).map(field).join(separator), ...lines].join("\n")}\n`;
  }

  async copy(separator) {
    const text = this.text(separator);
    await navigator.clipboard.writeText(text);
    const button = byId(separator === "," ? "csv" : "tsv");
    const label = button.textContent;
    button.textContent = `copied ${count(text.split("\n").length - 2)} rows`;
    button.disabled = true;
    setTimeout(() => {
      button.textContent = label;
      button.disabled = false;
    }, 1200);
  }
}

function range(from, to) {
  return Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
}

/** Order numbers, texts and nulls, these first. */
function compare(a, b) {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return a < b ? -1 : 1;
}
