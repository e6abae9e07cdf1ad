// diff: a report of two sets of runs. Metric 1 is before, 2 is after; widths are those of after, colours the change.

const BEFORE = 1,
  AFTER = 2;
const FULL_COLOUR = 0.05; // of the total: changes of this size have the full colour
const TESTED = 0.001, // of the total: smaller rows are not tested
  FALSE_SHARE = 0.05; // of the marks that are expected to be wrong

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
    all = Math.max(model.totalOf(BEFORE)[0], model.totalOf(AFTER)[0]);
  return changeColour(all ? change / all / FULL_COLOUR : 0, dark);
}

// change: from -1 to 1; beyond that the colour stays.
function changeColour(change, dark) {
  const size = Math.min(1, Math.abs(change));
  return `hsl(${change > 0 ? 4 : 215} ${Math.round(75 * size)}% ${Math.round(dark ? 30 + 12 * size : 88 - 28 * size)}%)`;
}

// cost as in costColumns, with or without self and rows. Rows are sorted by how much they changed, in whatever direction.
function diffColumns(model, cost) {
  const change = (row) => cost.total(row, AFTER) - cost.total(row, BEFORE),
    self = (row) => cost.self(row, AFTER) - cost.self(row, BEFORE);
  const column = (name, title, value, cell, by = value) => ({ name, title, width: "5.6rem", num: true, by, cell: (row) => cell(value(row)) });
  const size = (of) => (row) => Math.abs(of(row));
  return [
    column("before", "cost of this and everything below it, before", (row) => cost.total(row, BEFORE), (value) => model.amount(value, BEFORE)),
    column("after", "cost of this and everything below it, after", (row) => cost.total(row, AFTER), (value) => model.amount(value, AFTER)),
    column("change", "after − before", change, (value) => signedAmount(model, value), size(change)),
    column("of before", "change in percent of everything before", change, (value) => signedPercent(changePercent(model, value))),
    ...(model.data.meta.runs && cost.rows ? [intervalColumn(model, cost)] : []),
    ...(cost.self ? [column("self change", "after − before, of this alone", self, (value) => signedAmount(model, value), size(self))] : []),
  ];
}

// Of the change, as report/diff/diff.c has it: computed from the variation between runs, or of single runs from their numbers of samples.
function intervalColumn(model, cost) {
  const percent = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(changePercent(model, value)).toFixed(1);
  const of = (row) => changeInterval(model.data.meta.runs, (metric) => cost.total(row, metric));
  let marked = null;
  const isMarked = (row) => (marked ||= significantRows(model, cost, of)).has(row);
  return {
    name: "95 % interval",
    title: `of the change, in percent of everything before; ${model.data.meta.runs.from_runs ? "computed from the variation between runs" : "computed from sample counts alone, without the variation between runs"}; sorted by how sure it is. A star marks what differs by more than noise; at most 5 % of the stars are expected to be wrong.`,
    width: "8.8rem",
    num: true,
    by: (row) => Math.max(of(row).low, -of(row).high),
    cell: (row) => `${percent(of(row).low)} to ${percent(of(row).high)} ${isMarked(row) ? "*" : "\u2007"}`,
  };
}

// By the procedure of Benjamini and Hochberg, among all rows that are large enough, as report/diff has it. Where rows of a table
// are made as they are opened (callers), those that it starts with are tested.
function significantRows(model, cost, intervalOf) {
  const size = (row) => (cost.total(row, BEFORE) + cost.total(row, AFTER)) / 2,
    least = (TESTED * (model.totalOf(BEFORE)[0] + model.totalOf(AFTER)[0])) / 2,
    tested = cost.rows().filter((row) => size(row) > 0 && size(row) >= least),
    ranked = tested.map((row) => ({ row, p: intervalOf(row).p })).sort((a, b) => a.p - b.p),
    n = ranked.findLastIndex(({ p }, i) => p <= (FALSE_SHARE * (i + 1)) / ranked.length) + 1;
  return new Set(ranked.slice(0, n).map(({ row }) => row));
}

function simpson(f, from, to) {
  const n = 1000,
    step = (to - from) / n;
  let sum = f(from) + f(to);
  for (let i = 1; i < n; i++) sum += f(from + i * step) * (i % 2 ? 4 : 2);
  return (sum * step) / 3;
}

// How likely a value beyond ±t is: Student's t as an angle, where its tails have an end; the normal distribution if df is large.
function chanceBeyond(t, df) {
  const isNormal = df > 1000,
    density = isNormal ? (u) => Math.exp((-u * u) / 2) : (u) => Math.cos(u) ** (df - 1),
    end = isNormal ? 40 : Math.PI / 2,
    from = isNormal ? Math.min(t, end) : Math.atan(t / Math.sqrt(df));
  return simpson(density, from, end) / simpson(density, 0, end);
}

// The t that 97.5 % lie below; between two degrees of freedom that are known, in proportion to 1 / df.
function quantile({ t, t_steps: steps }, df) {
  const last = t.length - 2,
    at = Math.min(last, Math.max(0, Math.floor((df - 1) * steps))),
    dfAt = (i) => (i > last ? Infinity : 1 + i / steps),
    share = (1 / dfAt(at) - 1 / df) / (1 / dfAt(at) - 1 / dfAt(at + 1));
  return t[at] + (t[at + 1] - t[at]) * Math.min(1, Math.max(0, share));
}

// Mean of one side, and the variance of that mean.
function sideOf(runs, costOf, from, n) {
  const all = runs.n_before + runs.n_after,
    list = Array.from({ length: n }, (_, i) => from + i),
    values = list.map((run) => costOf(runs.first_metric + run)),
    mean = sumOf(values) / n;
  if (runs.from_runs) {
    const weight = sumOf(list.map((run) => runs.weight[run])) / n, // no run is known better than to one sample
      variance = sumOf(values.map((value) => (value - mean) ** 2)) / (n - 1);
    return { mean, variance: Math.max(variance, weight * weight) / n, n };
  }
  const known = list.map((run, i) => {
    const samples = costOf(runs.first_metric + all + run),
      weight = samples ? values[i] / samples : runs.weight[run];
    return (samples + 1) * weight * weight;
  });
  return { mean, variance: sumOf(known) / n / n, n };
}

function changeInterval(runs, costOf) {
  const a = sideOf(runs, costOf, 0, runs.n_before),
    b = sideOf(runs, costOf, runs.n_before, runs.n_after),
    both = a.variance + b.variance,
    df = runs.from_runs ? (both * both) / (a.variance ** 2 / (a.n - 1) + b.variance ** 2 / (b.n - 1)) : Infinity,
    change = b.mean - a.mean,
    half = both > 0 ? Math.sqrt(both) * quantile(runs, df) : 0,
    p = both > 0 ? chanceBeyond(Math.abs(change) / Math.sqrt(both), df) : change ? 0 : 1;
  return { low: change - half, high: change + half, p };
}

// The same of costs by metric: cells of a table of lines.
function diffCells(model, costs) {
  if (!costs || !(costs[BEFORE] || costs[AFTER])) return ["", "", ""];
  return [model.amount(costs[BEFORE], BEFORE), model.amount(costs[AFTER], AFTER), signedAmount(model, costs[AFTER] - costs[BEFORE])];
}

// What changed most comes first.
function byChange(model, nodes) {
  const size = (node) => Math.abs(nodeChange(model, node));
  return [...nodes].sort((a, b) => size(b) - size(a) || a - b);
}

function diffWords(model, node) {
  const change = nodeChange(model, node);
  return `before ${model.amount(model.totalOf(BEFORE)[node], BEFORE)}, after ${model.amount(model.totalOf(AFTER)[node], AFTER)}: ${signedAmount(model, change)}, ${signedPercent(changePercent(model, change))}`;
}

// What was there before and is not now: the picture, whose widths are those of after, has no room for it.
function goneCost(model) {
  const before = model.totalOf(BEFORE),
    after = model.totalOf(AFTER),
    { parent, n } = model.tree;
  let gone = 0;
  for (let i = 1; i < n; i++) if (before[i] && !after[i] && after[parent[i]]) gone += before[i];
  return after[0] ? gone : before[0];
}

// Of a function wherever it is called.
function frameWords(model, frame) {
  const [before, after] = [BEFORE, AFTER].map((metric) => model.frameCosts(metric)),
    words = (kind) => `${model.amount(before[kind][frame], BEFORE)} → ${model.amount(after[kind][frame], AFTER)}, ${signedAmount(model, after[kind][frame] - before[kind][frame])}`;
  return `${words("self")} self; ${words("total")} total`;
}
