// columns: what tables of costs share: their columns, more columns by formula, and a file of what they show.

function meter(total, self, base) {
  const width = (value) => Math.min(100, base ? (100 * value) / base : 0) + "%";
  return h(
    "span",
    { class: "meter", role: "presentation" },
    h("i", { style: { width: width(total) } }),
    h("i", { style: { width: width(self) } }),
  );
}

// cost: { total(row, metric), self(row, metric), parent(row), frame(row), rows() }; parent is what the row's percentages may be of,
// rows are those among which changes of a comparison are tested.
function costColumns(model, cost) {
  const total = (row) => cost.total(row, model.metric),
    self = (row) => cost.self(row, model.metric),
    base = (row) => model.base(cost.parent(row));
  const sure = [
    {
      name: "±",
      width: "4.2rem",
      num: true,
      title: "half the width of the 95 % interval of total",
      by: (row) => model.interval(total(row), model.spread(cost.frame(row), "total"), cost.total(row, 0)),
      cell: (row) => pct(model.interval(total(row), model.spread(cost.frame(row), "total"), cost.total(row, 0))),
    },
    { name: "amount", width: "5.2rem", num: true, title: "of total", by: total, cell: (row) => model.amount(total(row)) },
  ];
  return [
    {
      name: "total",
      width: "4.6rem",
      num: true,
      title: "cost of this and everything below it",
      by: total,
      cell: (row) => pct(model.percent(total(row), base(row))),
    },
    { name: "", width: "6rem", cell: (row) => meter(total(row), self(row), base(row)) },
    {
      name: "self",
      width: "4.6rem",
      num: true,
      title: "this alone",
      by: self,
      cell: (row) => (self(row) ? pct(model.percent(self(row), base(row))) : ""),
    },
    ...(isDiff(model) ? diffColumns(model, cost) : sure),
    ...rankColumns(model, cost),
    ...formulaColumns(model, cost),
  ];
}

// How many different calls of a function were seen: a count, never a percentage; a lower bound.
function callColumns(model) {
  const calls = model.data.frame.activations,
    of = (row) => (row.frame >= 0 ? calls[row.frame] : 0);
  if (!calls.some((n) => n > 0)) return [];
  return [
    {
      name: "calls ≥",
      width: "5.2rem",
      num: true,
      title: "distinct calls that were observed: a lower bound of the number of calls",
      by: of,
      cell: (row) => (of(row) ? of(row).toLocaleString("en-US") : ""),
    },
  ];
}

function formulaColumns(model, cost) {
  return formulas(model).map((formula) => {
    const value = (row) => {
      const result = formula.value((metric, kind) => (kind === "all" ? model.totalOf(metric)[0] : cost[kind](row, metric)));
      return Number.isFinite(result) ? result : null;
    };
    const shown = (result) => (result === null ? "" : formula.metric >= 0 ? model.amount(result, formula.metric) : shortNumber(result));
    return {
      name: formula.label,
      title: formula.text,
      width: `${Math.min(16, Math.max(5.2, formula.label.length * 0.55))}rem`,
      num: true,
      by: value,
      cell: (row) => shown(value(row)),
    };
  });
}

// Places and modules: text that is sorted as text.
function textColumn(name, width, text, cell) {
  return { name, width, by: text, cell: cell || text };
}

// A link to another place of the page, as a cell.
function linkCell(text, title, go) {
  return h(
    "span",
    { class: "place", role: "gridcell", title: text },
    text
      ? h(
          "button",
          {
            class: "link",
            tabindex: -1,
            title,
            onclick: (e) => {
              e.stopPropagation();
              go();
            },
          },
          ...placeParts(text),
        )
      : "",
  );
}

function csvButton(grid) {
  return h("button", { title: "save this table as a file", onclick: () => save("cpprof.csv", "text/csv", grid.csv()) }, "CSV");
}

function columnsButton(model) {
  return h("button", { title: "add columns: other metrics, or ratios of metrics", onclick: () => showColumns(model) }, "columns…");
}

// The dialog in which columns are added and taken away.
function showColumns(model) {
  const dialog = $("columns"),
    has = formulas(model),
    names = model.metrics.map((m) => m.name);
  const quoted = (name) => (/^\w[\w.:/-]*$/.test(name) ? name : `"${name}"`);
  const set = (texts) => {
    setState({ x: texts.join(";") });
    showColumns(model);
  };
  const message = h("output", { class: "wrong", "aria-live": "polite" });
  const field = h("input", {
    type: "text",
    id: "formula",
    size: 34,
    placeholder: `for example: ${names.length > 2 ? `ratio = ${quoted(names[1])} / ${quoted(names[2])}` : `per sample = ${quoted(names[1] || names[0])} / ${quoted(names[0])}`}`,
    autocomplete: "off",
    spellcheck: "false",
  });
  const add = (event) => {
    event.preventDefault();
    try {
      const text = field.value.replaceAll(";", " ").trim();
      parseFormula(text, names);
      set([...has.map((f) => f.text), text]);
    } catch (error) {
      message.textContent = error.message;
    }
  };
  dialog.replaceChildren(
    h("h2", {}, "More columns"),
    h(
      "ul",
      { class: "plain" },
      ...has.map((formula, i) =>
        h(
          "li",
          {},
          h("code", {}, formula.text),
          " ",
          h("button", { onclick: () => set(has.filter((_, k) => k !== i).map((f) => f.text)) }, "remove"),
        ),
      ),
    ),
    h(
      "p",
      {},
      ...names.flatMap((name) => [
        h("button", { onclick: () => set([...has.map((f) => f.text), quoted(name)]) }, name),
        " ",
        h("button", { onclick: () => set([...has.map((f) => f.text), `self(${quoted(name)})`]) }, `self(${name})`),
        " ",
      ]),
    ),
    h("form", { onsubmit: add }, h("label", {}, "formula ", field), " ", h("button", { type: "submit" }, "add"), " ", message),
    h(
      "p",
      { class: "hint" },
      "+ − * / ( ), numbers and names of metrics; self(…) is the self cost, all(…) the total of everything shown. Shown in the tree, callers and flat views.",
    ),
    h("p", {}, h("button", { onclick: () => dialog.close() }, "close")),
  );
  if (!dialog.open) dialog.showModal();
  field.focus();
}
