// source: one function, its lines and instructions with what each costs.

function functionPoints(model, frame) {
  const { point } = model.data, lines = new Map(), offsets = new Map();
  for (let i = 0; i < point.node.length; i++) {
    if (point.metric[i] !== model.metric) continue;
    const node = model.tree.of[point.node[i]];
    if (model.tree.frame[model.procedure(node)] !== frame) continue;
    const key = point.file[i] + ":" + point.line[i];
    lines.set(key, (lines.get(key) || 0) + point.value[i]);
    offsets.set(point.offset[i], (offsets.get(point.offset[i]) || 0) + point.value[i]);
  }
  return { lines, offsets };
}

// What the function calls, by the line of the call.
function callCosts(model, frame) {
  const calls = new Map();
  for (let i = 1; i < model.tree.n; i++) {
    if (!model.tree.call_line[i] || model.tree.relation[i] === 3) continue;
    if (model.tree.frame[model.procedure(model.tree.parent[i])] !== frame) continue;
    const key = model.tree.call_file[i] + ":" + model.tree.call_line[i];
    calls.set(key, (calls.get(key) || 0) + model.total[i]);
  }
  return calls;
}

function loopsOf(model, frame) {
  const loops = new Set();
  for (let i = 1; i < model.tree.n; i++) {
    const f = model.tree.frame[i];
    if (model.data.frame.kind[f] === LOOP && model.data.frame.line[f] && model.tree.frame[model.procedure(i)] === frame) loops.add(f);
  }
  return [...loops];
}

function gutter(model, loops, line) {
  return loops.filter((f) => line >= model.data.frame.line[f] && line <= model.data.frame.end_line[f]).map((f) => line === model.data.frame.line[f] ? "┌" : line === model.data.frame.end_line[f] ? "└" : "│").join("");
}

function sourceRow(model, line, text, self, calls, mark, here) {
  const heat = Math.min(100, 3 * model.percent(self + calls));
  return h("tr", { class: (heat > .3 ? "hot" : "") + (here ? " here" : ""), style: { "--heat": heat } }, h("td", { class: "num" }, self ? pct(model.percent(self)) : ""), h("td", { class: "num" }, calls ? pct(model.percent(calls)) : ""),
    h("td", { class: "num" }, String(line)), h("td", { class: "gutter" }, mark), h("td", {}, text));
}

function sourceLines(model, frame) {
  const f = model.data.frame, { lines } = functionPoints(model, frame), calls = callCosts(model, frame), loops = loopsOf(model, frame), file = f.file[frame];
  const found = model.data.meta.sources.find((s) => s.file === file && s.first <= f.line[frame] && f.line[frame] < s.first + s.lines.length);
  const cost = (line) => [lines.get(file + ":" + line) || 0, calls.get(file + ":" + line) || 0];
  if (found) {
    const last = Math.max(f.end_line[frame], ...[...lines.keys(), ...calls.keys()].filter((k) => k.startsWith(file + ":")).map((k) => Number(k.split(":")[1])), f.line[frame]);
    return found.lines.slice(f.line[frame] - found.first, last + 1 - found.first).map((text, i) => sourceRow(model, f.line[frame] + i, text, ...cost(f.line[frame] + i), gutter(model, loops, f.line[frame] + i), f.line[frame] + i === state.line));
  }
  const known = new Set([...lines.keys(), ...calls.keys()]);
  return [...known].map((k) => k.split(":").map(Number)).filter(([, line]) => line).sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([at, line]) => sourceRow(model, line, at === file ? "" : model.fileName(at), lines.get(at + ":" + line) || 0, calls.get(at + ":" + line) || 0, at === file ? gutter(model, loops, line) : "", line === state.line));
}

function codeRows(model, frame) {
  const { offsets } = functionPoints(model, frame), code = model.data.meta.code.find((c) => c.frame === frame);
  if (!code) return [];
  return code.insns.map(([offset, text]) => {
    const self = offsets.get(offset) || 0, heat = Math.min(100, 3 * model.percent(self));
    return h("tr", { class: "insn" + (heat > .3 ? " hot" : ""), style: { "--heat": heat } }, h("td", { class: "num" }, self ? pct(model.percent(self)) : ""), h("td", { class: "num" }, "+0x" + offset.toString(16)), h("td", {}, text));
  });
}

function sourceView(model) {
  const node = model.procedure(state.n), frame = state.f >= 0 && [FUNCTION, INLINE].includes(model.data.frame.kind[state.f]) ? state.f : model.tree.frame[node];
  if (![FUNCTION, INLINE].includes(model.data.frame.kind[frame])) return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its lines and instructions are shown here.")] };
  const rows = sourceLines(model, frame), code = codeRows(model, frame), path = model.text(model.data.frame.file[frame]);
  const has = model.data.meta.sources.some((s) => s.file === model.data.frame.file[frame]);
  return { element: [h("div", { class: "bar" }, h("b", {}, model.label(frame)), ` ${path}${path ? ":" + model.data.frame.line[frame] : ""}`, h("span", { class: "sep" }), "self, calls"),
    !has && path ? h("div", { class: "bar" }, "The text of this file was not found; make the report with --source-dir DIR or --source-map OLD=NEW to see it.") : null,
    h("div", { class: code.length ? "split" : "code" }, ...(code.length ? [h("div", {}, h("div", { class: "code" }, h("table", {}, h("tbody", {}, ...rows)))), h("div", {}, h("div", { class: "code" }, h("table", {}, h("tbody", {}, ...code))))] : [h("table", {}, h("tbody", {}, ...rows))]))] };
}

function showSource(model, node, line) {
  if (!node) return;
  choose(model, node, model.tree.frame[node]);
  state.line = line;
  setState({ v: "source" });
}
