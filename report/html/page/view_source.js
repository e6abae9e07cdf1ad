// source: one function, its lines and instructions with what each costs, metric beside metric. Code that was inlined stands
// folded at the line of its call.

const unfolded = new Set();
const LONGEST = 2000; // lines of a function that is shown whole
const NEAR_COST = 6; // lines around one that costs something

// What is shown side by side, { name, title }: the chosen metric first, then the other events'; of a comparison both sides.
function sourceColumns(model) {
  if (isDiff(model)) return ["before", "after", "change"].map((name) => ({ name, title: "of this line alone" }));
  const metrics = sourceMetrics(model),
    ranks = model.data.meta.ranks ? [{ name: "imbal.", title: "cost of the slowest rank above the average" }, { name: "rank", title: "the rank with the highest cost" }] : [];
  return [...metrics.map((m) => ({ name: metrics.length > 1 ? model.metrics[m].name : "self", title: "self cost" })), ...ranks];
}

function sourceMetrics(model) {
  return [model.metric, ...model.metrics.keys()].filter((m, i, all) => all.indexOf(m) === i && (i === 0 || (m > 0 && m < measuredMetrics(model))));
}

function heatOf(model, costs) {
  if (isDiff(model)) return Math.min(100, 3 * Math.abs(changePercent(model, costs ? costs[AFTER] - costs[BEFORE] : 0)));
  return Math.min(100, 3 * model.percent(costs ? costs[model.metric] : 0));
}

// Own costs by line, what is called and what was inlined by line of the call; of some copies of a function.
function siteCosts(model, nodes) {
  const { point } = model.data,
    { tree } = model,
    { kind } = model.data.frame,
    own = new Map(),
    calls = new Map(),
    inlined = new Map(),
    n = model.metrics.length;
  const add = (map, key, metric, value) => {
    let costs = map.get(key);
    if (!costs) map.set(key, (costs = new Float64Array(n)));
    costs[metric] += value;
  };
  for (let i = 0; i < point.node.length; i++)
    if (nodes.has(model.procedure(tree.of[point.node[i]])) && model.counts(i))
      add(own, point.file[i] + ":" + point.line[i], point.metric[i], point.value[i]);
  for (let i = 1; i < tree.n; i++) {
    if (model.procedure(i) !== i || !nodes.has(model.procedure(tree.parent[i]))) continue;
    const key = model.callFile(i) + ":" + model.callLine(i);
    if (kind[tree.frame[i]] === FUNCTION) {
      for (let m = 0; m < n; m++) add(calls, key, m, model.totalOf(m)[i]);
      continue;
    }
    if (!inlined.has(key)) inlined.set(key, new Map());
    const at = inlined.get(key),
      group = at.get(tree.frame[i]) || { nodes: new Set(), total: 0, weight: 0, change: 0 };
    group.nodes.add(i);
    group.total += model.total[i];
    for (const total of model.shownTotals) group.weight += total[i];
    if (isDiff(model)) group.change += nodeChange(model, i);
    at.set(tree.frame[i], group);
  }
  return { own, calls, inlined };
}

// The loops of some copies of a function, outer ones first: { first, last }. A loop reaches as far as the code in it.
function loopsOf(model, nodes) {
  const loops = new Map(),
    { kind, line, end_line, file } = model.data.frame,
    { point } = model.data,
    { tree } = model;
  for (let i = 1; i < tree.n; i++) {
    const f = tree.frame[i];
    if (kind[f] === LOOP && line[f] && nodes.has(model.procedure(i))) loops.set(f, { first: line[f], last: end_line[f] });
  }
  for (let i = 0; i < point.node.length; i++) {
    const within = tree.of[point.node[i]],
      procedure = model.procedure(within);
    for (let at = within; at !== procedure; at = tree.parent[at]) {
      const loop = loops.get(tree.frame[at]);
      if (loop && file[tree.frame[at]] === point.file[i]) loop.last = Math.max(loop.last, point.line[i]);
    }
  }
  return [...loops.values()];
}

function gutter(loops, at) {
  return loops
    .filter((loop) => at >= loop.first && at <= loop.last)
    .map((loop) => (at === loop.first ? "┌" : at === loop.last ? "└" : "│"))
    .join("");
}

// The ways through a function that were counted, the most frequent first; none while they are still packed.
function waysOf(model, frame) {
  const part = model.data.get("ways-" + frame);
  return part ? part.ways.map((way) => ({ ...way, share: part.total ? (100 * way.count) / part.total : 0, relative: part.relative })) : [];
}

function wayWords(way) {
  const end = way.leaves ? ", leaves" : way.next ? `, back to ${way.next}` : "";
  return `${pct(way.share)}${way.relative ? "" : ` (${way.count.toLocaleString("en")})`}: lines ${way.lines.join(" ")}${end}`;
}

// A way at a line: it runs through it, starts over there, or leaves there; a bar where it passes by.
function wayMark(way, line) {
  const lines = way.next ? [...way.lines, way.next] : way.lines;
  if (!way.leaves && line === way.next) return "▶";
  if (way.lines.includes(line)) return way.leaves && line === way.lines[way.lines.length - 1] ? "◀" : "●";
  return lines.some((at) => at < line) && lines.some((at) => at > line) ? "│" : "\u00a0";
}

function wayMarks(ways, line) {
  return ways.map((way, i) => h("span", { class: `way${i % 2 ? " odd" : ""}`, title: wayWords(way) }, wayMark(way, line)));
}

function shareCells(model, costs) {
  const share = (m) => (costs && costs[m] ? pct((100 * costs[m]) / (model.totalOf(m)[0] || 1)) : ""),
    ranks = model.data.meta.ranks ? rankCells(model, costs) : [],
    texts = isDiff(model) ? diffCells(model, costs) : [...sourceMetrics(model).map(share), ...ranks];
  return texts.map((text) => h("td", { class: "num" }, text));
}

// What is called at a line; of a comparison, by how much that changed.
function callsText(model, costs) {
  if (!costs) return "";
  if (isDiff(model)) return costs[BEFORE] || costs[AFTER] ? signedAmount(model, costs[AFTER] - costs[BEFORE]) : "";
  return costs[model.metric] ? pct(model.percent(costs[model.metric])) : "";
}

// What was inlined at a line: a row that unfolds.
function foldRows(model, frame, group, { key, marks, depth }) {
  const id = depth + "/" + key + "/" + frame,
    open = unfolded.has(id),
    indent = { paddingLeft: 10 + depth * 24 + "px" };
  const toggle = () => {
    open ? unfolded.delete(id) : unfolded.add(id);
    setState({ v: "source" });
  };
  const row = h(
    "tr",
    { class: "fold" },
    h("td", { colspan: sourceColumns(model).length + 1 }),
    h("td", { class: "num" }, isDiff(model) ? signedAmount(model, group.change) : pct(model.percent(group.total))),
    h("td"),
    h("td", { class: "gutter" }, marks),
    h(
      "td",
      { style: indent },
      h("button", { class: "link", "aria-expanded": String(open), onclick: toggle }, `${open ? "▾" : "▸"} ↪ inlined ${model.shortLabel(frame)}`),
    ),
  );
  return open ? [row, ...functionRows(model, frame, group.nodes, depth + 1)] : [row];
}

// One line of source, and below it what was inlined there.
function sourceRows(model, site, place) {
  const { line, text, key, marks, depth, frame } = place,
    own = site.own.get(key),
    calls = site.calls.get(key),
    heat = heatOf(model, own);
  const row = h(
    "tr",
    { class: (heat > 0.3 ? "hot" : "") + (line === state.line && !depth ? " here" : ""), style: { "--heat": heat } },
    ...shareCells(model, own),
    h("td", { class: "num soft" }, !isDiff(model) && own && own[model.metric] ? "±" + pct(model.interval(own[model.metric], model.spread(frame, "self"))) : ""),
    h("td", { class: "num" }, callsText(model, calls)),
    h("td", { class: "num" }, String(line)),
    h("td", { class: "gutter" }, ...wayMarks(place.ways || [], line), marks),
    h("td", { style: { paddingLeft: 10 + depth * 24 + "px" } }, text.replaceAll("\t", "        ")),
  );
  const inlined = [...(site.inlined.get(key) || [])].filter(([, group]) => group.weight).sort((a, b) => b[1].weight - a[1].weight);
  return [row, ...inlined.flatMap(([frame, group]) => foldRows(model, frame, group, place))];
}

// The lines to show of a function: all of it, or of a long one what is near a cost; of code that was written elsewhere in the
// file only what is near a cost.
function shownLines(first, last, costly) {
  const lines = new Set();
  if (first && last - first < LONGEST) for (let line = first; line <= last; line++) lines.add(line);
  for (const line of costly) for (let near = Math.max(1, line - NEAR_COST); near <= line + NEAR_COST; near++) lines.add(near);
  return [...lines].sort((a, b) => a - b);
}

function functionRows(model, frame, nodes, depth) {
  const f = model.data.frame,
    file = f.file[frame],
    site = siteCosts(model, nodes),
    loops = loopsOf(model, nodes),
    ways = depth ? [] : waysOf(model, frame),
    rows = [],
    carries = model.data.carries("source-" + file);
  const keys = [...new Set([...site.own.keys(), ...site.calls.keys(), ...site.inlined.keys()])]
    .map((k) => k.split(":").map(Number))
    .filter(([, line]) => line);
  const here = new Set(keys.filter(([at]) => at === file).map(([, line]) => line));
  let before = 0;
  for (const line of carries ? shownLines(f.line[frame], Math.max(f.end_line[frame], f.line[frame]), here) : []) {
    const text = model.sourceLine(file, line);
    if (text === undefined && !here.has(line)) continue;
    if (before && line > before + 1)
      rows.push(h("tr", { class: "gap" }, h("td", { colspan: sourceColumns(model).length + 4 }), h("td", {}, "⋯")));
    rows.push(...sourceRows(model, site, { line, text: text || "", key: file + ":" + line, marks: gutter(loops, line), ways, depth, frame }));
    before = line;
  }
  for (const [at, line] of keys.sort((a, b) => a[0] - b[0] || a[1] - b[1]))
    if (!carries || at !== file)
      rows.push(
        ...sourceRows(model, site, {
          line,
          text: at === file ? "" : model.fileName(at),
          key: at + ":" + line,
          marks: at === file ? gutter(loops, line) : "",
          depth,
          frame,
        }),
      );
  return rows;
}

function sourceHead(model, ...rest) {
  return h(
    "thead",
    {},
    h(
      "tr",
      {},
      ...sourceColumns(model).map(({ name, title }) => h("th", { class: "num", title }, name)),
      ...rest.map((text) => (text ? h("th", { class: text.length < 8 ? "num" : "" }, text) : h("td"))),
    ),
  );
}

// Long functions start where nothing happens; what was asked for comes first.
function showHottest(element) {
  const heat = (row) => Number(row.style.getPropertyValue("--heat"));
  const rows = element ? [...element.querySelectorAll("tr.hot")] : [],
    row = (element && element.querySelector("tr.here")) || (rows.length ? rows.reduce((a, b) => (heat(b) > heat(a) ? b : a)) : null);
  if (row) element.scrollTop += row.getBoundingClientRect().top - element.getBoundingClientRect().top - element.clientHeight / 2;
}

// What to know before reading: no text, no debug information.
function sourceNote(model, frame, path) {
  if (!path) return "There is no debug information for this function, so its source lines are not known.";
  if (!model.data.carries("source-" + model.data.frame.file[frame]))
    return "This source file was not found; create the report with --source-dir DIR or --source-map OLD=NEW to see it.";
  return "";
}

function sourceView(model) {
  const frame = model.chosenFunction(),
    nodes = new Set(),
    region = (label, content) => h("div", { class: "code", tabindex: 0, role: "region", "aria-label": label }, content);
  if (frame < 0)
    return { element: [h("p", { class: "empty" }, "Choose a function in another view first: its lines and instructions are shown here.")] };
  for (let i = 1; i < model.tree.n; i++) if (model.tree.frame[i] === frame) nodes.add(i);
  if (!nodes.size)
    return {
      element: [h("p", { class: "empty" }, `${model.label(frame)} is not shown: it is hidden, or inlined calls are switched off.`)],
    };
  const path = model.text(model.data.frame.file[frame]),
    note = sourceNote(model, frame, path),
    { self, total } = model.frameCosts(model.metric);
  const rows = functionRows(model, frame, nodes, 0),
    source = rows.length
      ? region("source", h("table", {}, sourceHead(model, isDiff(model) ? "" : "±", "calls", "line", "", ""), h("tbody", {}, ...rows)))
      : null;
  const table = codeTable(model, frame, nodes),
    insns = table ? region("instructions", table) : null;
  const ways = waysOf(model, frame);
  const bar = h(
    "div",
    { class: "bar" },
    h("b", { class: model.isMatch(frame) ? "mark" : "", title: model.label(frame) }, model.shortLabel(frame)),
    h("span", {}, isDiff(model) ? frameWords(model, frame) : `${pct(model.percent(self[frame]))} self, ${pct(model.percent(total[frame]))} total`),
    h("span", { class: "place" }, `${path}${path ? ":" + model.data.frame.line[frame] : ""}`),
    h("span", { class: "sep" }),
    model.module(frame),
  );
  return {
    element: [
      bar,
      note ? h("div", { class: "bar wrap" }, note) : null,
      ways.length ? h("div", { class: "bar wrap ways" }, h("b", {}, "paths"), ...ways.map((way) => h("span", {}, wayWords(way)))) : null,
      insns && source ? h("div", { class: "split" }, h("div", {}, source), h("div", {}, insns)) : source || insns,
    ],
    shown: () => {
      showHottest(source);
      showHottest(insns);
    },
    focus: () => {
      if (source || insns) (source || insns).focus();
    },
  };
}

function showSource(model, node, line) {
  if (!node) return;
  choose(model, node, model.tree.frame[node]);
  setState({ v: "source", line });
}
