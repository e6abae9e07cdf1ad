// source: one function, its lines and instructions with what each costs, metric beside metric. Code that was inlined stands
// folded at the line of its call.

const unfolded = new Set();
const LONGEST = 20000; // lines of a function: debug information may say anything

// The metrics shown side by side: the chosen one first, then the other events'.
function sourceMetrics(model) {
  return [model.metric, ...model.metrics.keys()].filter((m, i, all) => all.indexOf(m) === i && (i === 0 || m > 0));
}

// Own costs by line and by instruction, what is called and what was inlined by line of the call; of some copies of a function.
function siteCosts(model, nodes) {
  const { point } = model.data, { tree } = model, own = new Map(), offsets = new Map(), calls = new Map(), inlined = new Map();
  const add = (map, key, metric, value) => {
    let costs = map.get(key);
    if (!costs) map.set(key, costs = new Float64Array(model.metrics.length));
    costs[metric] += value;
  };
  for (let i = 0; i < point.node.length; i++) {
    if (!model.counts(i) || !nodes.has(model.procedure(tree.of[point.node[i]]))) continue;
    add(own, point.file[i] + ":" + point.line[i], point.metric[i], point.value[i]);
    add(offsets, point.offset[i], point.metric[i], point.value[i]);
  }
  for (let i = 1; i < tree.n; i++) {
    const kind = model.data.frame.kind[tree.frame[i]];
    if ((kind !== FUNCTION && kind !== INLINE) || !nodes.has(model.procedure(tree.parent[i]))) continue;
    const key = tree.call_file[i] + ":" + tree.call_line[i];
    if (kind === FUNCTION) { for (let m = 0; m < model.metrics.length; m++) add(calls, key, m, model.totalOf(m)[i]); continue; }
    if (!inlined.has(key)) inlined.set(key, new Map());
    const at = inlined.get(key), group = at.get(tree.frame[i]) || { nodes: new Set(), total: 0 };
    group.nodes.add(i);
    group.total += model.total[i];
    at.set(tree.frame[i], group);
  }
  return { own, offsets, calls, inlined };
}

function loopsOf(model, nodes) {
  const loops = new Set();
  for (let i = 1; i < model.tree.n; i++) {
    const f = model.tree.frame[i];
    if (model.data.frame.kind[f] === LOOP && model.data.frame.line[f] && nodes.has(model.procedure(i))) loops.add(f);
  }
  return [...loops];
}

function gutter(model, loops, line) {
  return loops.filter((f) => line >= model.data.frame.line[f] && line <= model.data.frame.end_line[f]).map((f) => line === model.data.frame.line[f] ? "┌" : line === model.data.frame.end_line[f] ? "└" : "│").join("");
}

function shareCells(model, costs) {
  return sourceMetrics(model).map((m) => h("td", { class: "num" }, costs && costs[m] ? pct(100 * costs[m] / (model.totalOf(m)[0] || 1)) : ""));
}

// One line of source, and below it what was inlined there if that is unfolded.
function sourceRows(model, site, { line, text, key, marks, depth }) {
  const own = site.own.get(key), calls = site.calls.get(key), heat = Math.min(100, 3 * model.percent(own ? own[model.metric] : 0));
  const row = h("tr", { class: (heat > .3 ? "hot" : "") + (line === state.line && !depth ? " here" : ""), style: { "--heat": heat } }, ...shareCells(model, own),
    h("td", { class: "num soft" }, own && own[model.metric] ? "±" + pct(model.interval(own[model.metric])) : ""),
    h("td", { class: "num" }, calls && calls[model.metric] ? pct(model.percent(calls[model.metric])) : ""),
    h("td", { class: "num" }, String(line)), h("td", { class: "gutter" }, marks), h("td", { style: { paddingLeft: 10 + depth * 24 + "px" } }, text.replaceAll("\t", "        ")));
  const rows = [row];
  for (const [frame, group] of [...site.inlined.get(key) || []].sort((a, b) => b[1].total - a[1].total)) {
    if (!group.total) continue;
    const id = depth + "/" + key + "/" + frame, open = unfolded.has(id);
    const toggle = () => { open ? unfolded.delete(id) : unfolded.add(id); setState({ v: "source" }); };
    rows.push(h("tr", { class: "fold" }, h("td", { colspan: sourceMetrics(model).length + 1 }), h("td", { class: "num" }, pct(model.percent(group.total))), h("td"), h("td", { class: "gutter" }, marks),
      h("td", { style: { paddingLeft: 10 + depth * 24 + "px" } }, h("button", { class: "link", "aria-expanded": String(open), onclick: toggle }, `${open ? "▾" : "▸"} ↪ inlined ${model.label(frame)}`))));
    if (open) rows.push(...functionRows(model, frame, group.nodes, depth + 1));
  }
  return rows;
}

function functionRows(model, frame, nodes, depth) {
  const f = model.data.frame, file = f.file[frame], site = siteCosts(model, nodes), loops = loopsOf(model, nodes);
  const keys = [...new Set([...site.own.keys(), ...site.calls.keys(), ...site.inlined.keys()])].map((k) => k.split(":").map(Number)).filter(([, line]) => line);
  const here = keys.filter(([at]) => at === file).map(([, line]) => line), found = model.data.meta.sources.some((s) => s.file === file);
  const first = Math.min(f.line[frame] || Infinity, ...here), last = Math.max(f.end_line[frame], f.line[frame], ...here);
  const lines = keys.sort((a, b) => a[0] - b[0] || a[1] - b[1]).filter(([at]) => !found || at !== file);
  const rows = [], ours = found && Number.isFinite(first) ? new Set(here) : null;
  for (let line = first; ours && line <= Math.min(last, first + LONGEST); line++) {
    const text = model.sourceLine(file, line);
    if (text === undefined && !ours.has(line)) continue;
    rows.push(...sourceRows(model, site, { line, text: text || "", key: file + ":" + line, marks: gutter(model, loops, line), depth }));
  }
  for (const [at, line] of lines)
    rows.push(...sourceRows(model, site, { line, text: at === file ? "" : model.fileName(at), key: at + ":" + line, marks: at === file ? gutter(model, loops, line) : "", depth }));
  return rows;
}

// The function whose machine code it is: of an inlined one, where most of it went.
function hostOf(model, nodes) {
  const best = [...nodes].reduce((a, b) => model.total[b] > model.total[a] ? b : a);
  let at = best;
  while (at && model.data.frame.kind[model.tree.frame[at]] !== FUNCTION) at = model.tree.parent[at];
  return model.tree.frame[at];
}

// Instructions, with the source line where it changes.
function codeRows(model, host, nodes) {
  const code = model.data.meta.code.find((c) => c.frame === host);
  if (!code) return [];
  const { offsets } = siteCosts(model, insideOf(model, nodes));
  let place = "";
  return code.insns.flatMap(([offset, text, file, line]) => {
    const self = offsets.get(offset), heat = Math.min(100, 3 * model.percent(self ? self[model.metric] : 0)), now = line ? `${model.fileName(file)}:${line}` : place;
    const row = h("tr", { class: "insn" + (heat > .3 ? " hot" : ""), style: { "--heat": heat } }, ...shareCells(model, self), h("td", { class: "num" }, "+0x" + offset.toString(16)), h("td", {}, text));
    const mark = now === place ? [] : [h("tr", { class: "insn" }, h("td", { colspan: sourceMetrics(model).length + 1 }), h("td", { class: "where" }, now))];
    place = now;
    return [...mark, row];
  });
}

// The function's nodes and all that is inlined in them: the same machine code.
function insideOf(model, nodes) {
  const inside = new Set(nodes);
  for (let i = 1; i < model.tree.n; i++)
    if (model.data.frame.kind[model.tree.frame[i]] === INLINE && inside.has(model.procedure(model.tree.parent[i]))) inside.add(i);
  return inside;
}

// Long functions start where nothing happens.
function showHottest(model, table) {
  const rows = table ? [...table.querySelectorAll("tr.hot")] : [];
  if (rows.length) rows.reduce((a, b) => Number(b.style.getPropertyValue("--heat")) > Number(a.style.getPropertyValue("--heat")) ? b : a).scrollIntoView({ block: "center" });
}

function sourceHead(model, ...rest) {
  return h("thead", {}, h("tr", {}, ...sourceMetrics(model).map((m, i) => h("th", { class: "num", title: "self cost" }, sourceMetrics(model).length > 1 ? model.metrics[m].name : "self")), ...rest.map((name) => name ? h("th", { class: name.length < 8 ? "num" : "" }, name) : h("td"))));
}

function sourceView(model) {
  const frame = model.chosenFunction();
  if (frame < 0) return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its lines and instructions are shown here.")] };
  const nodes = new Set();
  for (let i = 1; i < model.tree.n; i++) if (model.tree.frame[i] === frame) nodes.add(i);
  if (!nodes.size) return { element: [h("p", { class: "empty" }, `${model.label(frame)} is not shown: inlined calls are switched off.`)] };
  const host = hostOf(model, nodes), rows = functionRows(model, frame, nodes, 0), code = codeRows(model, host, nodes), path = model.text(model.data.frame.file[frame]);
  const has = model.data.meta.sources.some((s) => s.file === model.data.frame.file[frame]);
  const source = h("div", { class: "code", tabindex: 0, role: "region", "aria-label": "source" }, h("table", {}, sourceHead(model, "±", "calls", "line", "", ""), h("tbody", {}, ...rows)));
  const insns = code.length ? h("div", { class: "code", tabindex: 0, role: "region", "aria-label": "instructions" }, h("table", {}, sourceHead(model, "offset", host === frame ? "" : "in " + model.label(host)), h("tbody", {}, ...code))) : null;
  return { element: [h("div", { class: "bar" }, h("b", { class: model.matches && model.matches[frame] ? "mark" : "" }, model.label(frame)), ` ${path}${path ? ":" + model.data.frame.line[frame] : ""}`, h("span", { class: "sep" }), model.module(frame)),
    !has && path ? h("div", { class: "bar" }, "The text of this file was not found; make the report with --source-dir DIR or --source-map OLD=NEW to see it.") : null,
    !path ? h("div", { class: "bar" }, "There is no debug information for this function: no lines are known.") : null,
    insns ? h("div", { class: "split" }, h("div", {}, source), h("div", {}, insns)) : source], shown: () => showHottest(model, insns) };
}

function showSource(model, node, line) {
  if (!node) return;
  choose(model, node, model.tree.frame[node]);
  state.line = line;
  setState({ v: "source" });
}
