// threads: what each thread cost, alone and in the selection; when it was sampled.

const PLOTS = ["plot", "sorted", "histogram"];

// The bars of a plot of the selection's cost in each thread: by thread, by size, or how many threads cost how much.
function plotBars(values, how) {
  if (how !== "histogram") return how === "sorted" ? [...values].sort((a, b) => b - a) : [...values];
  const most = mostOf(values, 1),
    bins = new Array(Math.min(40, Math.max(5, values.length))).fill(0);
  for (const value of values) bins[Math.min(bins.length - 1, Math.floor((bins.length * value) / most))]++;
  return bins;
}

function threadPlot(model, chosen) {
  const how = PLOTS.includes(state.p) ? state.p : "plot",
    bars = plotBars(chosen, how),
    most = mostOf(bars, 1),
    height = 96;
  const canvas = h("canvas", { role: "img", "aria-label": `${how} of the selection's cost by thread; the table holds the numbers` }),
    holder = h("div", { class: "plot" }, canvas);
  const caption = {
    plot: "threads, by number",
    sorted: "threads, most expensive first",
    histogram: `cost of a thread, from 0 to ${model.amount(mostOf(chosen))}`,
  }[how];
  const draw = () => {
    const width = Math.max(holder.clientWidth - MARGIN - 10, 160),
      g = sizeCanvas(canvas, width + MARGIN + 10, height),
      style = getComputedStyle(document.documentElement),
      step = Math.min(width / bars.length, 60);
    g.fillStyle = style.getPropertyValue("--bar-self");
    bars.forEach((value, i) => g.fillRect(MARGIN + i * step, 76 - (66 * value) / most, Math.max(step - 1, 0.7), (66 * value) / most));
    g.fillStyle = style.getPropertyValue("--soft");
    g.font = "11px ui-monospace, DejaVu Sans Mono, monospace";
    g.fillText(how === "histogram" ? most + " threads" : model.amount(most), 14, 18);
    g.fillText("0", 14, 76);
    g.fillRect(MARGIN, 76, width, 1);
    g.fillText(caption, MARGIN, 91);
  };
  new ResizeObserver(draw).observe(holder);
  const buttons = PLOTS.map((name) => h("button", { "aria-pressed": String(name === how), onclick: () => setState({ p: name }) }, name));
  return [h("div", { class: "bar" }, h("b", {}, `${model.shortLabel(model.tree.frame[state.n])} in each thread`), ...buttons), holder];
}

// Threads under their processes, the heaviest first; where there is but one process, its threads alone.
function threadRows(model, sums) {
  const { threads, processes } = model.data.meta,
    groups = processes.map((_, process) => ({ process, threads: [], total: 0 }));
  threads.forEach((thread, t) => {
    groups[thread.process].threads.push(t);
    groups[thread.process].total += sums[t];
  });
  for (const group of groups) group.threads.sort((a, b) => sums[b] - sums[a]);
  const found = groups.filter((group) => group.threads.length).sort((a, b) => b.total - a.total);
  return { roots: found.length > 1 ? found : found.flatMap((group) => group.threads), order: found.flatMap((group) => group.threads) };
}

// A row is a process with its threads, or the number of a thread.
function threadSource(model, roots) {
  const { threads, processes } = model.data.meta,
    isProcess = (row) => typeof row !== "number",
    isLeftOut = (t) => model.threads && !model.threads[t];
  const name = (row) => {
    if (!isProcess(row)) return `${threads[row].name} (${threads[row].tid})`;
    const { name, pid } = processes[row.process],
      n = row.threads.length;
    return `${name} (${pid})${n === 1 ? "" : `, ${n} threads`}`;
  };
  return {
    roots: () => roots,
    children: (row) => (isProcess(row) && row.threads.length > 1 ? row.threads : []), // one thread is the process
    key: (row) => (isProcess(row) ? "process " + row.process : row),
    name,
    kind: (row) => ((isProcess(row) ? row.threads.every(isLeftOut) : isLeftOut(row)) ? "special" : isProcess(row) ? "process" : "thread"),
    matched: () => false,
    chosen: () => {},
  };
}

function threadGrid(model, roots, sums, chosen) {
  const all = sumOf(sums) || 1,
    samples = intervalSamples(model),
    of = (row, values) => (typeof row === "number" ? values[row] : row.threads.reduce((sum, t) => sum + values[t], 0)),
    cost = { total: (row, metric) => of(row, model.wholeThreadSums(metric)) },
    most = Math.max(1, ...roots.map((row) => of(row, sums)));
  const { duration_ns } = model.data.meta.run,
    isTime = model.metrics[model.metric].unit === "ns" && duration_ns > 0;
  const only = (row) => {
    const these = typeof row === "number" ? String(row) : writeSet([...row.threads].sort((a, b) => a - b));
    return linkCell(state.t === these ? "all threads" : "only this", "filter every view", () =>
      setState({ t: state.t === these ? "" : these }),
    );
  };
  const column = (name, width, values, text, title = "") => ({
    name,
    title,
    width,
    num: true,
    by: (row) => of(row, values),
    cell: (row) => text(of(row, values)),
  });
  return new Grid(
    threadSource(model, roots),
    [
      column("share", "4.6rem", sums, (value) => pct((100 * value) / all)),
      { name: "", width: "9rem", cell: (row) => meter(of(row, sums), of(row, chosen), most) },
      ...(isDiff(model) ? diffColumns(model, cost) : [column("amount", "5.6rem", sums, (value) => model.amount(value))]),
      ...rankColumns(model, cost),
      ...(isTime ? [column("busy", "4.6rem", sums, (value) => pct((100 * value) / duration_ns), "share of the duration of the run")] : []),
      column("in selection", "6.4rem", chosen, (value) => model.amount(value)),
      ...(timeBins(model)
        ? [
            column(state.y ? "samples in interval" : "samples", state.y ? "9.4rem" : "5rem", samples, (value) =>
              value.toLocaleString("en"),
            ),
          ]
        : []),
      { name: "", title: "filter", width: "6rem", cell: only },
    ],
    "threads",
    "share",
  );
}

const MOST_OPEN = 60; // threads: where there are more, processes start closed

function threadsView(model) {
  const sums = model.wholeThreadSums(model.metric),
    chosen = model.threadSums(model.metric, state.n),
    { roots, order } = threadRows(model, sums);
  const grid = threadGrid(model, roots, sums, chosen),
    count = (n, what) => `${n} ${n === 1 ? what : what + (what.endsWith("s") ? "es" : "s")}`,
    processes = typeof roots[0] === "object" ? roots.length : 0;
  if (processes && order.length <= MOST_OPEN) {
    for (const row of roots) grid.open.add(grid.source.key(row));
    grid.rebuild();
  }
  grid.element.style.flex = `0 0 min(${28 + 24 * grid.rows.length + 14}px, 26vh)`;
  const bar = h(
    "div",
    { class: "bar" },
    `${processes ? count(processes, "process") + ", " : ""}${count(order.length, "thread")}${state.n ? `; the dark part of a bar is the cost of ${model.shortLabel(model.tree.frame[state.n])}` : ""}`,
    h("span", { class: "sep" }),
    csvButton(grid),
  );
  return { element: [bar, grid.element, ...threadPlot(model, chosen), ...heatMapView(model, order)], focus: () => grid.focus() };
}
