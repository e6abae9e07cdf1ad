// code: the instructions of a function, with loops in the margin; of an inlined function, its instructions in every function
// that it went into.

const MOST_HOSTS = 20; // functions whose copies of an inlined one are shown

// The function whose machine code a node is: of an inlined one, what it was inlined into.
function hostNode(model, node) {
  const { tree } = model,
    { kind } = model.data.frame;
  while (node && kind[tree.frame[node]] !== FUNCTION) node = tree.parent[node];
  return node;
}

// The nodes and all that is inlined in them: the same machine code.
function insideOf(model, nodes) {
  const { tree } = model,
    { kind } = model.data.frame,
    inside = new Set(nodes);
  for (let i = 1; i < tree.n; i++) if (kind[tree.frame[i]] === INLINE && inside.has(model.procedure(tree.parent[i]))) inside.add(i);
  return inside;
}

// Own costs by host function and offset in it.
function offsetCosts(model, nodes) {
  const { point } = model.data,
    { tree } = model,
    inside = insideOf(model, nodes),
    hosts = new Map(),
    n = model.metrics.length;
  for (const node of nodes) {
    const host = tree.frame[hostNode(model, node)];
    if (!hosts.has(host)) hosts.set(host, { frame: host, total: 0, offsets: new Map() });
    hosts.get(host).total += model.total[node];
  }
  for (let i = 0; i < point.node.length; i++) {
    const node = model.procedure(tree.of[point.node[i]]);
    if (!inside.has(node) || !model.counts(i)) continue;
    const { offsets } = hosts.get(tree.frame[hostNode(model, node)]);
    if (!offsets.has(point.offset[i])) offsets.set(point.offset[i], new Float64Array(n));
    offsets.get(point.offset[i])[point.metric[i]] += point.value[i];
  }
  return [...hosts.values()].sort((a, b) => b.total - a.total).slice(0, MOST_HOSTS);
}

// The scopes around an instruction, outermost first, that are of a kind.
function scopesAround(scopes, scope, wanted) {
  const found = [];
  for (let at = scope; at && scopes[at]; at = scopes[at][0]) if (scopes[at][1] === wanted) found.unshift(at);
  return found;
}

// A corner where a loop begins and ends, a bar between, for each loop around each instruction.
function loopMarks(scopes, insns) {
  const chains = insns.map((insn) => scopesAround(scopes, insn[5], LOOP));
  const has = (i, loop) => i >= 0 && i < chains.length && chains[i].includes(loop);
  return chains.map((chain, i) =>
    chain.map((loop) => (has(i - 1, loop) ? (has(i + 1, loop) ? "│" : "└") : has(i + 1, loop) ? "┌" : "╶")).join(""),
  );
}

// Of a host, the instructions that are of the function; all of them if it is the function.
function ownInsns(model, code, host, frame) {
  if (host === frame || !code.scopes.length) return code.insns;
  const name = model.data.frame.name[frame];
  return code.insns.filter((insn) => scopesAround(code.scopes, insn[4], INLINE).some((scope) => code.scopes[scope][2] === name));
}

// Instructions of one host, with the source line where it changes.
function insnRows(model, { frame: host, offsets }, frame) {
  const code = model.data.get("code-" + host),
    columns = sourceColumns(model).length;
  if (!code) return [];
  const insns = ownInsns(model, code, host, frame),
    marks = loopMarks(code.scopes, insns);
  let place = "",
    end = insns.length ? insns[0][0] : 0;
  return insns.flatMap(([offset, text, file, line], i) => {
    const self = offsets.get(offset),
      heat = heatOf(model, self),
      now = line ? `${model.fileName(file)}:${line}` : place,
      rows = [];
    if (i && code.insns.indexOf(insns[i]) !== code.insns.indexOf(insns[i - 1]) + 1)
      rows.push(h("tr", { class: "insn" }, h("td", { colspan: columns + 2 }), h("td", { class: "where" }, "⋯")));
    if (now !== place) rows.push(h("tr", { class: "insn" }, h("td", { colspan: columns + 2 }), h("td", { class: "where" }, now)));
    rows.push(
      h(
        "tr",
        { class: "insn" + (heat > 0.3 ? " hot" : ""), style: { "--heat": heat } },
        ...shareCells(model, self),
        h("td", { class: "num" }, "+0x" + offset.toString(16)),
        h("td", { class: "gutter" }, marks[i]),
        h("td", {}, text),
      ),
    );
    place = now;
    return rows;
  });
}

// All of them: a table, or null where the report holds no code.
function codeTable(model, frame, nodes) {
  const hosts = offsetCosts(model, nodes),
    columns = sourceColumns(model).length;
  const body = hosts.flatMap((host) => {
    const rows = insnRows(model, host, frame);
    if (!rows.length || (host.frame === frame && hosts.length === 1)) return rows;
    const title = host.frame === frame ? "its own code" : "inlined in " + model.shortLabel(host.frame);
    return [
      h("tr", { class: "host" }, h("td", { class: "num" }, pct(model.percent(host.total))), h("td", { colspan: columns + 2 }, title)),
      ...rows,
    ];
  });
  return body.length ? h("table", {}, sourceHead(model, "offset", "", "instructions"), h("tbody", {}, ...body)) : null;
}
