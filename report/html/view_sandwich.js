// sandwich: one function, who calls it and whom it calls.

function sandwichView(model) {
  const frame = model.chosenFunction();
  const callers = new Map(), callees = new Map();
  let total = 0, self = 0;
  const add = (map, node, value) => {
    const key = model.tree.frame[node];
    const row = map.get(key) || { frame: key, total: 0, node };
    row.total += value;
    map.set(key, row);
  };
  const inside = new Uint8Array(model.tree.n);
  for (let i = 1; i < model.tree.n; i++) {
    const mine = model.tree.frame[i] === frame, up = inside[model.tree.parent[i]];
    inside[i] = mine || up ? 1 : 0;
    if (!mine) continue;
    if (!up) { total += model.total[i]; add(callers, model.procedure(model.tree.parent[i]), model.total[i]); }
  }
  for (let i = 1; i < model.tree.n; i++) {
    const kind = model.data.frame.kind[model.tree.frame[i]];
    if (model.tree.frame[model.procedure(i)] === frame) self += model.self[i];
    if (kind !== FUNCTION && kind !== INLINE) continue;
    const up = model.procedure(model.tree.parent[i]);
    if (up && model.tree.frame[up] === frame && model.tree.frame[i] !== frame) add(callees, i, model.total[i]);
  }
  const side = (title, map) => {
    const rows = [...map.values()].sort((a, b) => b.total - a.total);
    const grid = new Grid({ roots: () => rows, children: () => [], hasChildren: () => false, key: (r) => r.frame, name: (r) => model.label(r.frame), kind: (r) => model.kind(r.frame),
      matched: (r) => Boolean(model.matches && model.matches[r.frame]), chosen: (r) => status(model, r.node),
      cells: (r) => [pct(model.percent(r.total, total)), meter(model, r.total, 0), linkCell("go", "show this one", () => setState({ f: r.frame, n: r.node }))] },
      [{ name: "share", width: "5rem", num: true }, { name: "", width: "8rem" }, { name: "", width: "3rem" }]);
    return h("div", {}, h("div", { class: "bar" }, h("b", {}, title)), grid.element);
  };
  if (!total) return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its callers and callees are shown here.")] };
  return { element: [h("div", { class: "bar" }, h("b", {}, model.label(frame)), ` total ${pct(model.percent(total))}, self ${pct(model.percent(self))}, ${model.lines(frame)} ${model.module(frame)}`),
    h("div", { class: "split" }, side("called by", callers), side("calls", callees))] };
}
