// tree: top-down. Every context with its loops and inlined calls; where it is called from and where it is written are two links.

function treeView(model) {
  const { tree } = model,
    frame = (node) => tree.frame[node];
  const source = {
    roots: () => [state.z],
    children: (node) => (isDiff(model) ? byChange(model, model.shownChildren(node)) : model.shownChildren(node)),
    key: (node) => node,
    name: (node) => model.shownLabel(node, 3, true),
    fullName: (node) => model.shownLabel(node, 30),
    kind: (node) => model.kind(frame(node)),
    matched: (node) => isChainMatched(model, node),
    chosen: (node) => choose(model, node),
  };
  const cost = {
    total: (node, metric) => model.totalOf(metric)[node],
    self: (node, metric) => model.selfOf(metric)[node],
    parent: (node) => (node ? model.total[tree.parent[model.head(node)]] : 0),
    frame,
    rows: () => Array.from({ length: tree.n }, (_, node) => node),
  };
  const calledAt = (node) => model.callSite(model.head(node)),
    writtenAt = (node) => model.lines(frame(node)),
    module = (node) => model.module(frame(node));
  const grid = new Grid(
    source,
    [
      ...costColumns(model, cost),
      textColumn("called at", "9rem", calledAt, (node) =>
        linkCell(calledAt(node), "where it is called", () =>
          showSource(model, model.procedure(tree.parent[model.head(node)]), model.callLine(model.head(node))),
        ),
      ),
      textColumn("written at", "9rem", writtenAt, (node) =>
        linkCell(writtenAt(node), "where it is written", () => showSource(model, model.procedure(node), 0)),
      ),
      ...(Object.keys(model.data.meta.remarks).length ? [textColumn("facts", "9rem", (node) => model.facts(frame(node)))] : []),
      textColumn("module", "7.5rem", module),
    ],
    "contexts, top-down",
    isDiff(model) ? "change" : "total",
  );
  const open = (nodes) => [state.z, ...nodes.map((node) => model.tail(node))];
  const goHot = () => {
    const from = state.n || state.z,
      path = model.hotPath(from);
    grid.hot = new Set(path.map((node) => model.tail(node)));
    grid.reveal(open([...model.path(from), ...path]));
    grid.focus();
  };
  grid.reveal(open(model.path(state.n)));
  if (!state.n) for (const node of model.hotPath(state.z)) grid.open.add(model.tail(node));
  grid.rebuild();
  const least = h("input", {
    type: "number",
    min: 1,
    max: 100,
    value: state.w,
    onchange: (e) => setState({ w: Math.max(1, Math.min(100, Number(e.target.value) || 50)) }),
  });
  const bar = gridBar(
    model,
    grid,
    crumbs(model),
    h("span", { class: "sep" }),
    h("button", { onclick: goHot, title: `follow the ${isDiff(model) ? "largest change" : "heaviest child"} (h)` }, "hot path"),
    h("label", {}, "of at least ", least, " % of its parent"),
  );
  return { element: [bar, grid.element], hot: goHot, focus: () => grid.focus(), shown: () => grid.settle() };
}

function isChainMatched(model, node) {
  for (let at = node, head = model.head(node); ; at = model.tree.parent[at]) {
    if (model.matched(at)) return true;
    if (at === head) return false;
  }
}

// Above a grid: what belongs to the view, then which columns it has, the grid as a file, and what is shown.
function gridBar(model, grid, ...own) {
  return h("div", { class: "bar wrap" }, ...own, columnsButton(model), csvButton(grid), ...switches());
}

// Loops, inlined calls and recursion, on or off; chains as one or not.
function switches() {
  const button = (name, label, title) =>
    h(
      "button",
      { "aria-pressed": String(state[name] === 1), title: `${title} (${name})`, onclick: () => setState({ [name]: 1 - state[name] }) },
      label,
    );
  return [
    button("l", "loops", "show loops"),
    button("i", "inlined calls", "show inlined calls"),
    button("r", "recursion", "show every recursive call"),
    button("j", "join chains", "show a node that passes all its cost to one child together with that child"),
  ];
}

// The way to what is zoomed in on; each step of it zooms out to there.
function crumbs(model) {
  const step = (node) => h("button", { class: "link", onclick: () => zoom(node), title: model.nodeLabel(node) }, model.shortLabel(model.tree.frame[node])),
    path = model.path(state.z);
  const parts = [step(0), ...(path.length > 8 ? [" › …"] : []), ...path.slice(-8).flatMap((node) => [" › ", step(node)])];
  return h("div", { class: "crumbs", role: "navigation", "aria-label": "zoomed in on" }, ...parts);
}
