// summary: what dominates, on which path, how sure; what might be wrong.

const LONGEST_PATH = 22; // steps of the hot path that are shown

// A line has no frame: its name is looked at.
function isMarked(model, frame, name) {
  return frame >= 0 ? model.isMatch(frame) : Boolean(model.matches) && model.test(name);
}

// Nothing at all where there are no rows and nothing to say about that.
function summaryTable(model, title, rows, by, { level = "function", empty = "" } = {}) {
  if (!rows.length && !empty) return null;
  const costOf = flatCost(model, level)[by];
  const go = (row) => {
    choose(model, row.node, row.frame);
    setState({ v: "tree" });
  };
  const changes = (row) => {
    const before = costOf(row, BEFORE),
      after = costOf(row, AFTER);
    return [model.amount(before, BEFORE), model.amount(after, AFTER), signedAmount(model, after - before), signedPercent(changePercent(model, after - before))];
  };
  const shares = (row) => [
    pct(model.percent(row[by])),
    pct(model.interval(row[by], model.spread(row.frame, by), costOf(row, 0))),
    ...(model.data.meta.ranks ? rankCells(model, model.metrics.map((_, metric) => costOf(row, metric))) : []),
  ];
  const names = isDiff(model) ? ["before", "after", "change", "of before"] : [by, "±", ...(model.data.meta.ranks ? ["imbalance", "slowest"] : [])];
  const line = (row) =>
    h(
      "tr",
      {},
      h(
        "td",
        { title: row.name },
        h("button", { class: "link" + (isMarked(model, row.frame, row.name) ? " mark" : ""), onclick: () => go(row) }, row.short || row.name),
      ),
      ...(isDiff(model) ? changes(row) : shares(row)).map((text) => h("td", { class: "num" }, text)),
      h("td", { class: "place", title: row.path || row.place || "" }, row.place || ""),
    );
  const head = h("tr", {}, h("th", {}, "name"), ...names.map((name) => h("th", { class: "num" }, name)), h("th", {}, "where"));
  return h(
    "section",
    {},
    h("h2", {}, title),
    rows.length ? h("table", { class: level === "loop" || level === "line" ? "places" : "" }, h("thead", {}, head), h("tbody", {}, ...rows.map(line))) : h("p", { class: "hint" }, empty),
  );
}

function sentence(model, functions, loops) {
  const top = functions[0],
    loop = loops[0],
    path = model.hotPath();
  if (isDiff(model)) return model.data.meta.notes.slice(0, 2).join(" ");
  if (!top) return "There are no samples.";
  const samples = flatCost(model, "function").self(top, 0),
    [low, high] = model.bounds(top.self, model.spread(top.frame, "self"), samples).map((share) => share.toFixed(1));
  let text = `${top.short} takes ${pct(model.percent(top.self))} (${low}–${high}%) by itself`;
  if (loop && loop.total > model.all * 0.05)
    text += `; the most expensive loop is ${loop.name.replace(/^loop /, "")} with ${pct(model.percent(loop.total))}`;
  if (path.length) text += `; the hot path ends in ${model.shortLabel(model.tree.frame[path[path.length - 1]])}`;
  return text + ".";
}

function imbalance(model) {
  const slowest = slowestRank(model, (metric) => model.totalOf(metric)[0]);
  if (slowest) return `${slowest.percent.toFixed(1)} % (cost of the slowest of ${model.data.meta.ranks.n_ranks} ranks above their average)`;
  const sums = model.wholeThreadSums(model.metric),
    mean = sumOf(sums) / (sums.length || 1);
  return sums.length > 1 && mean
    ? `${(mostOf(sums) / mean).toFixed(2)} (maximum of ${sums.length} threads divided by their mean)`
    : "one thread";
}

// How many cores it kept busy on average, where the metric is time.
function utilisation(model) {
  const { run } = model.data.meta;
  if (model.metrics[model.metric].unit !== "ns" || !run.duration_ns) return "";
  return `${(sumOf(model.wholeThreadSums(model.metric)) / run.duration_ns).toFixed(2)} cores on average`;
}

function hotPathList(model) {
  const step = (node, i) =>
    h(
      "li",
      { style: { paddingLeft: Math.min(i, 24) * 10 + "px" } },
      `${isDiff(model) ? signedAmount(model, nodeChange(model, node)) : pct(model.percent(model.total[node]))} `,
      h(
        "button",
        {
          class: "link" + (model.matched(node) ? " mark" : ""),
          title: model.nodeLabel(node),
          onclick: () => {
            choose(model, node);
            setState({ v: "tree" });
          },
        },
        ICONS[model.kind(model.tree.frame[node])],
        ...nameParts(model.shortLabel(model.tree.frame[node])),
      ),
    );
  const path = model.hotPath();
  if (!path.length) return null;
  const left = path.length - LONGEST_PATH; // of a long one its ends
  const steps = path
    .map((node, i) => [node, i])
    .filter(([, i]) => left <= 0 || i < 6 || i >= 6 + left)
    .map(([node, i]) => step(node, i < 6 || left <= 0 ? i : i - left));
  if (left > 0) steps.splice(6, 0, h("li", { class: "hint", style: { paddingLeft: "60px" } }, `⋯ ${left.toLocaleString("en")} more`));
  return h("section", {}, h("h2", {}, isDiff(model) ? "Path of the change" : "Hot path"), h("ol", { class: "path" }, ...steps));
}

function factList(title, facts, id) {
  return h(
    "section",
    { id, tabindex: -1 },
    h("h2", {}, title),
    h("dl", {}, ...facts.flatMap(([name, value]) => (value ? [h("dt", {}, name), h("dd", {}, String(value))] : []))),
  );
}

function summaryView(model) {
  const { run, quality, notes } = model.data.meta,
    most = (rows, by, level) => {
      const size = isDiff(model) ? rowChange(model, level, by) : (row) => row[by];
      return rows
        .filter((row) => size(row))
        .sort((a, b) => Math.abs(size(b)) - Math.abs(size(a)))
        .slice(0, 10);
    },
    of = isDiff(model) ? "by change of " : "by ";
  const functions = flatRows(model, "function"),
    loops = most(flatRows(model, "loop"), "total", "loop"),
    bySelf = most(functions, "self", "function");
  const facts = [
    ["command", run.command],
    ["target", run.target],
    ["host", [run.host, run.arch, run.cpu].filter(Boolean).join(", ")],
    ["kernel", run.kernel],
    ["started", run.start],
    ["lasted", run.duration_ns ? (run.duration_ns / 1e9).toFixed(2) + " s" : ""],
    ["metric", model.metrics[model.metric].name],
    ["total", model.amount(model.all)],
    ["busy", utilisation(model)],
    ["balance", isDiff(model) ? "" : imbalance(model)],
  ];
  const reading = !model.data.parts.has("block-lines") ? "reading…" : model.all ? "Source lines are not known: there is no debug information." : "";
  return {
    element: [
      h(
        "div",
        { class: "page" },
        h("section", { class: "wide" }, h("p", { class: "lead" }, sentence(model, bySelf, loops))),
        summaryTable(model, `Functions ${of}self cost`, bySelf, "self"),
        summaryTable(model, `Functions ${of}total cost`, most(functions, "total", "function"), "total"),
        summaryTable(model, "Loops", loops, "total", { level: "loop" }),
        summaryTable(model, "Lines", most(lineRows(model), "self", "line"), "self", { level: "line", empty: reading }),
        summaryTable(model, "Modules", most(flatRows(model, "module"), "self", "module"), "self", { level: "module" }),
        hotPathList(model),
        factList("This run", facts),
        factList("Quality", trust(quality, notes), "trust"),
      ),
    ],
  };
}

function trust(quality, notes) {
  const { unwind } = quality,
    ofSamples = (percent) => pct(quality.samples ? percent : 0);
  const ends = Object.entries(unwind.by_end)
    .filter(([, n]) => n)
    .map(([name, n]) => `${n} ${name.replaceAll("_", " ")}`)
    .join(", ");
  const witnesses = Object.entries(unwind.by_witness)
    .filter(([, n]) => n)
    .map(([name, n]) => `${n.toLocaleString("en")} ${name}`)
    .join(", ");
  return [
    ["samples", quality.samples.toLocaleString("en")],
    ["complete", ofSamples((100 * unwind.complete) / quality.samples) + (ends ? ` (${ends})` : "")],
    ["frames unwound by", witnesses || "none"],
    ["lost", String(quality.lost_samples)],
    ["named", ofSamples(quality.symbolized_pct)],
    ["with lines", ofSamples(quality.line_info_pct)],
    ["cpprof's own CPU", (quality.overhead.cpprof_cpu_ns / 1e6).toFixed(1) + " ms"],
    ...notes.map((note) => ["note", note]),
  ];
}
