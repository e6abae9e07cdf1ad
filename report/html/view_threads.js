// threads: what each thread cost, over time.

function threadSums(model) {
  const { value, meta } = model.data, sums = new Float64Array(meta.threads.length), chosen = new Float64Array(meta.threads.length);
  const below = new Uint8Array(model.tree.n);
  below[state.n] = 1;
  for (let i = state.n + 1; i < model.tree.n; i++) below[i] = below[model.tree.parent[i]];
  for (let i = 0; i < value.node.length; i++) {
    if (value.metric[i] !== model.metric) continue;
    sums[value.thread[i]] += value.value[i];
    if (below[model.tree.of[value.node[i]]]) chosen[value.thread[i]] += value.value[i];
  }
  return { sums, chosen };
}

function heatMap(model, order) {
  const { time, meta } = model.data, bins = time.bin.reduce((a, b) => Math.max(a, b + 1), 0), rows = Math.min(order.length, 512), height = Math.max(6, Math.min(22, 400 / rows));
  if (!bins) return h("p", { class: "empty" }, "This profile has no timeline.");
  const canvas = h("canvas", { role: "img", "aria-label": "samples by thread and time" }), place = new Map(order.map((t, i) => [t, i]));
  const holder = h("div", { class: "canvas" }, canvas);
  const draw = () => {
    const width = Math.max(holder.clientWidth - 170, 200), scale = devicePixelRatio || 1, g = canvas.getContext("2d");
    canvas.width = (width + 170) * scale; canvas.height = (rows * height + 24) * scale;
    canvas.style.width = width + 170 + "px"; canvas.style.height = rows * height + 24 + "px";
    g.setTransform(scale, 0, 0, scale, 0, 0);
    const most = time.value.reduce((a, b) => Math.max(a, b), 1), style = getComputedStyle(document.documentElement);
    for (let i = 0; i < time.bin.length; i++) {
      const row = place.get(time.thread[i]);
      if (row === undefined || row >= rows) continue;
      g.globalAlpha = .15 + .85 * time.value[i] / most;
      g.fillStyle = style.getPropertyValue("--bar-self");
      g.fillRect(160 + time.bin[i] * width / bins, row * height, Math.max(width / bins - .3, .6), height - 1);
    }
    g.globalAlpha = 1;
    g.fillStyle = style.getPropertyValue("--soft");
    g.font = "11px ui-monospace, DejaVu Sans Mono, monospace";
    for (let i = 0; i < rows && height >= 10; i++) g.fillText(`${meta.threads[order[i]].name} ${meta.threads[order[i]].tid}`.slice(0, 24), 2, i * height + height / 2 + 4);
    g.fillText("0", 160, rows * height + 16);
    const end = (bins * meta.bin_ns / 1e9).toFixed(1) + " s";
    g.fillText(end, 160 + width - end.length * 6.6, rows * height + 16);
  };
  canvas.addEventListener("click", (event) => {
    const row = Math.floor((event.clientY - canvas.getBoundingClientRect().top) / height);
    if (row < rows) setState({ t: state.t === order[row] ? -1 : order[row] });
  });
  new ResizeObserver(draw).observe(holder);
  return holder;
}

const PLOTS = ["plot", "sorted", "histogram"];

// The bars of a plot of the selection's cost in each thread: by thread, by size, or how many threads cost how much.
function plotBars(values, how) {
  if (how !== "histogram") return how === "sorted" ? [...values].sort((a, b) => b - a) : [...values];
  const most = Math.max(...values, 1), bins = new Array(Math.min(40, Math.max(5, values.length))).fill(0);
  for (const value of values) bins[Math.min(bins.length - 1, Math.floor(bins.length * value / most))]++;
  return bins;
}

function threadPlot(model, chosen) {
  const how = PLOTS.includes(state.p) ? state.p : "plot", bars = plotBars(chosen, how), most = Math.max(...bars, 1), height = 110;
  const canvas = h("canvas", { role: "img", "aria-label": `${how} of the selection's cost by thread; the table holds the numbers` }), holder = h("div", { class: "plot" }, canvas);
  const draw = () => {
    const width = Math.max(holder.clientWidth - 170, 200), scale = devicePixelRatio || 1, g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    canvas.width = (width + 170) * scale; canvas.height = height * scale;
    canvas.style.width = width + 170 + "px"; canvas.style.height = height + "px";
    g.setTransform(scale, 0, 0, scale, 0, 0);
    const step = Math.min(width / bars.length, 60);
    g.fillStyle = style.getPropertyValue("--bar-self");
    bars.forEach((value, i) => g.fillRect(160 + i * step, 90 - 80 * value / most, Math.max(step - 1, .7), 80 * value / most));
    g.fillStyle = style.getPropertyValue("--soft");
    g.font = "11px ui-monospace, DejaVu Sans Mono, monospace";
    g.fillText(how === "histogram" ? most + " threads" : model.amount(most), 10, 16);
    g.fillText("0", 10, 90);
    g.fillRect(160, 90, width, 1);
    g.fillText({ plot: "threads, in order of their numbers", sorted: "threads, the costliest first", histogram: `cost of a thread, from 0 to ${model.amount(Math.max(...chosen, 0))}` }[how], 160, 104);
  };
  new ResizeObserver(draw).observe(holder);
  return [h("div", { class: "bar" }, `${model.label(model.tree.frame[state.n])} in each thread`, ...PLOTS.map((name) => h("button", { "aria-pressed": String(name === how), onclick: () => setState({ p: name }) }, name))), holder];
}

function threadsView(model) {
  const { meta } = model.data, { sums, chosen } = threadSums(model), all = sums.reduce((a, b) => a + b, 0) || 1, order = [...sums.keys()].sort((a, b) => sums[b] - sums[a]);
  const most = Math.max(...sums, 1);
  const grid = new Grid({ roots: () => order, children: () => [], hasChildren: () => false, key: (t) => t, name: (t) => `${meta.threads[t].name} (${meta.threads[t].tid})`, kind: () => "special", matched: () => false,
    chosen: () => {}, cells: (t) => [pct(100 * sums[t] / all), h("span", { class: "meter" }, h("i", { style: { width: 100 * sums[t] / most + "%" } }), h("i", { style: { width: 100 * chosen[t] / most + "%" } })), model.amount(sums[t]), model.amount(chosen[t]),
      linkCell(state.t === t ? "all threads" : "only this", "filter every view", () => setState({ t: state.t === t ? -1 : t }))] },
    [{ name: "share", width: "5rem", num: true }, { name: "", width: "14rem" }, { name: "amount", width: "7rem", num: true }, { name: "in selection", width: "7rem", num: true }, { name: "", width: "6rem" }]);
  grid.element.style.flex = `0 0 min(${28 + 24 * order.length + 14}px, 38vh)`;
  return { element: [h("div", { class: "bar" }, `${order.length} threads; dark: in ${model.label(model.tree.frame[state.n])}`, h("span", { class: "sep" }), csvButton(grid)), grid.element, ...threadPlot(model, chosen), h("div", { class: "bar" }, "samples over time; click a row to see only that thread (a profile holds no costs by time, so that times cannot be chosen)"), heatMap(model, order)], focus: () => grid.focus() };
}
