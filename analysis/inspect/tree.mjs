// List a chain of rows as a tree: transaction, file operation, sync, commit or checkpoint, block command.

/** The rows of a chain as [{depth, table, row, times, took}], causes before effects, in the order of
 * time. Successive file operations of a kind without effects are one node, with their number in `times`. */
export function tree(run, chain) {
  const children = new Map();
  const parents = new Map();
  const nodes = [];
  const add = (table, row, candidates) => {
    const key = `${table} ${row}`;
    const parent = candidates.find((candidate) => parents.has(candidate)) ?? null;
    parents.set(key, parent);
    const node = { key, table, row, begin: run[table].begin[row] };
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(node);
  };
  const { vfs, wal, syncs, commands } = run;
  for (const row of chain.transactions) add("transactions", row, []);
  for (const row of chain.script) add("script", row, []);
  for (const row of chain.wal) add("wal", row, [`transactions ${wal.transaction[row]}`]);
  for (const row of chain.vfs) add("vfs", row, [`wal ${vfs.wal[row]}`, `transactions ${vfs.transaction[row]}`]);
  for (const row of chain.syncs) {
    add("syncs", row, [`vfs ${syncs.vfs_call[row]}`, `transactions ${syncs.transaction[row]}`]);
  }
  const above = (row) => [
    `syncs ${commands.sync[row]}`,
    `vfs ${commands.vfs_call[row]}`,
    `transactions ${commands.transaction[row]}`,
    ...[...run.transactionsOf(row)].map((transaction) => `transactions ${transaction}`),
    `${chain.table} ${chain.row}`, // a deferred write of its content
  ];
  const inTime = [...chain.commands].sort((a, b) => a - b);
  for (const row of inTime) {
    const journal = commands.journal[row];
    if (journal >= 0 && chain.journal.has(journal) && !parents.has(`journal ${journal}`)) {
      add("journal", journal, above(row));
    }
  }
  for (const row of chain.journal) if (!parents.has(`journal ${row}`)) add("journal", row, []);
  for (const row of inTime) add("commands", row, [`journal ${commands.journal[row]}`, ...above(row)]);
  const walk = (parent, depth) => {
    let last = null;
    for (const { key, table, row } of (children.get(parent) ?? []).sort((a, b) => a.begin - b.begin)) {
      const leaf = table === "vfs" && !children.has(key) ? run.label(table, row) : null;
      const node = { depth, table, row, leaf, times: 1, took: run[table].took[row] };
      if (leaf && last?.leaf === leaf) {
        last.times++;
        last.took += node.took;
        continue;
      }
      nodes.push((last = node));
      walk(key, depth + 1);
    }
  };
  walk(null, 0);
  return nodes;
}
