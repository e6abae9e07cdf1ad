// tree: contexts as typed arrays, parents before children, and smaller trees made from the whole one.
//
// A tree is { n, parent, frame, of, from }: `of` gives for each context of the profile its node here, `from` the other way
// round the first context that became a node.

const FUNCTION = 2,
  INLINE = 3,
  LOOP = 4;

function wholeTree(data) {
  const of = new Uint32Array(data.n);
  for (let i = 0; i < data.n; i++) of[i] = i;
  return { n: data.n, parent: data.node.parent, frame: data.node.frame, of, from: of };
}

// The tree without some frames, whose costs go to their callers, and if wanted without recursion, which goes back to the
// first call. Nodes that then agree in parent, frame and place of call become one.
function smallerTree(data, isHidden, recursion) {
  const {
      n,
      frame: { kind },
    } = data,
    { call_line } = data.sites;
  const tree = { n: 0, parent: new Int32Array(n), frame: new Uint32Array(n), of: new Uint32Array(n), from: new Uint32Array(n) };
  const size = 2 ** Math.ceil(Math.log2(2 * n + 2)),
    slots = new Int32Array(size).fill(-1);
  const find = (up, frame, i) => {
    let at = ((Math.imul(up, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b) ^ Math.imul(call_line[i], 0xc2b2ae35)) >>> 7) & (size - 1);
    for (; slots[at] >= 0; at = (at + 1) & (size - 1)) {
      const id = slots[at];
      if (tree.parent[id] === up && tree.frame[id] === frame && call_line[tree.from[id]] === call_line[i]) return id;
    }
    slots[at] = tree.n;
    return -1;
  };
  const sameAbove = (node, frame) => {
    while (node && tree.frame[node] !== frame) node = tree.parent[node];
    return node;
  };
  for (let i = 0; i < n; i++) {
    const frame = data.node.frame[i],
      up = i ? tree.of[data.node.parent[i]] : 0;
    if (i && isHidden[frame]) {
      tree.of[i] = up;
      continue;
    }
    const first = !recursion && kind[frame] === FUNCTION ? sameAbove(up, frame) : 0;
    if (first) {
      tree.of[i] = first;
      continue;
    }
    let id = i ? find(up, frame, i) : -1;
    if (id < 0) {
      id = tree.n++;
      tree.parent[id] = up;
      tree.frame[id] = frame;
      tree.from[id] = i;
    }
    tree.of[i] = id;
  }
  for (const name of ["parent", "frame", "from"]) tree[name] = tree[name].slice(0, tree.n);
  return tree;
}

// Children of all nodes: those of node i are list[first[i]] to list[first[i + 1] - 1].
function childLists({ n, parent }) {
  const first = new Uint32Array(n + 2),
    list = new Uint32Array(Math.max(n - 1, 0));
  for (let i = 1; i < n; i++) first[parent[i] + 2]++;
  for (let i = 1; i < n + 2; i++) first[i] += first[i - 1];
  for (let i = 1; i < n; i++) list[first[parent[i] + 1]++] = i;
  return { first, list };
}

// Costs by group of frames; a group below itself adds nothing to its total. groupOf: frame -> group, -1 for none.
// Gives { self, total, node } by group: node is the first of it in the tree, 0 where nothing has a cost.
function groupCosts(tree, { first, list }, own, total, groupOf, n) {
  const self = new Float64Array(n),
    sums = new Float64Array(n),
    node = new Uint32Array(n),
    active = new Uint32Array(n);
  const next = first.slice(),
    path = [0];
  const enter = (at) => {
    const group = groupOf[tree.frame[at]];
    if (group < 0) return;
    if (!node[group]) node[group] = at;
    self[group] += own[at];
    if (!active[group]++) sums[group] += total[at];
  };
  enter(0);
  while (path.length) {
    const at = path[path.length - 1];
    if (next[at] < first[at + 1]) {
      const child = list[next[at]++];
      if (total[child] > 0) {
        enter(child);
        path.push(child);
      }
      continue;
    }
    if (groupOf[tree.frame[at]] >= 0) active[groupOf[tree.frame[at]]]--;
    path.pop();
  }
  return { self, total: sums, node };
}

// "0,3-5": which of n; null = all of them.
function readSet(text, n) {
  if (!text) return null;
  const set = new Uint8Array(n);
  for (const part of text.split(",")) {
    const [from, to = from] = part.split("-").map(Number);
    for (let i = Math.max(0, from); i <= Math.min(to, n - 1); i++) set[i] = 1;
  }
  return set.includes(1) ? set : null;
}

// The other way round.
function writeSet(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b),
    parts = [];
  for (let i = 0; i < sorted.length; i++) {
    const from = sorted[i];
    while (sorted[i + 1] === sorted[i] + 1) i++;
    parts.push(from === sorted[i] ? String(from) : `${from}-${sorted[i]}`);
  }
  return parts.join(",");
}
