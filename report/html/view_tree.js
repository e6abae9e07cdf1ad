// tree: top-down. Every context with its loops and inlined calls; where it is called from and where it is written are two links.

function treeView(model) {
  const source = {
    roots: () => [0],
    children: (node) => model.children(node),
    hasChildren: (node) => model.children(node).length > 0,
    key: (node) => node,
    name: (node) => model.label(model.tree.frame[node]),
    kind: (node) => model.kind(model.tree.frame[node]),
    matched: (node) => model.matched(node),
    chosen: (node) => choose(model, node),
    cells: (node) => [...costCells(model, model.total[node], model.self[node], node ? model.total[model.tree.parent[node]] : 0),
      linkCell(model.callSite(node), "where it is called", () => showSource(model, model.procedure(model.tree.parent[node]), model.tree.call_line[node])),
      linkCell(model.lines(model.tree.frame[node]), "where it is written", () => showSource(model, model.procedure(node), 0)),
      model.module(model.tree.frame[node])],
  };
  const grid = new Grid(source, [...COST_COLUMNS, { name: "called at", width: "10rem" }, { name: "written at", width: "10rem" }, { name: "module", width: "7.5rem" }]);
  const goHot = () => {
    const path = model.hotPath(state.n);
    grid.hot = new Set(path);
    grid.reveal([0, ...model.path(state.n), ...path]);
    grid.focus();
  };
  grid.open.add(0);
  grid.reveal([0, ...model.path(state.n)]);
  if (!state.n) for (const node of model.hotPath()) grid.open.add(node);
  grid.rebuild();
  return { element: [h("div", { class: "bar" }, h("button", { onclick: goHot, title: "follow the heaviest child (h)" }, "hot path"), h("label", {}, "of at least ", h("input", { type: "number", min: 1, max: 100, value: state.w, style: { width: "4rem" }, onchange: (e) => setState({ w: Math.max(1, Math.min(100, Number(e.target.value) || 50)) }) }), " % of its parent"), csvButton(grid), h("span", { class: "sep" }), ...switches()), grid.element], hot: goHot, focus: () => grid.focus() };
}

// Loops, inlined calls and recursion, on or off.
function switches() {
  const button = (name, key, label, title) => h("button", { "aria-pressed": String(state[name] === 1), title: `${title} (${key})`, onclick: () => setState({ [name]: 1 - state[name], n: 0, z: 0 }) }, label);
  return [button("l", "l", "loops", "show loops"), button("i", "i", "inlined calls", "show inlined calls"), button("r", "r", "recursion", "show every recursive call")];
}
