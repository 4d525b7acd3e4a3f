// Switches that hide rows by label, operation, or attribution to a transaction; a mask for each table.

import { CHOOSABLE } from "./run.mjs";

export const NO_OP = "no transaction";
export const HOW = {
  in: "submitted by the transaction's own thread within it",
  waited: "another thread's work that the transaction waited for",
  shared: "several transactions share it",
  behind: "nobody waited for it",
};

/** The switches, and for each table a mask: 1 for the rows to show. */
export class Filter {
  constructor(run) {
    this.run = run;
    this.off = new Set(); // "kind WAL", "op insert", "how behind"
    const all = [...CHOOSABLE, "points"].map((name) => [name, new Uint8Array(run[name].rows).fill(1)]);
    this.masks = Object.fromEntries(all);
  }

  isOn(group, name) {
    return !this.off.has(`${group} ${name}`);
  }

  /** Turn a switch over, or with `only` turn all others of its group off (or all on again). */
  toggle(group, name, only, all) {
    if (only) {
      const alone = all.every((other) => this.isOn(group, other) === (other === name));
      for (const other of all) this.#set(group, other, alone || other === name);
    } else {
      this.#set(group, name, !this.isOn(group, name));
    }
    this.#mask();
  }

  reset() {
    this.off.clear();
    this.#mask();
  }

  #set(group, name, on) {
    if (on) this.off.delete(`${group} ${name}`);
    else this.off.add(`${group} ${name}`);
  }

  #codes(table, column, group) {
    const texts = table.texts[column] ?? [];
    return Uint8Array.from(texts, (text) => (this.isOn(group, text ?? NO_OP) ? 1 : 0));
  }

  #mask() {
    const { run, masks } = this;
    const { transactions, vfs, syncs, commands, points } = run;
    const ops = this.#codes(transactions, "op", "op");
    const none = this.isOn("op", NO_OP) ? 1 : 0;
    const ofTransaction = (row) => (row < 0 ? none : ops[transactions.op[row]]);
    const how = this.#codes(commands, "how", "how");
    const tied = Uint8Array.from({ length: commands.rows }, (_, row) => {
      if (!how[commands.how[row]]) return 0;
      const shares = run.sharesOf.of(row);
      if (!shares.length) return ofTransaction(commands.transaction[row]);
      return shares.some((share) => ofTransaction(run.shares.transaction[share])) ? 1 : 0;
    });
    const kinds = this.#codes(commands, "kind", "kind");
    const pointKinds = run.about.kinds.map((kind) => (this.isOn("kind", kind) ? 1 : 0));
    const set = (name, isShown) => masks[name].forEach((_, row, mask) => (mask[row] = isShown(row)));
    set("transactions", (row) => ops[transactions.op[row]]);
    set("vfs", (row) => ofTransaction(vfs.transaction[row]));
    set("wal", (row) => ofTransaction(run.wal.transaction[row]));
    set("syncs", (row) => ofTransaction(syncs.transaction[row]));
    set("commands", (row) => tied[row] & kinds[commands.kind[row]]);
    set("points", (row) => tied[points.command[row]] & pointKinds[points.kind[row]]);
  }
}
