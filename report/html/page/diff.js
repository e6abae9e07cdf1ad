// diff: a report of two sets of runs. Metric 1 is before, 2 is after; widths are those of after, colours the change.

const BEFORE = 1,
  AFTER = 2;
const FULL_COLOUR = 0.05; // of the total: changes of this size have the full colour

function isDiff(model) {
  return Boolean(model.data.meta.is_diff);
}

function signedAmount(model, value) {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + model.amount(Math.abs(value), AFTER);
}

function signedPercent(value) {
  return (value > 0 ? "+" : value < 0 ? "−" : "") + pct(Math.abs(value));
}

// In percent of everything before.
function changePercent(model, change) {
  const all = model.totalOf(BEFORE)[0];
  return all ? (100 * change) / all : 0;
}

function nodeChange(model, node) {
  return model.totalOf(AFTER)[node] - model.totalOf(BEFORE)[node];
}

// Red is more than before, blue is less, grey is the same.
function diffColour(model, node, dark) {
  const change = nodeChange(model, node),
    all = Math.max(model.totalOf(BEFORE)[0], model.totalOf(AFTER)[0]),
    size = all ? Math.min(1, Math.abs(change) / all / FULL_COLOUR) : 0;
  return `hsl(${change > 0 ? 4 : 215} ${Math.round(75 * size)}% ${Math.round(dark ? 30 + 12 * size : 88 - 28 * size)}%)`;
}

// cost as in costColumns.
function diffColumns(model, cost) {
  const change = (row) => cost.total(row, AFTER) - cost.total(row, BEFORE),
    self = (row) => cost.self(row, AFTER) - cost.self(row, BEFORE);
  const column = (name, title, by, cell) => ({ name, title, width: "5.6rem", num: true, by, cell: (row) => cell(by(row)) });
  return [
    column("before", "this and all below it, before", (row) => cost.total(row, BEFORE), (value) => model.amount(value, BEFORE)),
    column("after", "this and all below it, after", (row) => cost.total(row, AFTER), (value) => model.amount(value, AFTER)),
    column("change", "after − before", change, (value) => signedAmount(model, value)),
    column("of before", "change in percent of everything before", change, (value) => signedPercent(changePercent(model, value))),
    column("self change", "after − before, of this alone", self, (value) => signedAmount(model, value)),
  ];
}

function diffTip(model, node) {
  return `\nbefore ${model.amount(model.totalOf(BEFORE)[node], BEFORE)}, after ${model.amount(model.totalOf(AFTER)[node], AFTER)}: ${signedAmount(model, nodeChange(model, node))}, ${signedPercent(changePercent(model, nodeChange(model, node)))}`;
}
