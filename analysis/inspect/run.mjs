// The tables of a run, and the links between their rows.

import { size } from "./format.mjs";
import { Groups } from "./table.mjs";

/** All tables of a run with the links between their rows. */
export class Run {
  constructor(about, tables) {
    Object.assign(this, tables);
    this.about = about;
    this.tables = tables;
    const { vfs, syncs, commands, pieces, shares, deferred } = tables;
    this.callsOf = new Groups(vfs.transaction);
    this.syncsOf = new Groups(syncs.transaction);
    this.syncsOfCall = new Groups(syncs.vfs_call);
    this.commandsOf = new Groups(commands.transaction);
    this.commandsOfCall = new Groups(commands.vfs_call);
    this.commandsOfSync = new Groups(commands.sync);
    this.commandsOfJournal = new Groups(commands.journal);
    this.piecesOf = new Groups(pieces.command);
    this.dirtiedBy = new Groups(pieces.vfs_call, pieces.command);
    this.sharesOf = new Groups(shares.command);
    this.sharedBy = new Groups(shares.transaction, shares.command);
    this.deferredOf = new Groups(deferred.command);
    this.laterOf = new Groups(deferred.transaction, deferred.command);
    this.devices = commands.texts.device ?? [null]; // of a trace; a run has one
    this.begin = 0;
    this.end = 1;
    for (const table of Object.values(tables)) {
      if (table === tables.phases) continue; // they begin long before the first transaction
      for (const time of table.end ?? []) if (time > this.end) this.end = time;
    }
  }

  /** The number of a command's device. */
  deviceOf(command) {
    return this.devices.length > 1 ? this.commands.device[command] : 0;
  }

  /** Whether the device answered a command with an error; of a run that is not recorded. */
  failed(command) {
    return this.commands.error?.[command] > 0;
  }

  /** What a row is called, in a few words. */
  label(table, row) {
    const { transactions, vfs, syncs, journal, script, commands } = this;
    if (table === "script") return script.text("said", row);
    if (table === "transactions") return `${transactions.text("op", row)} ${row}`;
    if (table === "vfs") return `${vfs.text("op", row)} ${vfs.text("file", row)}`;
    if (table === "syncs") return `sync of ${syncs.text("file", row) ?? "another file"}`;
    if (table === "journal") return `${journal.text("what", row)} ${journal.number[row]}`;
    const bytes = commands.bytes[row] > 0 ? ` ${size(commands.bytes[row])}` : "";
    return `${commands.text("rwbs", row)}${bytes} ${commands.text("kind", row)}${this.failed(row) ? ", failed" : ""}`;
  }

  /** The bytes written of each label. */
  bytesByLabel() {
    const { pieces } = this;
    const sums = new Float64Array(pieces.texts.label?.length ?? 0);
    for (let row = 0; row < pieces.rows; row++) sums[pieces.label[row]] += pieces.bytes[row];
    const named = (pieces.texts.label ?? []).map((label, i) => [label, sums[i]]);
    return { ...Object.fromEntries(this.about.labels.map((label) => [label, 0])), ...Object.fromEntries(named) };
  }

  /** The bytes written for no transaction, by reason. */
  bytesForNone() {
    const sums = {};
    const add = (table, row, share, command) => {
      const reason = table.text("no_transaction", row);
      if (!reason) return;
      for (const piece of this.piecesOf.of(command)) {
        sums[reason] = (sums[reason] ?? 0) + share * this.pieces.bytes[piece];
      }
    };
    const { commands, shares } = this;
    for (let row = 0; row < commands.rows; row++) add(commands, row, 1, row);
    for (let row = 0; row < shares.rows; row++) add(shares, row, shares.share[row], shares.command[row]);
    return sums;
  }

  /** The share of a command that a transaction bears: 0 to 1. */
  share(command, transaction) {
    const { shares } = this;
    for (const row of this.sharesOf.of(command)) {
      if (shares.transaction[row] === transaction) return shares.share[row];
    }
    return this.commands.transaction[command] === transaction ? 1 : 0;
  }

  /** The transactions that a command was done for. */
  transactionsOf(command) {
    const found = new Set();
    if (this.commands.transaction[command] >= 0) found.add(this.commands.transaction[command]);
    for (const row of this.sharesOf.of(command)) {
      // a share may be nobody's
      if (this.shares.transaction[row] >= 0) found.add(this.shares.transaction[row]);
    }
    return found;
  }
}

/** The rows tied to one row: its effects down to the device, its causes up to the statement. */
export class Chain {
  constructor(run, table, row) {
    this.run = run;
    this.table = table;
    this.row = row;
    this.transactions = new Set();
    this.vfs = new Set();
    this.syncs = new Set();
    this.journal = new Set();
    this.script = new Set();
    this.commands = new Set();
    this[`from_${table}`](row);
  }

  from_transactions(row) {
    const { run } = this;
    this.transactions.add(row);
    for (const call of run.callsOf.of(row)) this.vfs.add(call);
    for (const sync of run.syncsOf.of(row)) this.syncs.add(sync);
    for (const command of run.commandsOf.of(row)) this.#down(command);
    for (const command of run.sharedBy.of(row)) this.#down(command);
    for (const command of run.laterOf.of(row)) this.#down(command);
  }

  from_vfs(row) {
    const { run } = this;
    this.vfs.add(row);
    if (run.vfs.transaction[row] >= 0) this.transactions.add(run.vfs.transaction[row]);
    for (const sync of run.syncsOfCall.of(row)) this.syncs.add(sync);
    for (const command of run.commandsOfCall.of(row)) this.#down(command);
    for (const command of run.dirtiedBy.of(row)) this.#down(command);
  }

  from_syncs(row) {
    const { run } = this;
    this.syncs.add(row);
    if (run.syncs.vfs_call[row] >= 0) this.vfs.add(run.syncs.vfs_call[row]);
    if (run.syncs.transaction[row] >= 0) this.transactions.add(run.syncs.transaction[row]);
    for (const command of run.commandsOfSync.of(row)) this.#down(command);
  }

  from_journal(row) {
    this.journal.add(row);
    for (const command of this.run.commandsOfJournal.of(row)) this.from_commands(command);
  }

  /** Of what a user's script says the moment is known, and no cause. */
  from_script(row) {
    this.script.add(row);
  }

  from_commands(row) {
    const { run } = this;
    this.#down(row);
    for (const transaction of run.transactionsOf(row)) this.transactions.add(transaction);
    if (run.commands.vfs_call[row] >= 0) this.vfs.add(run.commands.vfs_call[row]);
    if (run.commands.sync[row] >= 0) this.syncs.add(run.commands.sync[row]);
    for (const piece of run.piecesOf.of(row)) {
      if (run.pieces.vfs_call[piece] >= 0) this.vfs.add(run.pieces.vfs_call[piece]);
    }
  }

  #down(command) {
    this.commands.add(command);
    const journal = this.run.commands.journal[command];
    if (journal >= 0) this.journal.add(journal);
  }

  /** The first and the last moment of the row itself, else of its chain. */
  span() {
    const table = this.run[this.table];
    return [table.begin[this.row], table.end[this.row]];
  }
}
