// sandwich: one function, who calls it and whom it calls.

// Callers with what they pass on, callees with what they get, each by frame; a recursive call counts once.
function neighbours(model, frame, metric) {
  const { tree } = model,
    total = model.totalOf(metric),
    self = model.selfOf(metric),
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
    known = new Map(),
    of = (metric) => known.get(metric) || known.set(metric, neighbours(model, frame, metric)).get(metric),
    { sums } = of(model.metric),
    isAny = (isDiff(model) ? [BEFORE, AFTER] : [model.metric]).some((metric) => of(metric).sums.total);
  if (!isAny)
    return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its callers and callees are shown here.")] };
  const side = (title, which) => {
    const cost = { total: (row, metric) => of(metric)[which].get(row.frame).total, rows: () => rows },
      change = (row) => Math.abs(cost.total(row, AFTER) - cost.total(row, BEFORE)),
      isThere = (row) => (isDiff(model) ? cost.total(row, BEFORE) + cost.total(row, AFTER) : row.total) > 0;
    const rows = [...of(model.metric)[which].values()]
      .filter(isThere)
      .sort((a, b) => (isDiff(model) ? change(b) - change(a) : b.total - a.total));
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
        ...(isDiff(model)
          ? diffColumns(model, cost)
          : [{ name: "amount", width: "5.2rem", num: true, by: (r) => r.total, cell: (r) => model.amount(r.total) }]),
        ...rankColumns(model, cost),
        {
          name: "",
          title: "go there",
          width: "2rem",
          cell: (r) => linkCell("go", "show this one", () => setState({ f: r.frame, n: r.node })),
        },
      ],
      title,
      isDiff(model) ? "change" : "share",
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
          isDiff(model)
            ? `before ${model.amount(of(BEFORE).sums.total, BEFORE)}, after ${model.amount(of(AFTER).sums.total, AFTER)}: ${signedAmount(model, of(AFTER).sums.total - of(BEFORE).sums.total)}, ${model.lines(frame)} ${model.module(frame)}`
            : `total ${pct(model.percent(sums.total))}, self ${pct(model.percent(sums.self))}, ${model.lines(frame)} ${model.module(frame)}`,
        ),
      ),
      h("div", { class: "split" }, side("called by", "callers"), side("calls", "callees")),
    ],
  };
}
