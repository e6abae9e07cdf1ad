// model: one tree and everything that is computed from it. Views ask; nothing here touches the page.

const KINDS = ["root", "special", "function", "inline", "loop", "line", "special"];
const FUNCTION = 2, INLINE = 3, LOOP = 4;

class Model {
  constructor(data) {
    this.data = data;
    this.strings = data.meta.strings;
    this.metrics = data.meta.metrics;
    this.labels = new Map();
    this.setOptions({ metric: data.meta.default_metric, thread: -1, loops: true, inlines: true, recursion: true });
  }

  text(id) { return this.strings[id]; }
  kind(frame) { return KINDS[this.data.frame.kind[frame]]; }
  module(frame) { const m = this.data.frame.module[frame]; return m === 0xffffffff ? "" : this.data.meta.modules[m]; }
  fileName(id) { const path = this.strings[id] || ""; return path.slice(path.lastIndexOf("/") + 1); }

  label(frame) {
    let label = this.labels.get(frame);
    if (label === undefined) {
      const f = this.data.frame, kind = f.kind[frame];
      if (kind === 0) label = "all";
      else if (kind === 1) label = "incomplete stacks";
      else if (kind === LOOP) label = f.line[frame] ? `loop at ${this.lines(frame)}` : `loop in ${this.text(f.name[frame])}`;
      else label = this.text(f.name[frame]) || "other";
      this.labels.set(frame, label);
    }
    return label;
  }

  // "file.c:12-30"
  lines(frame) {
    const f = this.data.frame;
    if (!f.line[frame]) return "";
    const end = f.kind[frame] === LOOP && f.end_line[frame] > f.line[frame] ? "-" + f.end_line[frame] : "";
    return `${this.fileName(f.file[frame])}:${f.line[frame]}${end}`;
  }

  // Does a cost of a single line count: is it of the chosen thread, and does its path pass the filter?
  counts(i) {
    const { point } = this.data, { thread, filter } = this.options;
    return (thread < 0 || point.thread[i] === thread) && (!filter || !this.through || this.through[this.tree.of[point.node[i]]]);
  }

  // A line of source text; undefined where the report does not hold it. Long files come in pieces.
  sourceLine(file, line) {
    if (!this.pieces) {
      this.pieces = new Map();
      for (const piece of this.data.meta.sources) this.pieces.set(piece.file, [...this.pieces.get(piece.file) || [], piece]);
    }
    for (const { first, lines } of this.pieces.get(file) || []) if (line >= first && line < first + lines.length) return lines[line - first];
    return undefined;
  }

  callSite(node) {
    const n = this.tree;
    return n.call_line[node] ? `${this.fileName(n.call_file[node])}:${n.call_line[node]}` : "";
  }

  // Options that are as they were cost nothing; a filter depends on what matches, which may have changed.
  setOptions(options) {
    const was = this.options;
    this.options = { ...was, ...options };
    if (was && !was.filter && Object.keys(this.options).every((name) => (was[name] || 0) === (this.options[name] || 0))) return;
    const sameTree = was && ["loops", "inlines", "recursion"].every((name) => was[name] === this.options[name]);
    if (!sameTree) this.tree = this.derive();
    this.sum();
    this.sorted = new Map();
  }

  // The tree without what is switched off. Scopes that then agree become one; recursion goes back to its first call.
  derive() {
    const { node, frame, n } = this.data, { loops, inlines, recursion } = this.options;
    const whole = loops && inlines && recursion;
    const tree = { parent: [], frame: [], relation: [], call_file: [], call_line: [], of: new Uint32Array(n), n: 0 };
    if (whole) {
      for (let i = 0; i < n; i++) tree.of[i] = i;
      return { ...node, of: tree.of, n };
    }
    const known = new Map();
    for (let i = 0; i < n; i++) {
      const kind = frame.kind[node.frame[i]], up = i ? tree.of[node.parent[i]] : 0;
      if ((kind === LOOP && !loops) || (kind === INLINE && !inlines)) { tree.of[i] = up; continue; }
      if (!recursion && kind === FUNCTION) {
        let at = up;
        while (at && tree.frame[at] !== node.frame[i]) at = tree.parent[at];
        if (at) { tree.of[i] = at; continue; }
      }
      const key = up + ":" + node.frame[i] + ":" + node.call_line[i];
      let id = i ? known.get(key) : undefined;
      if (id === undefined) {
        id = tree.n++;
        known.set(key, id);
        tree.parent.push(up); tree.frame.push(node.frame[i]); tree.relation.push(node.relation[i]);
        tree.call_file.push(node.call_file[i]); tree.call_line.push(node.call_line[i]);
      }
      tree.of[i] = id;
    }
    return tree;
  }

  sum() {
    const { value } = this.data, { thread } = this.options, n = this.tree.n, m = this.metrics.length;
    this.selfs = [...Array(m)].map(() => new Float64Array(n));
    const through = this.through = this.options.filter && this.matches ? this.throughMatches() : null;
    for (let i = 0; i < value.node.length; i++)
      if ((thread < 0 || value.thread[i] === thread) && (!through || through[this.tree.of[value.node[i]]]))
        this.selfs[value.metric[i]][this.tree.of[value.node[i]]] += value.value[i];
    this.totals = [];
    this.owns = [];
    this.buildChildren();
  }

  // Sums of the metrics that are asked for.
  totalOf(metric) {
    if (!this.totals[metric]) {
      const total = this.totals[metric] = this.selfs[metric].slice();
      for (let i = this.tree.n - 1; i > 0; i--) total[this.tree.parent[i]] += total[i];
    }
    return this.totals[metric];
  }

  // Nodes on whose path something matches.
  throughMatches() {
    const through = new Uint8Array(this.tree.n);
    for (let i = 1; i < this.tree.n; i++) through[i] = through[this.tree.parent[i]] || this.matched(i) ? 1 : 0;
    return through;
  }

  // What a function spends outside its calls: its own lines and its loops'.
  get own() {
    if (!this.owns[this.metric]) {
      const own = this.owns[this.metric] = this.self.slice();
      for (let i = this.tree.n - 1; i > 0; i--)
        if (this.data.frame.kind[this.tree.frame[i]] === LOOP) own[this.tree.parent[i]] += own[i];
    }
    return this.owns[this.metric];
  }

  get metric() { return this.options.metric; }
  get self() { return this.selfs[this.metric]; }
  get total() { return this.totalOf(this.metric); }
  get all() { return this.total[0]; }
  get samples() { return this.totalOf(0)[0]; }

  buildChildren() {
    const n = this.tree.n, first = new Uint32Array(n + 2), list = new Uint32Array(Math.max(n - 1, 0));
    for (let i = 1; i < n; i++) first[this.tree.parent[i] + 2]++;
    for (let i = 1; i < n + 2; i++) first[i] += first[i - 1];
    for (let i = 1; i < n; i++) list[first[this.tree.parent[i] + 1]++] = i;
    this.first = first;
    this.list = list;
  }

  // Children of a node that cost something, heaviest first.
  children(node) {
    let rows = this.sorted.get(node);
    if (!rows) {
      rows = Array.from(this.list.subarray(this.first[node], this.first[node + 1])).filter((c) => this.total[c] > 0);
      rows.sort((a, b) => this.total[b] - this.total[a] || a - b);
      this.sorted.set(node, rows);
    }
    return rows;
  }

  path(node) {
    const path = [];
    for (let at = node; at > 0; at = this.tree.parent[at]) path.unshift(at);
    return path;
  }

  // Down the heaviest child for as long as it holds enough of its parent: half, unless the address says otherwise.
  hotPath(from = 0) {
    const path = [];
    for (let at = from; ;) {
      const next = this.children(at)[0];
      if (next === undefined || this.total[next] * 100 < this.total[at] * (state.w > 0 ? state.w : 50)) return path;
      path.push(next);
      at = next;
    }
  }

  percent(value, of = this.all) { return of ? 100 * value / of : 0; }
  // Half the 95 % interval of a share, in percent, from the number of samples behind it.
  interval(value) {
    const p = this.all ? value / this.all : 0;
    return this.samples ? 196 * Math.sqrt(p * (1 - p) / this.samples) : 0;
  }

  unit() { return this.metrics[this.metric].unit; }
  amount(value) {
    if (this.unit() !== "ns") return Math.round(value).toLocaleString("en");
    for (const [unit, scale] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
      if (value >= scale) return (value / scale).toFixed(value >= 100 * scale ? 0 : value >= 10 * scale ? 1 : 2) + " " + unit;
    return Math.round(value) + " ns";
  }

  // Costs per group over the whole tree; a group below itself adds nothing to its total. key(node) -> group or null.
  group(key) {
    const groups = new Map(), { own, total, first, list } = this, next = first.slice(), path = [0];
    const enter = (node) => {
      const k = key(node);
      if (k === null) return;
      let g = groups.get(k);
      if (!g) groups.set(k, g = { key: k, self: 0, total: 0, node, active: 0 });
      g.self += own[node];
      if (!g.active++) g.total += total[node];
    };
    enter(0);
    while (path.length) {
      const node = path[path.length - 1];
      if (next[node] < first[node + 1]) {
        const child = list[next[node]++];
        if (total[child] > 0) { enter(child); path.push(child); }
        continue;
      }
      const k = key(node);
      if (k !== null) groups.get(k).active--;
      path.pop();
    }
    return [...groups.values()];
  }

  functions() {
    return this.group((node) => this.data.frame.kind[this.tree.frame[node]] >= FUNCTION ? this.tree.frame[node] : null);
  }

  // The nearest function or inlined function at or above a node.
  procedure(node) {
    let at = node;
    while (at > 0 && ![FUNCTION, INLINE].includes(this.data.frame.kind[this.tree.frame[at]])) at = this.tree.parent[at];
    return at;
  }

  // The function that source and sandwich show: the chosen one, or where nothing is chosen the costliest; -1 = none.
  chosenFunction() {
    const kinds = this.data.frame.kind, isOne = (frame) => kinds[frame] === FUNCTION || kinds[frame] === INLINE;
    if (state.f >= 0 && isOne(state.f)) return state.f;
    const frame = this.tree.frame[this.procedure(state.n)];
    if (isOne(frame)) return frame;
    let best = null;
    for (const g of this.functions()) if (isOne(g.key) && g.self > (best ? best.self : 0)) best = g;
    return best ? best.key : -1;
  }

  search(query) {
    this.matches = null;
    this.badQuery = "";
    if (!query) return;
    let test;
    const slashed = /^\/(.*)\/(i?)$/.exec(query) || (query.startsWith("re:") && [0, query.slice(3), "i"]);
    try {
      const regex = slashed ? new RegExp(slashed[1], slashed[2]) : null;
      const plain = query.toLowerCase();
      test = regex ? (s) => regex.test(s) : (s) => s.toLowerCase().includes(plain);
    } catch (error) {
      this.badQuery = error.message;
      return;
    }
    const frames = new Uint8Array(this.data.frame.kind.length);
    for (let f = 0; f < frames.length; f++) frames[f] = test(this.label(f)) ? 1 : 0;
    this.matches = frames;
    this.test = test;
  }

  matched(node) { return this.matches !== null && this.matches !== undefined && this.matches[this.tree.frame[node]] === 1; }

  // Share of samples with a match anywhere on their path, each counted once.
  matchedTotal() {
    let sum = 0;
    const through = this.throughMatches();
    for (let i = 1; i < this.tree.n; i++) if (through[i] && !through[this.tree.parent[i]]) sum += this.total[i];
    return sum;
  }
}
