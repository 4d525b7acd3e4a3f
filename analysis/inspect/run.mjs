// A run's tables with links between their rows; the chain of causes and effects of one row.

import { count, size } from "./format.mjs";
import { Groups } from "./table.mjs";

/** The tables that have lanes: their rows can be chosen. */
export const CHOOSABLE = ["transactions", "vfs", "wal", "syncs", "journal", "script", "commands"];

/** All tables of a run with the links between their rows. */
export class Run {
  constructor(about, tables) {
    Object.assign(this, tables);
    this.about = about;
    this.tables = tables;
    const { vfs, wal, syncs, commands, pieces, shares, deferred } = tables;
    this.callsOf = new Groups(vfs.transaction);
    this.walOf = new Groups(wal.transaction);
    this.callsOfWal = new Groups(vfs.wal);
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
    for (const name of CHOOSABLE) for (const time of tables[name].end) if (time > this.end) this.end = time;
  }

  /** The number of a command's device. */
  deviceOf(command) {
    return this.devices.length > 1 ? this.commands.device[command] : 0;
  }

  /** Whether the device answered a command with an error; only a trace records it. */
  failed(command) {
    return this.commands.error?.[command] > 0;
  }

  /** The name of a row in a few words. */
  label(table, row) {
    const { transactions, vfs, wal, syncs, journal, script, commands } = this;
    if (table === "script") return script.text("line", row);
    if (table === "transactions") return `${transactions.text("op", row)} ${row}`;
    if (table === "vfs") return `${vfs.text("op", row)} ${vfs.text("file", row)}`;
    if (table === "syncs") return `sync of ${syncs.text("file", row) ?? "another file"}`;
    if (table === "wal") {
      const frames = wal.frames[row] >= 0 ? ` of ${count(wal.frames[row])} frames` : "";
      const trigger = wal.text("trigger", row);
      return `WAL checkpoint${frames}${trigger ? ` (${trigger})` : ""}`;
    }
    if (table === "journal") return `${journal.text("what", row)} ${journal.number[row]}`;
    const bytes = commands.bytes[row] > 0 ? ` ${size(commands.bytes[row])}` : "";
    return `${commands.text("rwbs", row)}${bytes} ${commands.text("kind", row)}${this.failed(row) ? ", failed" : ""}`;
  }

  /** The share of a command that a transaction bears: 0 to 1. */
  share(command, transaction) {
    const { shares } = this;
    const row = this.sharesOf.of(command).find((row) => shares.transaction[row] === transaction);
    if (row !== undefined) return shares.share[row];
    return this.commands.transaction[command] === transaction ? 1 : 0;
  }

  /** The transactions that a command was done for. A share may belong to none. */
  transactionsOf(command) {
    const shared = [...this.sharesOf.of(command)].map((row) => this.shares.transaction[row]);
    return new Set([this.commands.transaction[command], ...shared].filter((row) => row >= 0));
  }
}

/** The rows tied to one row, a set for each table: its effects down to the device, its causes up to
 * the statement. A line of a user's script has neither. */
export class Chain {
  constructor(run, table, row) {
    Object.assign(this, { run, table, row });
    for (const name of CHOOSABLE) this[name] = new Set();
    this[table].add(row);
    if (table === "transactions") {
      this.#add("vfs", run.callsOf.of(row));
      this.#add("wal", run.walOf.of(row));
      this.#add("syncs", run.syncsOf.of(row));
      this.#down(run.commandsOf.of(row), run.sharedBy.of(row), run.laterOf.of(row));
    } else if (table === "vfs") {
      this.#add("transactions", [run.vfs.transaction[row]]);
      this.#add("wal", [run.vfs.wal[row]]);
      this.#call(row);
    } else if (table === "wal") {
      this.#add("transactions", [run.wal.transaction[row]]);
      this.#add("vfs", run.callsOfWal.of(row));
      for (const call of this.vfs) this.#call(call);
    } else if (table === "syncs") {
      this.#add("vfs", [run.syncs.vfs_call[row]]);
      this.#add("transactions", [run.syncs.transaction[row]]);
      this.#down(run.commandsOfSync.of(row));
    } else if (table === "journal") {
      for (const command of run.commandsOfJournal.of(row)) this.#command(command);
    } else if (table === "commands") this.#command(row);
    if (table === "commands" || table === "syncs")
      for (const call of this.vfs) this.#add("wal", [run.vfs.wal[call]]);
  }

  #add(table, rows) {
    for (const row of rows) if (row >= 0) this[table].add(row);
  }

  #down(...groups) {
    for (const commands of groups) {
      this.#add("commands", commands);
      for (const command of commands) this.#add("journal", [this.run.commands.journal[command]]);
    }
  }

  #call(row) {
    const { run } = this;
    this.#add("syncs", run.syncsOfCall.of(row));
    this.#down(run.commandsOfCall.of(row), run.dirtiedBy.of(row));
  }

  #command(row) {
    const { run } = this;
    this.#down([row]);
    this.#add("transactions", run.transactionsOf(row));
    this.#add("vfs", [run.commands.vfs_call[row]]);
    this.#add("syncs", [run.commands.sync[row]]);
    for (const piece of run.piecesOf.of(row)) this.#add("vfs", [run.pieces.vfs_call[piece]]);
  }

  /** The begin and end of the row itself. */
  span() {
    const { begin, end } = this.run[this.table];
    return [begin[this.row], end[this.row]];
  }
}
