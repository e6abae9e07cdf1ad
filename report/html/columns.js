// columns: the cells every table of costs shares.

function meter(model, total, self) {
  return h("span", { class: "meter", role: "presentation" }, h("i", { style: { width: model.percent(total) + "%" } }), h("i", { style: { width: model.percent(self) + "%" } }));
}

const COST_COLUMNS = [
  { name: "total", width: "4.6rem", num: true, sort: "total", title: "this and all below it" },
  { name: "", width: "6rem" },
  { name: "self", width: "4.6rem", num: true, sort: "self", title: "this alone" },
  { name: "±", width: "4.6rem", num: true, title: "half of the 95 % interval of total" },
  { name: "amount", width: "5.6rem", num: true, sort: "total" },
];

function costCells(model, total, self, parentTotal) {
  const base = state.b === "parent" && parentTotal ? parentTotal : model.all;
  return [pct(model.percent(total, base)), meter(model, total, self), self ? pct(model.percent(self, base)) : "", pct(model.interval(total)), model.amount(total)];
}

// A link to another place of the page, as a cell.
function linkCell(text, title, go) {
  return h("span", { class: "place", role: "gridcell" }, text ? h("button", { class: "link", tabindex: -1, title, onclick: (e) => { e.stopPropagation(); go(); } }, text) : "");
}

function csvButton(grid) {
  return h("button", { title: "this table as a file", onclick: () => save("cpprof.csv", "text/csv", grid.csv()) }, "CSV");
}
