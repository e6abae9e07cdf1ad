// callers: bottom-up. Every function by its own cost, below it who called it, each sample counted once.

const MOST_CALLED = 2000; // functions that the list starts with

function callersView(model) {
  const { tree } = model,
    selfs = isDiff(model) ? [model.selfOf(BEFORE), model.selfOf(AFTER)] : [model.self],
    weight = (leaf) => (isDiff(model) ? selfs[1][leaf] - selfs[0][leaf] : selfs[0][leaf]);
  // A row is a frame with the nodes where it stands; each goes with the node below whose own cost it is.
  const grouped = (entries, key) => {
    const groups = new Map();
    for (const [at, leaf] of entries) {
      const frame = tree.frame[at];
      let group = groups.get(frame);
      if (!group) groups.set(frame, (group = { frame, entries: [], total: 0, weight: 0, key: key + "/" + frame }));
      group.entries.push([at, leaf]);
      group.total += model.self[leaf];
      group.weight += weight(leaf);
    }
    return [...groups.values()].sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight));
  };
  const callersOf = (row) =>
    (row.below ||= grouped(
      row.entries.map(([at, leaf]) => [model.procedure(tree.parent[at]), leaf]).filter(([at]) => at),
      row.key,
    ));
  const leaves = [];
  for (let i = 1; i < tree.n; i++) if (selfs.some((self) => self[i])) leaves.push([model.procedure(i), i]);
  const all = grouped(leaves, "").slice(0, MOST_CALLED);
  const total = (row, metric) => {
    const costs = model.selfOf(metric);
    return metric === model.metric ? row.total : row.entries.reduce((sum, [, leaf]) => sum + costs[leaf], 0);
  };
  const cost = { total, self: (row, metric) => (row.key.lastIndexOf("/") ? 0 : total(row, metric)), parent: () => 0, frame: (row) => row.frame, rows: () => all };
  const [first, bar, , ...rest] = costColumns(model, cost);
  const grid = new Grid(
    {
      roots: () => all,
      children: callersOf,
      key: (row) => row.key,
      name: (row) => model.shortLabel(row.frame),
      fullName: (row) => model.label(row.frame),
      kind: (row) => model.kind(row.frame),
      matched: (row) => model.isMatch(row.frame),
      chosen: (row) => choose(model, row.entries[0][0], row.frame),
    },
    [
      { ...first, name: "cost", title: "self cost of the function at the top of this tree when called along this path" },
      bar,
      ...rest,
      textColumn("written at", "12rem", (row) => model.lines(row.frame)),
      textColumn("module", "10rem", (row) => model.module(row.frame)),
    ],
    "callers, bottom-up",
    isDiff(model) ? "change" : "cost",
  );
  return {
    element: [
      gridBar(model, grid, `functions by ${isDiff(model) ? "change of " : ""}self cost; open one to see its callers`, h("span", { class: "sep" })),
      grid.element,
    ],
    focus: () => grid.focus(),
  };
}
