// summary: what dominates, on which path, how sure; what might be wrong.

// A line has no frame: its name is looked at.
function isMarked(model, frame, name) {
  return Boolean(model.matches) && (frame >= 0 ? model.matches[frame] === 1 : model.test(name));
}

function summaryTable(model, title, rows, by) {
  return h("section", {}, h("h2", {}, title), h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "name"), h("th", { class: "num" }, by), h("th", { class: "num" }, "±"), h("th", {}, "where"))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, h("td", { title: row.name }, h("button", { class: "link" + (isMarked(model, row.frame, row.name) ? " mark" : ""), onclick: () => { choose(model, row.node, row.frame); setState({ v: "tree" }); } }, row.name)),
      h("td", { class: "num" }, pct(model.percent(row[by]))), h("td", { class: "num" }, pct(model.interval(row[by]))), h("td", { class: "place" }, row.place || ""))))));
}

function sentence(model, functions, loops) {
  const top = functions[0], loop = loops[0], path = model.hotPath();
  if (!top) return "There are no samples.";
  let text = `${top.name} takes ${pct(model.percent(top.self))} ± ${pct(model.interval(top.self))} by itself`;
  if (loop && loop.total > model.all * .05) text += `; the heaviest loop is ${loop.name.replace(/^loop /, "")} with ${pct(model.percent(loop.total))}`;
  if (path.length) text += `; the hot path ends in ${model.label(model.tree.frame[path[path.length - 1]])}`;
  return text + ".";
}

function imbalance(model) {
  const { value, meta } = model.data, sums = new Float64Array(meta.threads.length);
  for (let i = 0; i < value.node.length; i++) if (value.metric[i] === model.metric) sums[value.thread[i]] += value.value[i];
  const mean = sums.reduce((a, b) => a + b, 0) / (sums.length || 1);
  return sums.length > 1 && mean ? (Math.max(...sums) / mean).toFixed(2) + " (heaviest thread over mean)" : "one thread";
}

function summaryView(model) {
  const { run, quality } = model.data.meta;
  const functions = flatRows(model, "function").sort((a, b) => b.self - a.self), loops = flatRows(model, "loop").sort((a, b) => b.total - a.total);
  const lines = flatRows(model, "line").sort((a, b) => b.self - a.self), inclusive = [...functions].sort((a, b) => b.total - a.total);
  const facts = [["command", run.command], ["target", run.target], ["host", [run.host, run.arch, run.cpu].filter(Boolean).join(", ")], ["kernel", run.kernel], ["started", run.start],
    ["lasted", (run.duration_ns / 1e9).toFixed(2) + " s"], ["event", model.metrics[model.metric].name], ["balance", imbalance(model)], ["total", model.amount(model.all)]];
  const path = model.hotPath();
  return { element: [h("div", { class: "page" },
    h("section", { class: "wide" }, h("p", { class: "lead" }, sentence(model, functions, loops))),
    summaryTable(model, "Functions by their own cost", functions.slice(0, 10), "self"),
    summaryTable(model, "Functions with all they call", inclusive.slice(0, 10), "total"),
    loops.length ? summaryTable(model, "Loops", loops.slice(0, 10), "total") : null,
    lines.length ? summaryTable(model, "Lines", lines.slice(0, 10), "self") : null,
    h("section", {}, h("h2", {}, "Hot path"), h("ol", { class: "path" }, ...path.map((node, i) => h("li", { style: { paddingLeft: Math.min(i, 24) * 10 + "px" } },
      `${pct(model.percent(model.total[node]))} `, h("button", { class: "link" + (model.matched(node) ? " mark" : ""), onclick: () => { choose(model, node); setState({ v: "tree" }); } }, `${ICONS[model.kind(model.tree.frame[node])]} ${model.label(model.tree.frame[node])}`))))),
    h("section", {}, h("h2", {}, "This run"), h("dl", {}, ...facts.flatMap(([name, value]) => value ? [h("dt", {}, name), h("dd", {}, String(value))] : []))),
    h("section", {}, h("h2", {}, "How far to trust it"), h("dl", {}, ...trust(quality).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]))))] };
}

function trust(quality) {
  const ends = Object.entries(quality.by_end).filter(([, n]) => n).map(([name, n]) => `${n} ${name.replaceAll("_", " ")}`).join(", ");
  const witnesses = Object.entries(quality.by_witness).filter(([, n]) => n).map(([name, n]) => `${n.toLocaleString("en")} ${name}`).join(", ");
  return [["samples", quality.samples.toLocaleString("en")], ["complete", pct(quality.samples ? 100 * quality.complete / quality.samples : 0) + (ends ? ` (${ends})` : "")], ["steps by witness", witnesses || "none"],
    ["lost", String(quality.lost)], ["named", pct(quality.symbolized_pct)], ["with lines", pct(quality.line_info_pct)], ["cpprof's own CPU", (quality.own_cpu_ns / 1e6).toFixed(1) + " ms"],
    ...quality.notes.map((note) => ["note", note])];
}
