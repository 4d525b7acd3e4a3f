// The panel beside the timeline: what is chosen, or when nothing is, the run and its legend.

import { bars, byId, make, swatch } from "./dom.mjs";
import { HOW } from "./filter.mjs";
import { count, duration, percent, size } from "./format.mjs";
import { tree } from "./tree.mjs";

const LISTED = 300; // rows of a tree
const WAITS = {
  cpu_ns: ["CPU", "#5B6B7B"],
  data_wait_ns: ["waiting for data", "#0072B2"],
  journal_wait_ns: ["waiting for journal or nodes", "#7B6FD0"],
  flush_wait_ns: ["waiting for a flush", "#E8C500"],
  other_wait_ns: ["waiting for other things", "#8C8C8C"],
};

/** What a commit or a checkpoint did, in words. */
export function journalText(journal, row) {
  if (journal.text("reason", row)) return `reason: ${journal.text("reason", row)}`;
  return `${count(journal.blocks[row])} blocks logged, ${count(journal.waiting[row])} transactions waited for it`;
}

const ms = (ns) => (ns / 1e6).toFixed(3);

export class Details {
  constructor(app) {
    this.app = app;
    this.element = byId("details");
  }

  show(chain) {
    const parts = chain ? this.#chosen(chain) : this.#run();
    this.element.replaceChildren(...parts);
    this.element.scrollTop = 0;
  }

  #chosen(chain) {
    const { run } = this.app;
    const { table, row } = chain;
    const [begin, end] = chain.span();
    const color = this.app.palette.of(run, table, row);
    const parts = [
      make("h2", {}, swatch(color), run.label(table, row)),
      make("p", { class: "soft" }, `${duration(end - begin)}, from ${(begin / 1e9).toFixed(6)} s`),
    ];
    if (table === "transactions") parts.push(...this.#transaction(row));
    if (table === "commands") parts.push(...this.#command(row));
    if (table === "vfs" && run.vfs.bytes[row] >= 0) {
      parts.push(make("p", {}, `${count(run.vfs.bytes[row])} bytes at offset ${count(run.vfs.offset[row])}`));
    }
    if (table === "syncs") {
      parts.push(make("p", {}, `${run.syncs.text("name", row) ?? ""}, inode ${run.syncs.inode[row]}`));
    }
    if (table === "journal") parts.push(make("p", {}, journalText(run.journal, row)));
    parts.push(this.#tree(chain));
    return parts;
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
    // of a command's threads nobody records when they leave the CPU
    const time = waits.length ? [make("h3", {}, "Time"), bars(waits)] : [];
    return [this.#facts(facts), ...time, ...this.#bytes((label) => of(label))];
  }

  #bytes(of) {
    const { run, palette } = this.app;
    const rows = run.about.labels
      .filter((label) => of(label) > 0)
      .map((label) => ({ name: label, value: of(label), text: size(of(label)), color: palette.kinds[label] }));
    return rows.length ? [make("h3", {}, "Bytes written"), bars(rows)] : [];
  }

  #command(row) {
    const { run } = this.app;
    const { commands, pieces } = run;
    const how = commands.text("how", row);
    const facts = [
      ["size", size(Math.max(commands.bytes[row], 0))],
      ["sector", commands.sector[row] < 0 ? "none" : count(commands.sector[row])],
      ...(commands.value("queued", row) === null ? [] : [["queued", duration(commands.queued[row])]]),
      ["by", `${commands.text("comm", row) ?? "unknown"} ${commands.tid[row]}`],
    ];
    if (run.devices.length > 1) facts.unshift(["device", commands.text("device", row)]);
    if (run.failed(row)) facts.push(["failed", commands.text("failure", row)]);
    const parts = [this.#facts(facts)];
    if (how) parts.push(make("p", {}, make("b", {}, how), `: ${HOW[how] ?? ""}`));
    const reason = commands.text("no_transaction", row);
    if (reason) parts.push(make("p", {}, make("b", {}, "no transaction"), `: ${reason}`));
    const rows = [...run.piecesOf.of(row)].map((piece) => {
      const file = pieces.text("file", piece);
      const at = pieces.offset[piece] >= 0 ? ` at ${count(pieces.offset[piece])}` : "";
      const of = pieces.text("of", piece) ? ` of ${pieces.text("of", piece)}` : "";
      return make(
        "tr",
        {},
        make("th", {}, swatch(this.app.palette.kinds[pieces.text("label", piece)]), pieces.text("label", piece) + of),
        make("td", {}, file ? `${file}${at}` : ""),
        make("td", { class: "n" }, size(pieces.bytes[piece])),
      );
    });
    if (rows.length) parts.push(make("h3", {}, "What it carried"), make("table", {}, ...rows));
    const late = [...run.deferredOf.of(row)].map((part) =>
      make(
        "tr",
        {},
        make("th", {}, run.label("transactions", run.deferred.transaction[part])),
        make("td", { class: "n" }, size(run.deferred.bytes[part])),
      ),
    );
    if (late.length) parts.push(make("h3", {}, "Deferred content of"), make("table", {}, ...late));
    return parts;
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
      const chosen = table === chain.table && row === chain.row;
      const part = share > 0 ? `${percent(share)} of ` : "deferred: in ";
      const label = (times > 1 ? `${times} × ` : "") + (share < 1 ? part : "") + run.label(table, row);
      return make(
        "button",
        { class: "node", style: `--depth:${depth}`, "aria-current": chosen, title: label, click: () => app.choose(table, row, true) },
        swatch(app.palette.of(run, table, row)),
        make("span", {}, label),
        make("span", { class: "n soft" }, ms(run[table].begin[row] - first)),
        make("span", { class: "n" }, ms(took)),
      );
    });
    const head = make(
      "h3",
      { class: "node", style: "--depth:0" },
      make("i"),
      make("span", {}, "The chain"),
      make("span", { class: "n" }, "from ms"),
      make("span", { class: "n" }, "ms"),
    );
    const rest = nodes.length - lines.length;
    if (rest > 0) lines.push(make("p", { class: "soft" }, `and ${count(rest)} more: see the tables`));
    return make("div", { class: "tree" }, head, ...lines);
  }

  /** Each process's commands and bytes, of a trace that knows no more. */
  #trace() {
    const { run, palette } = this.app;
    const { commands } = run;
    const names = commands.texts.kind ?? [];
    const [number, bytes] = [new Float64Array(names.length), new Float64Array(names.length)];
    for (let row = 0; row < commands.rows; row++) {
      number[commands.kind[row]]++;
      bytes[commands.kind[row]] += Math.max(commands.bytes[row], 0);
    }
    const rows = run.about.kinds
      .map((name) => [name, names.indexOf(name)])
      .map(([name, i]) => ({
        name,
        value: number[i],
        text: bytes[i] ? `${count(number[i])}, ${size(bytes[i])}` : count(number[i]),
        color: palette.kinds[name],
      }));
    return [make("h2", {}, "The trace"), make("h3", {}, "Commands"), bars(rows)];
  }

  #run() {
    const { run, palette } = this.app;
    if (run.about.trace) return this.#trace();
    const { transactions, commands, points } = run;
    const sums = run.bytesByLabel();
    const nobody = Object.entries(run.bytesForNone())
      .sort((a, b) => b[1] - a[1])
      .map(([name, value]) => ({ name, value, text: size(value), color: "#8C8C8C" }));
    const rows = largest(transactions.took, 6).map((row) =>
      make(
        "button",
        { class: "node", style: "--depth:0", click: () => this.app.choose("transactions", row, true) },
        swatch(palette.of(run, "transactions", row)),
        make("span", {}, run.label("transactions", row)),
        make("span", { class: "n" }, duration(transactions.took[row])),
      ),
    );
    const legend = (title, colors, names) =>
      make(
        "p",
        { class: "legend" },
        make("b", {}, title),
        ...names.map((name) => make("span", {}, swatch(colors[name]), name)),
      );
    const files = [...new Set([...(run.vfs.texts.file ?? []), ...(run.syncs.texts.file ?? [])])];
    return [
      make("h2", {}, "The run"),
      ...this.#bytes((label) => sums[label]),
      ...(nobody.length ? [make("h3", {}, "Written for no transaction"), bars(nobody)] : []),
      make("h3", {}, "Slowest transactions"),
      make("div", { class: "tree" }, ...(rows.length ? rows : [make("p", { class: "soft" }, "none")])),
      make("h3", {}, "Colours"),
      legend("operations", palette.ops, (transactions.texts.op ?? []).filter((op) => palette.ops[op])),
      legend("files", palette.files, files.filter((file) => palette.files[file])),
      make(
        "p",
        { class: "soft" },
        "Block commands and bytes have the colours of the lanes. Where things are too narrow for bars, " +
          "a lane shows how busy each column of pixels was.",
      ),
      make("p", { class: "soft" }, `${count(commands.rows)} block commands, ${count(points.rows)} pieces.`),
    ];
  }
}

/** The rows with the largest values, the largest first. */
function largest(values, number) {
  const found = [];
  for (let row = 0; row < values.length; row++) {
    if (found.length === number && values[row] <= values[found[number - 1]]) continue;
    found.push(row);
    found.sort((a, b) => values[b] - values[a]);
    found.length = Math.min(found.length, number);
  }
  return found;
}
