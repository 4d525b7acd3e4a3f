// The search field: find the row that a number names, or those of a file, label or operation, and go to them.

import { byId } from "./dom.mjs";
import { count } from "./format.mjs";
import { CHOOSABLE } from "./run.mjs";

const SEARCHED = {
  transactions: ["op"],
  vfs: ["op", "file"],
  wal: ["what", "trigger"],
  syncs: ["file", "name"],
  journal: ["what"],
  script: ["line"],
  commands: ["kind"],
  pieces: ["label", "file"],
};

/** The row that a text names, as [table, row]; null if there is none. */
function namedRow(run, text) {
  const [, kind, digits] = /^\s*(?:([cs])\s*|[a-z -]* )?([0-9]+)\s*$/i.exec(text) ?? [];
  if (digits === undefined) return null;
  const number = Number(digits);
  if (kind?.toLowerCase() === "s") {
    const { sector, bytes, command } = run.points;
    const point = sector.findIndex((first, i) => first <= number && number < first + bytes[i] / 512);
    return point < 0 ? null : ["commands", command[point]];
  }
  const table = kind || run.about.trace ? "commands" : "transactions";
  return number < run[table].rows ? [table, number] : null;
}

/** The rows with a file, label or operation that has the text, as [table, row], by begin. */
function rowsWith(run, text) {
  const rows = Object.fromEntries(CHOOSABLE.map((name) => [name, new Set()]));
  for (const [name, columns] of Object.entries(SEARCHED)) {
    const table = run[name];
    for (const column of columns.filter((column) => table.texts[column])) {
      const matches = table.texts[column].map((each) => each?.toLowerCase().includes(text));
      table[column].forEach((code, row) => {
        if (!matches[code]) return;
        if (name === "pieces") rows.commands.add(table.command[row]);
        else rows[name].add(row);
      });
    }
  }
  const all = CHOOSABLE.flatMap((name) => Array.from(rows[name], (row) => [name, row]));
  return all.sort(([a, x], [b, y]) => run[a].begin[x] - run[b].begin[y]);
}

/** Go to what the field names: Enter to the next hit, with Shift to the previous. */
export function search(app) {
  const field = byId("goto");
  let hits = null;
  let at = 0;
  field.addEventListener("input", () => {
    hits = null;
    byId("hits").textContent = "";
    field.setAttribute("aria-invalid", "false");
  });
  field.addEventListener("keydown", (event) => {
    const text = field.value.trim().toLowerCase();
    if (event.key !== "Enter" || !text) return;
    const step = event.shiftKey ? -1 : 1;
    if (!hits) {
      const row = namedRow(app.run, text);
      hits = row ? [row] : rowsWith(app.run, text);
      at = step > 0 ? -1 : 0;
    }
    at = (at + step + hits.length) % hits.length;
    field.setAttribute("aria-invalid", String(!hits.length));
    byId("hits").textContent = hits.length ? `${count(at + 1)} of ${count(hits.length)}` : "none";
    if (hits.length) app.choose(...hits[at], true);
  });
}
