// The panel next to the timeline: facts and causes of the chosen row, or a summary of the run.

import { bars, byId, make, refill, swatch } from "./dom.mjs";
import { HOW } from "./filter.mjs";
import { count, duration, percent, size } from "./format.mjs";
import { tree } from "./tree.mjs";

const LISTED = 300; // rows of a tree
const NONE = "#8C8C8C"; // bytes of no transaction
const WAITS = {
  cpu_ns: ["CPU", "#5B6B7B"],
  data_wait_ns: ["waiting for data", "#0072B2"],
  journal_wait_ns: ["waiting for journal or nodes", "#7B6FD0"],
  flush_wait_ns: ["waiting for a flush", "#E8C500"],
  other_wait_ns: ["waiting for other things", NONE],
};

/** Further facts of a file operation, sync, commit or checkpoint in one line; null if there are none. */
export function note({ vfs, wal, syncs, journal }, table, row) {
  if (table === "vfs" && vfs.offset[row] >= 0) return `${count(vfs.bytes[row])} bytes at offset ${count(vfs.offset[row])}`;
  if (table === "syncs") return `${syncs.text("name", row) ?? ""}, inode ${syncs.inode[row]}`;
  if (table === "wal") return `${count(wal.pages[row])} pages copied to the database`;
  if (table !== "journal") return null;
  if (journal.text("reason", row)) return `reason: ${journal.text("reason", row)}`;
  return `${count(journal.blocks[row])} blocks logged, ${count(journal.waiting[row])} transactions waited for it`;
}

const ms = (ns) => (ns / 1e6).toFixed(3);
const soft = (text) => make("p", { class: "soft" }, text);
const heading = (text) => make("h3", {}, text);
const named = (name, text) => make("p", {}, make("b", {}, name), `: ${text}`);
const titled = (title, rows) => (rows.length ? [heading(title), make("table", {}, ...rows)] : []);

/** A row of a table: its head, further texts, and a number. */
function cells(head, texts, number) {
  const columns = texts.map((text) => make("td", {}, text));
  return make("tr", {}, make("th", {}, ...head), ...columns, make("td", { class: "n" }, number));
}

/** A button with a name, and numbers behind it. */
function node(color, name, numbers, attributes) {
  const spans = numbers.map((text, i) => make("span", { class: i < numbers.length - 1 ? "n soft" : "n" }, text));
  return make("button", { class: "node", style: "--depth:0", ...attributes }, swatch(color), make("span", {}, name), ...spans);
}

export class Details {
  constructor(app) {
    this.app = app;
    this.element = byId("details");
  }

  show(chain) {
    const ofNone = this.app.run.about.trace ? () => this.#trace() : () => this.#run();
    this.element.scrollTop = 0;
    refill(this.element, ...(chain ? this.#chosen(chain) : ofNone()));
    byId("heard").textContent = chain ? [...this.element.children].slice(0, 2).map((part) => part.textContent).join(", ") : "";
  }

  #chosen(chain) {
    const { run, palette } = this.app;
    const { table, row } = chain;
    const [begin, end] = chain.span();
    const text = note(run, table, row);
    return [
      make("h2", {}, swatch(palette.of(run, table, row)), run.label(table, row)),
      soft(`${duration(end - begin)}, from ${(begin / 1e9).toFixed(6)} s`),
      ...(table === "transactions" ? this.#transaction(row) : []),
      ...(table === "commands" ? this.#command(row) : []),
      ...(text === null ? [] : [make("p", {}, text)]),
      this.#tree(chain),
    ];
  }

  #transaction(row) {
    const { transactions } = this.app.run;
    const of = (name) => Math.max(transactions[name][row], 0);
    const facts = [
      ["syncs", count(of("syncs"))],
      ["writes", count(of("writes"))],
      ["flushes", count(of("flushes"))],
      ["FUA", count(of("fua"))],
      ["written", size(of("bytes"))],
    ];
    if (of("for_others")) facts.push(["of it deferred, others'", size(of("for_others"))]);
    if (of("deferred")) facts.push(["deferred, its own", size(of("deferred"))]);
    const waits = Object.entries(WAITS)
      .filter(([name]) => of(name) > 0)
      .map(([name, [text, color]]) => ({ name: text, value: of(name), text: duration(of(name)), color }));
    // a watched command's threads are not recorded when they leave the CPU
    const time = waits.length ? [heading("Time"), bars(waits)] : [];
    return [this.#facts(facts), ...time, ...this.#bytes(of)];
  }

  /** Bars of the bytes written of each label. */
  #bytes(of) {
    const { run, palette } = this.app;
    const rows = run.about.labels
      .filter((label) => of(label) > 0)
      .map((label) => ({ name: label, value: of(label), text: size(of(label)), color: palette.kinds[label] }));
    return rows.length ? [heading("Bytes written"), bars(rows)] : [];
  }

  #command(row) {
    const { run, palette } = this.app;
    const { commands, pieces, deferred } = run;
    const [how, reason] = [commands.text("how", row), commands.text("no_transaction", row)];
    const facts = [
      ["size", size(Math.max(commands.bytes[row], 0))],
      ["sector", commands.sector[row] < 0 ? "none" : count(commands.sector[row])],
      ...(commands.value("queued", row) === null ? [] : [["queued", duration(commands.queued[row])]]),
      ["by", `${commands.text("comm", row) ?? "unknown"} ${commands.tid[row]}`],
    ];
    if (run.devices.length > 1) facts.unshift(["device", commands.text("device", row)]);
    if (run.failed(row)) facts.push(["failed", commands.text("failure", row)]);
    const carried = [...run.piecesOf.of(row)].map((piece) => {
      const [label, file, copied] = ["label", "file", "of"].map((column) => pieces.text(column, piece));
      const at = pieces.offset[piece] >= 0 ? ` at ${count(pieces.offset[piece])}` : "";
      const name = copied ? `${label} of ${copied}` : label;
      return cells([swatch(palette.kinds[label]), name], [file ? `${file}${at}` : ""], size(pieces.bytes[piece]));
    });
    const late = [...run.deferredOf.of(row)].map((part) =>
      cells([run.label("transactions", deferred.transaction[part])], [], size(deferred.bytes[part])),
    );
    return [
      this.#facts(facts),
      ...(how ? [named(how, HOW[how] ?? "")] : []),
      ...(reason ? [named("no transaction", reason)] : []),
      ...titled("What it carried", carried),
      ...titled("Deferred content of", late),
    ];
  }

  #facts(facts) {
    return make("dl", {}, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  }

  #tree(chain) {
    const { app } = this;
    const { run } = app;
    const nodes = tree(run, chain);
    const first = Math.min(...nodes.map((node) => run[node.table].begin[node.row]));
    const lines = nodes.slice(0, LISTED).map(({ depth, table, row, times, took }) => {
      const share = table === "commands" && chain.table === "transactions" ? run.share(row, chain.row) : 1;
      const part = share > 0 ? `${percent(share)} of ` : "deferred: in ";
      const label = (times > 1 ? `${times} × ` : "") + (share < 1 ? part : "") + run.label(table, row);
      return node(app.palette.of(run, table, row), label, [ms(run[table].begin[row] - first), ms(took)], {
        style: `--depth:${depth}`,
        "aria-current": table === chain.table && row === chain.row && "true",
        title: label,
        click: () => app.choose(table, row, true),
      });
    });
    const numbers = ["from ms", "ms"].map((text) => make("span", { class: "n" }, text));
    const head = make("h3", { class: "node", style: "--depth:0" }, make("i"), make("span", {}, "The chain"), ...numbers);
    const rest = nodes.length - lines.length;
    if (rest > 0) lines.push(soft(`and ${count(rest)} more: see the tables`));
    return make("div", { class: "tree" }, head, ...lines);
  }

  /** Commands and bytes of each lane (process and kind), of a block trace alone. */
  #trace() {
    const { run, palette } = this.app;
    const { commands } = run;
    const names = commands.texts.kind ?? [];
    const [number, bytes] = [new Float64Array(names.length), new Float64Array(names.length)];
    for (let row = 0; row < commands.rows; row++) {
      number[commands.kind[row]]++;
      bytes[commands.kind[row]] += Math.max(commands.bytes[row], 0);
    }
    const rows = run.about.kinds.map((name) => {
      const i = names.indexOf(name);
      const text = bytes[i] ? `${count(number[i])}, ${size(bytes[i])}` : count(number[i]);
      return { name, value: number[i], text, color: palette.kinds[name] };
    });
    return [make("h2", {}, "The trace"), heading("Commands"), bars(rows)];
  }

  #run() {
    const { run, palette } = this.app;
    const { about, transactions, commands, points, vfs, syncs } = run;
    const none = Object.entries(about.none)
      .sort((a, b) => b[1] - a[1])
      .map(([name, value]) => ({ name, value, text: size(value), color: NONE }));
    const slowest = largest(transactions.took, 6).map((row) =>
      node(palette.of(run, "transactions", row), run.label("transactions", row), [duration(transactions.took[row])], {
        click: () => this.app.choose("transactions", row, true),
      }),
    );
    const legend = (title, colors, names) => {
      const known = names.filter((name) => colors[name]).map((name) => make("span", {}, swatch(colors[name]), name));
      return make("p", { class: "legend" }, make("b", {}, title), ...known);
    };
    return [
      make("h2", {}, "The run"),
      ...this.#bytes((label) => about.written[label]),
      ...(none.length ? [heading("Written for no transaction"), bars(none)] : []),
      heading("Slowest transactions"),
      make("div", { class: "tree" }, ...(slowest.length ? slowest : [soft("none")])),
      heading("Colours"),
      legend("operations", palette.ops, transactions.texts.op ?? []),
      legend("files", palette.files, [...new Set([...(vfs.texts.file ?? []), ...(syncs.texts.file ?? [])])]),
      soft(
        "Block commands and bytes have the colours of the lanes. Where things are too narrow for bars, " +
          "a lane shows how busy each column of pixels was.",
      ),
      soft(`${count(commands.rows)} block commands, ${count(points.rows)} pieces.`),
    ];
  }
}

/** The rows with the largest values, the largest first. */
function largest(values, number) {
  const rows = [];
  for (let row = 0; row < values.length; row++) {
    if (rows.length === number && values[row] <= values[rows[number - 1]]) continue;
    rows.push(row);
    rows.sort((a, b) => values[b] - values[a]);
    rows.length = Math.min(rows.length, number);
  }
  return rows;
}
