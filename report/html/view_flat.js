// flat: costs over the whole program, by module, file, function, loop or line, so that loops rank as peers.

const LEVELS = ["module", "file", "function", "loop", "line"];

function flatRows(model, level) {
  const { frame, point } = model.data, of = (node) => model.tree.frame[node];
  if (level === "line") {
    const rows = new Map();
    for (let i = 0; i < point.node.length; i++) {
      if (point.metric[i] !== model.metric || !point.line[i] || !model.counts(i)) continue;
      const key = point.file[i] + ":" + point.line[i];
      let row = rows.get(key);
      if (!row) rows.set(key, row = { key, name: `${model.fileName(point.file[i])}:${point.line[i]}`, kind: "line", place: model.text(point.file[i]), self: 0, total: 0, node: model.tree.of[point.node[i]] });
      row.self += point.value[i];
      row.total += point.value[i];
    }
    return [...rows.values()];
  }
  const keys = {
    module: (node) => node ? model.module(of(node)) : null,
    file: (node) => node && frame.file[of(node)] ? frame.file[of(node)] : null,
    function: (node) => frame.kind[of(node)] === FUNCTION || frame.kind[of(node)] === INLINE ? of(node) : null,
    loop: (node) => frame.kind[of(node)] === LOOP ? of(node) : null,
  };
  return model.group(keys[level]).map((g) => {
    const named = level === "module" ? g.key || "unknown" : level === "file" ? model.text(g.key) : null;
    return { key: g.key, self: g.self, total: g.total, node: g.node, frame: named === null ? g.key : -1, name: named === null ? model.label(g.key) : named,
      kind: named === null ? model.kind(g.key) : "special", place: named !== null ? "" : level === "loop" ? "in " + model.text(frame.name[g.key]) : model.lines(g.key) };
  });
}

function flatView(model) {
  let by = state.g === "loop" ? "total" : "self";
  const level = LEVELS.includes(state.g) ? state.g : "function", rows = flatRows(model, level).filter((r) => r.total > 0);
  const order = () => rows.sort((a, b) => b[by] - a[by] || b.total - a.total);
  order();
  const grid = new Grid({
    roots: () => rows, children: () => [], hasChildren: () => false, key: (row) => row.key, name: (row) => row.name, kind: (row) => row.kind,
    matched: (row) => isMarked(model, row.frame === undefined ? -1 : row.frame, row.name), sort: (name) => { by = name; order(); },
    chosen: (row) => choose(model, row.node, row.frame),
    cells: (row) => [...costCells(model, row.total, row.self), row.place, row.frame >= 0 ? model.module(row.frame) : ""],
  }, [...COST_COLUMNS, { name: "written at", width: "16rem" }, { name: "module", width: "10rem" }]);
  const step = (by) => setState({ g: LEVELS[Math.max(0, Math.min(LEVELS.length - 1, LEVELS.indexOf(level) + by))] });
  return { element: [h("div", { class: "bar" }, h("button", { onclick: () => step(-1), title: "coarser" }, "unflatten"), h("button", { onclick: () => step(1), title: "finer" }, "flatten"),
    ...LEVELS.map((name) => h("button", { "aria-pressed": String(name === level), onclick: () => setState({ g: name }) }, name)), h("span", { class: "sep" }), csvButton(grid), ...switches()), grid.element], focus: () => grid.focus() };
}
