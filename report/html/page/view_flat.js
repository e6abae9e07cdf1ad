// flat: costs over the whole program, by module, file, function, loop or line, so that loops rank as peers.

const LEVELS = ["module", "file", "function", "loop", "line"];

// What one line of source costs by itself; it calls nothing, so that its total is the same.
class LineRow {
  constructor(model, file, line, node) {
    Object.assign(this, {
      model,
      key: lineKey(file, line),
      file,
      line,
      node,
      frame: -1,
      kind: "line",
      costs: new Float64Array(model.metrics.length),
    });
  }

  get self() {
    return this.costs[this.model.metric];
  }
  get total() {
    return this.self;
  }
  get name() {
    return `${this.model.fileName(this.file)}:${this.line}`;
  }
  get place() {
    const at = this.model.procedure(this.node);
    return at ? this.model.shortLabel(this.model.tree.frame[at]) : "";
  }
  get path() {
    return this.model.text(this.file);
  }
}

function lineKey(file, line) {
  return file * 4294967296 + line;
}

function lineRows(model) {
  const { node, file, line, metric, value } = model.data.point,
    { of } = model.tree,
    rows = new Map();
  for (let i = 0; i < node.length; i++) {
    if (!line[i] || !model.counts(i)) continue;
    const key = lineKey(file[i], line[i]);
    let row = rows.get(key);
    if (!row) rows.set(key, (row = new LineRow(model, file[i], line[i], of[node[i]])));
    row.costs[metric[i]] += value[i];
  }
  return [...rows.values()];
}

// Which group of a level a frame belongs to, and how many groups there may be.
function levelGroups(model, level) {
  const { kind, file, module } = model.data.frame,
    modules = model.data.meta.modules.length;
  if (level === "module") return [() => Int32Array.from(module, (m, f) => (kind[f] === 0 ? -1 : m < modules ? m : modules)), modules + 1];
  return [() => Int32Array.from(file, (id) => id || -1), model.strings.length];
}

function flatRows(model, level) {
  if (level === "line") return lineRows(model);
  const { kind, name } = model.data.frame,
    rows = [],
    isFrame = level === "function" || level === "loop";
  const costsOf = (metric) => (isFrame ? model.frameCosts(metric) : model.group(level, metric, ...levelGroups(model, level))),
    costs = costsOf(model.metric),
    sides = isDiff(model) ? [costsOf(AFTER), costsOf(BEFORE)] : [costs]; // what is gone has a cost before, if not after
  for (let g = 0; g < costs.total.length; g++) {
    const side = sides.find(({ total }) => total[g]);
    if (!side || (isFrame && (level === "loop") !== (kind[g] === LOOP))) continue;
    const named = level === "module" ? model.data.meta.modules[g] || "unknown" : level === "file" ? model.text(g) : null;
    rows.push({
      key: g,
      self: costs.self[g],
      total: costs.total[g],
      node: side.node[g],
      frame: isFrame ? g : -1,
      name: named === null ? model.label(g) : named,
      short: named === null ? model.shortLabel(g) : named,
      kind: isFrame ? model.kind(g) : "special",
      place: level === "loop" ? model.shortName(name[g]) : isFrame ? model.lines(g) : "",
    });
  }
  return rows;
}

// Of a row, in any metric.
function flatCost(model, level) {
  const isFrame = level === "function" || level === "loop";
  const of = (row, metric, kind) => {
    if (metric === model.metric) return row[kind];
    if (row.costs) return row.costs[metric];
    return (isFrame ? model.frameCosts(metric) : model.group(level, metric, ...levelGroups(model, level)))[kind][row.key];
  };
  return {
    total: (row, metric) => of(row, metric, "total"),
    self: (row, metric) => of(row, metric, "self"),
    parent: () => 0,
    frame: (row) => row.frame,
  };
}

// Of a row of a comparison: after − before, by "self" or "total".
function rowChange(model, level, by) {
  const cost = flatCost(model, level)[by];
  return (row) => cost(row, AFTER) - cost(row, BEFORE);
}

function flatView(model) {
  const level = LEVELS.includes(state.g) ? state.g : "function",
    by = level === "loop" ? "total" : "self",
    rows = flatRows(model, level).filter((r) => r.total > 0 || isDiff(model)),
    size = isDiff(model) ? rowChange(model, level, by) : (row) => row[by];
  rows.sort((a, b) => Math.abs(size(b)) - Math.abs(size(a)) || b.total - a.total);
  const grid = new Grid(
    {
      roots: () => rows,
      children: () => [],
      key: (row) => row.key,
      name: (row) => row.short || row.name,
      fullName: (row) => row.name,
      kind: (row) => row.kind,
      matched: (row) => isMarked(model, row.frame, row.name),
      chosen: (row) => choose(model, row.node, row.frame),
    },
    [
      ...costColumns(model, { ...flatCost(model, level), rows: () => rows }),
      ...(level === "function" ? callColumns(model) : []),
      textColumn(level === "loop" || level === "line" ? "function" : "written at", "14rem", (row) => row.place),
      ...(level === "loop"
        ? [
            textColumn("facts", "20rem", (row) => model.facts(row.frame)),
            textColumn("source", "16rem", (row) => (model.sourceLine(model.data.frame.file[row.frame], model.data.frame.line[row.frame]) || "").trim()),
          ]
        : []),
      level === "line"
        ? textColumn("file", "9rem", (row) => row.path)
        : textColumn("module", "9rem", (row) => (row.frame >= 0 ? model.module(row.frame) : "")),
    ],
    "costs by " + level,
    isDiff(model) ? (by === "self" ? "self change" : "change") : by,
  );
  const step = (by) => setState({ g: LEVELS[Math.max(0, Math.min(LEVELS.length - 1, LEVELS.indexOf(level) + by))] });
  return {
    element: [
      gridBar(
        model,
        grid,
        h("button", { onclick: () => step(-1), title: "coarser" }, "unflatten"),
        h("button", { onclick: () => step(1), title: "finer" }, "flatten"),
        ...LEVELS.map((name) => h("button", { "aria-pressed": String(name === level), onclick: () => setState({ g: name }) }, name)),
        h("span", { class: "sep" }),
      ),
      grid.element,
    ],
    focus: () => grid.focus(),
  };
}
