// sandwich: one function, who calls it and whom it calls.

// Callers with what they pass on, callees with what they get, each by frame; a recursive call counts once.
function neighbours(model, frame) {
  const { tree, total, self } = model,
    callers = new Map(),
    callees = new Map(),
    sums = { total: 0, self: 0 };
  const add = (map, node, value) => {
    const key = tree.frame[node],
      row = map.get(key) || { frame: key, total: 0, node };
    row.total += value;
    map.set(key, row);
  };
  const inside = new Uint8Array(tree.n);
  for (let i = 1; i < tree.n; i++) {
    const mine = tree.frame[i] === frame,
      above = inside[tree.parent[i]],
      near = model.procedure(i);
    inside[i] = mine || above ? 1 : 0;
    if (mine && !above) {
      sums.total += total[i];
      add(callers, model.procedure(tree.parent[i]), total[i]);
    }
    if (near && tree.frame[near] === frame) sums.self += self[i];
    const up = near === i ? model.procedure(tree.parent[i]) : 0;
    if (up && tree.frame[up] === frame && !mine) add(callees, i, total[i]);
  }
  return { callers, callees, sums };
}

function sandwichView(model) {
  const frame = model.chosenFunction(),
    { callers, callees, sums } = neighbours(model, frame);
  if (!sums.total)
    return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its callers and callees are shown here.")] };
  const side = (title, map) => {
    const rows = [...map.values()].filter((r) => r.total > 0).sort((a, b) => b.total - a.total);
    const grid = new Grid(
      {
        roots: () => rows,
        children: () => [],
        key: (r) => r.frame,
        name: (r) => model.shortLabel(r.frame),
        fullName: (r) => model.label(r.frame),
        kind: (r) => model.kind(r.frame),
        matched: (r) => model.isMatch(r.frame),
        chosen: (r) => status(model, r.node),
      },
      [
        {
          name: "share",
          title: "share of this function's total cost",
          width: "4.6rem",
          num: true,
          by: (r) => r.total,
          cell: (r) => pct(model.percent(r.total, sums.total)),
        },
        { name: "", width: "6rem", cell: (r) => meter(r.total, 0, sums.total) },
        { name: "amount", width: "5.2rem", num: true, by: (r) => r.total, cell: (r) => model.amount(r.total) },
        {
          name: "",
          title: "go there",
          width: "2rem",
          cell: (r) => linkCell("go", "show this one", () => setState({ f: r.frame, n: r.node })),
        },
      ],
      title,
    );
    return h("div", {}, h("div", { class: "bar" }, h("b", {}, title), `${rows.length}`), grid.element);
  };
  return {
    element: [
      h(
        "div",
        { class: "bar" },
        h("b", { class: model.isMatch(frame) ? "mark" : "" }, model.shortLabel(frame)),
        h(
          "span",
          {},
          `total ${pct(model.percent(sums.total))}, self ${pct(model.percent(sums.self))}, ${model.lines(frame)} ${model.module(frame)}`,
        ),
      ),
      h("div", { class: "split" }, side("called by", callers), side("calls", callees)),
    ],
  };
}
