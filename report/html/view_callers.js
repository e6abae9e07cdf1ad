// callers: bottom-up. Every function by its own cost, below it who called it, each sample counted once.

function callersView(model) {
  const callersOf = (row) => {
    if (row.below) return row.below;
    const groups = new Map();
    for (const [at, weight] of row.entries) {
      const up = model.procedure(model.tree.parent[at]);
      if (!up) continue;
      const frame = model.tree.frame[up];
      let group = groups.get(frame);
      if (!group) groups.set(frame, group = { frame, entries: [], total: 0, key: row.key + "/" + frame });
      group.entries.push([up, weight]);
      group.total += weight;
    }
    return row.below = [...groups.values()].sort((a, b) => b.total - a.total);
  };
  const roots = () => {
    const groups = new Map();
    for (let i = 1; i < model.tree.n; i++) {
      if (!model.self[i]) continue;
      const at = model.procedure(i), frame = model.tree.frame[at];
      let group = groups.get(frame);
      if (!group) groups.set(frame, group = { frame, entries: [], total: 0, key: String(frame) });
      group.entries.push([at, model.self[i]]);
      group.total += model.self[i];
    }
    return [...groups.values()].sort((a, b) => b.total - a.total).slice(0, 2000);
  };
  const all = roots();
  const grid = new Grid({
    roots: () => all, children: callersOf, hasChildren: (row) => callersOf(row).length > 0, key: (row) => row.key,
    name: (row) => model.label(row.frame), kind: (row) => model.kind(row.frame),
    matched: (row) => Boolean(model.matches && model.matches[row.frame]),
    chosen: (row) => choose(model, row.entries[0][0], row.frame),
    cells: (row) => [...costCells(model, row.total, 0).filter((_, i) => i !== 2), model.lines(row.frame), model.module(row.frame)],
  }, [{ ...COST_COLUMNS[0], name: "cost", title: "own cost of the outermost function here, as far as it came by this way" }, COST_COLUMNS[1], ...COST_COLUMNS.slice(3), { name: "written at", width: "12rem" }, { name: "module", width: "10rem" }]);
  return { element: [h("div", { class: "bar" }, "functions by their own cost; open one to see who calls it", h("span", { class: "sep" }), csvButton(grid), ...switches()), grid.element], focus: () => grid.focus() };
}
