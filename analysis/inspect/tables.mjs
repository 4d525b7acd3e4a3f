// The tables behind the pictures: what is in the view and passes the filter, to read and to copy.

import { byId, make } from "./dom.mjs";
import { count } from "./format.mjs";
import { lowerBound } from "./table.mjs";

const SHOWN = 300;
const NAMES = {
  transactions: "transactions",
  vfs: "file operations",
  syncs: "syncs",
  journal: "commits and checkpoints",
  script: "script",
  commands: "block commands",
  points: "sectors",
  queue: "device queue",
  bytes: "bytes over time",
};
const OF_TRACE = ["commands", "points", "queue", "bytes"];

export class Tables {
  constructor(app) {
    this.app = app;
    this.element = byId("tables");
    this.name = app.run.about.trace ? "commands" : "transactions";
    this.sorted = null; // {column, down}
    // a trace alone has no others
    const shown = Object.entries(NAMES).filter(([name]) => !app.run.about.trace || OF_TRACE.includes(name));
    const tabs = shown.map(([name, text]) =>
      make("button", { role: "tab", "data-table": name, click: () => this.open(name) }, text),
    );
    byId("tabs").append(...tabs);
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

  /** {columns, rows, value(column index, row), row(row) → what it chooses}. */
  contents() {
    const { run, view, filter } = this.app;
    const { origin } = run.about;
    if (this.name === "queue") {
      const rows = run.queues.flatMap(({ time, depth }, device) =>
        range(lowerBound(time, view.t0), lowerBound(time, view.t1)).map((row) => [
          ...(run.devices.length > 1 ? [run.devices[device]] : []),
          ...[time[row] + origin, depth[row]],
        ]),
      );
      const columns = [...(run.devices.length > 1 ? ["device"] : []), "time_ns", "commands"];
      return { columns, rows, value: (i, row) => row[i] };
    }
    if (this.name === "bytes") return this.#bytes();
    const table = run[this.name];
    const mask = filter.masks[this.name];
    const reach = table.reach ?? table.end;
    const rows = range(0, lowerBound(table.begin, view.t1)).filter((row) => mask[row] && reach[row] >= view.t0);
    if (this.name === "points") return this.#points(rows);
    const rest = table.columns.filter((column) => !["begin", "took", "transaction"].includes(column));
    const columns = [this.name === "transactions" ? "transaction" : NUMBERS[this.name], "begin_ns", "took_ns"];
    if (this.name !== "transactions" && table.transaction) columns.push("transaction");
    const value = (i, row) => {
      const column = [...columns.slice(0, columns.length), ...rest][i];
      if (i === 0) return row;
      if (column === "begin_ns") return table.begin[row] + origin;
      if (column === "took_ns") return table.took[row];
      return table.value(column, row);
    };
    return { columns: [...columns, ...rest], rows, value, choose: (row) => [this.name, row] };
  }

  #points(rows) {
    const { points, commands, about } = this.app.run;
    const columns = ["issue_ns", "sector", "bytes", "label", "command", "transaction"];
    const value = (i, row) => {
      const command = points.command[row];
      return [
        () => points.begin[row] + about.origin,
        () => points.sector[row],
        () => points.bytes[row],
        () => about.kinds[points.kind[row]],
        () => command,
        () => commands.value("transaction", command),
      ][i]();
    };
    return { columns, rows, value, choose: (row) => ["commands", points.command[row]] };
  }

  #bytes() {
    const { kinds, origin } = this.app.run.about;
    const { sums, bins, step, low } = this.app.stage.bytes;
    const value = (i, row) => (i < 2 ? Math.round(low + (row + i) * step) + origin : sums[(i - 2) * bins + row]);
    return { columns: ["begin_ns", "end_ns", ...kinds], rows: range(0, bins), value };
  }

  #ordered() {
    const contents = this.contents();
    if (this.sorted) {
      const { column, down } = this.sorted;
      const keys = new Map(contents.rows.map((row) => [row, contents.value(column, row)]));
      const sign = down ? -1 : 1;
      contents.rows.sort((a, b) => sign * compare(keys.get(a), keys.get(b)));
    }
    return contents;
  }

  /** Show the first rows of the table. */
  show() {
    if (!this.isOpen) return;
    for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", tab.dataset.table === this.name);
    const { columns, rows, value, choose } = this.#ordered();
    const sort = (column) => () => {
      this.sorted = { column, down: this.sorted?.column === column ? !this.sorted.down : true };
      this.show();
    };
    const head = columns.map((name, i) => {
      const mark = this.sorted?.column === i ? (this.sorted.down ? " ↓" : " ↑") : "";
      return make("th", {}, make("button", { click: sort(i) }, name + mark));
    });
    const lines = rows.slice(0, SHOWN).map((row) =>
      make(
        "tr",
        choose ? { click: () => this.app.choose(...choose(row), true) } : {},
        ...columns.map((_, i) => {
          const cell = value(i, row);
          return make("td", typeof cell === "number" ? { class: "n" } : {}, cell === null ? "–" : String(cell));
        }),
      ),
    );
    byId("rows").replaceChildren(
      make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...lines)),
    );
    const more = rows.length > SHOWN ? `, the first ${SHOWN} shown` : "";
    byId("count").textContent = `${count(rows.length)} rows in view${more}`;
  }

  /** All rows as text, one line each. */
  text(separator) {
    const { columns, rows, value } = this.#ordered();
    const field = (cell) => {
      const text = cell === null ? "" : String(cell);
      return separator === "," && /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = rows.map((row) => columns.map((_, i) => field(value(i, row))).join(separator));
    return `${[columns.map(field).join(separator), ...lines].join("\n")}\n`;
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

const NUMBERS = { vfs: "call", syncs: "sync", journal: "row", script: "row", commands: "command" };

function range(from, to) {
  return Array.from({ length: Math.max(to - from, 0) }, (_, i) => from + i);
}

function compare(a, b) {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}
