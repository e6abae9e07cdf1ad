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
    plot: "threads, in order of their numbers",
    sorted: "threads, the costliest first",
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
  return [h("div", { class: "bar" }, h("b", {}, `${model.nodeLabel(state.n)} in each thread`), ...buttons), holder];
}

function threadGrid(model, order, sums, chosen) {
  const { meta } = model.data,
    all = sumOf(sums) || 1,
    most = mostOf(sums, 1),
    samples = intervalSamples(model);
  const { duration_ns } = meta.run,
    isTime = model.metrics[model.metric].unit === "ns" && duration_ns > 0;
  const only = (t) =>
    linkCell(state.t === String(t) ? "all threads" : "only this", "filter every view", () =>
      setState({ t: state.t === String(t) ? "" : String(t) }),
    );
  return new Grid(
    {
      roots: () => order,
      children: () => [],
      key: (t) => t,
      name: (t) => `${meta.threads[t].name} (${meta.threads[t].tid})`,
      kind: (t) => (model.threads && !model.threads[t] ? "special" : "thread"),
      matched: () => false,
      chosen: () => {},
    },
    [
      { name: "share", width: "4.6rem", num: true, by: (t) => sums[t], cell: (t) => pct((100 * sums[t]) / all) },
      { name: "", width: "9rem", cell: (t) => meter(sums[t], chosen[t], most) },
      { name: "amount", width: "5.6rem", num: true, by: (t) => sums[t], cell: (t) => model.amount(sums[t]) },
      ...(isTime
        ? [
            {
              name: "busy",
              title: "of the time that the run took",
              width: "4.6rem",
              num: true,
              by: (t) => sums[t],
              cell: (t) => pct((100 * sums[t]) / duration_ns),
            },
          ]
        : []),
      { name: "in selection", width: "6.4rem", num: true, by: (t) => chosen[t], cell: (t) => model.amount(chosen[t]) },
      ...(timeBins(model)
        ? [
            {
              name: state.y ? "samples in interval" : "samples",
              width: state.y ? "9.4rem" : "5rem",
              num: true,
              by: (t) => samples[t],
              cell: (t) => samples[t].toLocaleString("en"),
            },
          ]
        : []),
      { name: "", title: "filter", width: "6rem", cell: only },
    ],
    "threads",
  );
}

function threadsView(model) {
  const sums = model.wholeThreadSums(model.metric),
    chosen = model.threadSums(model.metric, state.n),
    order = [...sums.keys()].sort((a, b) => sums[b] - sums[a]);
  const grid = threadGrid(model, order, sums, chosen);
  grid.element.style.flex = `0 0 min(${28 + 24 * order.length + 14}px, 26vh)`;
  const bar = h(
    "div",
    { class: "bar" },
    `${order.length} ${order.length === 1 ? "thread" : "threads"}; the strong part of a bar is in ${model.nodeLabel(state.n)}`,
    h("span", { class: "sep" }),
    csvButton(grid),
  );
  return { element: [bar, grid.element, ...threadPlot(model, chosen), ...heatMapView(model, order)], focus: () => grid.focus() };
}
