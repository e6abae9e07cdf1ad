// model: one tree and everything that is computed from it. Views ask; nothing here touches the page.

const KINDS = ["root", "special", "function", "inline", "loop", "line", "special"];

class Model {
  constructor(data) {
    this.data = data;
    this.strings = data.meta.strings;
    this.metrics = data.meta.metrics;
    this.labels = new Map();
    this.whole = [];
    this.setOptions({
      metric: data.meta.default_metric,
      threads: "",
      loops: true,
      inlines: true,
      recursion: true,
      filter: false,
      hide: "",
      hideModules: "",
      chains: false,
    });
  }

  /* ---- names */

  text(id) {
    return this.strings[id];
  }
  kind(frame) {
    return KINDS[this.data.frame.kind[frame]];
  }
  module(frame) {
    const m = this.data.frame.module[frame];
    return m === 0xffffffff ? "" : this.data.meta.modules[m];
  }
  fileName(id) {
    const path = this.strings[id] || "";
    return path.slice(path.lastIndexOf("/") + 1);
  }

  label(frame) {
    let label = this.labels.get(frame);
    if (label === undefined) {
      const f = this.data.frame,
        kind = f.kind[frame];
      const called = (this.data.meta.remarks[frame] || [])[0];
      if (called) label = called;
      else if (kind === 0) label = "all";
      else if (kind === 1) label = "incomplete stacks";
      else if (kind === LOOP) label = f.line[frame] ? `loop at ${this.lines(frame)}` : `loop in ${this.text(f.name[frame])}`;
      else label = this.text(f.name[frame]) || "other";
      this.labels.set(frame, label);
    }
    return label;
  }

  // What is known of a loop, or of a parallel region; "" where that is nothing.
  facts(frame) {
    return frame < 0 ? "" : (this.data.meta.remarks[frame] || ["", ""])[1];
  }

  nodeLabel(node) {
    return this.label(this.tree.frame[node]);
  }

  // A name for a row: long ones are shortened, no two to the same.
  shortName(id) {
    return this.data.meta.short[id] || this.text(id);
  }
  shortLabel(frame) {
    const f = this.data.frame,
      isNamed = f.kind[frame] > 1 && !(f.kind[frame] === LOOP && f.line[frame]);
    if (!isNamed || !(f.name[frame] in this.data.meta.short)) return this.label(frame);
    return (f.kind[frame] === LOOP ? "loop in " : "") + this.shortName(f.name[frame]);
  }

  // "file.c:12-30"
  lines(frame) {
    const f = this.data.frame;
    if (!f.line[frame]) return "";
    const end = f.kind[frame] === LOOP && f.end_line[frame] > f.line[frame] ? "-" + f.end_line[frame] : "";
    return `${this.fileName(f.file[frame])}:${f.line[frame]}${end}`;
  }

  callFile(node) {
    return this.data.sites.call_file[this.tree.from[node]];
  }
  callLine(node) {
    return this.data.sites.call_line[this.tree.from[node]];
  }
  callSite(node) {
    return this.callLine(node) ? `${this.fileName(this.callFile(node))}:${this.callLine(node)}` : "";
  }

  // A line of source text; undefined where the report does not hold it. Long files come in pieces.
  sourceLine(file, line) {
    for (const { first, lines } of this.data.get("source-" + file) || [])
      if (line >= first && line < first + lines.length) return lines[line - first];
    return undefined;
  }

  /* ---- what is shown */

  // Is a tree with these options smaller than the whole one? Then places of calls must be unpacked first.
  isSmaller(options) {
    return !(options.loops && options.inlines && options.recursion) || Boolean(options.hide || options.hideModules);
  }

  // Options that are as they were cost nothing; a filter depends on what matches, which may have changed.
  setOptions(options) {
    const was = this.options,
      next = (this.options = { ...was, ...options });
    const isSame = (...names) => was && names.every((name) => was[name] === next[name]);
    if (!isSame("loops", "inlines", "recursion", "hide", "hideModules")) {
      this.tree = this.isSmaller(next) ? smallerTree(this.data, this.hiddenFrames(), next.recursion) : wholeTree(this.data);
      this.lists = childLists(this.tree);
      this.procedures = null;
    } else if (isSame("threads", "filter", "metric", "chains") && !next.filter) return;
    this.threads = readSet(next.threads, this.data.meta.threads.length);
    this.through = next.filter && this.matches ? this.filteredNodes() : null;
    this.selfs = [];
    this.owns = [];
    this.totals = [];
    this.groups = new Map();
    this.sorted = new Map();
    this.chainLists = null;
  }

  hiddenFrames() {
    const { kind, module } = this.data.frame,
      { loops, inlines, hide, hideModules } = this.options,
      n = kind.length;
    const frames = readSet(hide, n),
      modules = readSet(hideModules, this.data.meta.modules.length),
      hidden = new Uint8Array(n);
    for (let f = 0; f < n; f++)
      hidden[f] =
        (kind[f] === LOOP && !loops) ||
        (kind[f] === INLINE && !inlines) ||
        (frames && frames[f]) ||
        (modules && kind[f] >= FUNCTION && modules[module[f]])
          ? 1
          : 0;
    return hidden;
  }

  // Does a cost of a single line count: is it of a chosen thread, and does its path pass the filter?
  counts(i) {
    const { point } = this.data;
    return (!this.threads || this.threads[point.thread[i]]) && (!this.through || this.through[this.tree.of[point.node[i]]]);
  }

  /* ---- sums, of the metrics that are asked for */

  get metric() {
    return this.options.metric;
  }
  get self() {
    return this.selfOf(this.metric);
  }
  get total() {
    return this.totalOf(this.metric);
  }
  get all() {
    return this.total[0];
  }
  get samples() {
    return this.totalOf(0)[0];
  }

  selfOf(metric) {
    if (!this.selfs[metric]) {
      const { value } = this.data,
        { tree, threads, through } = this,
        self = (this.selfs[metric] = new Float64Array(tree.n));
      for (let i = 0; i < value.node.length; i++)
        if (value.metric[i] === metric && (!threads || threads[value.thread[i]]) && (!through || through[tree.of[value.node[i]]]))
          self[tree.of[value.node[i]]] += value.value[i];
    }
    return this.selfs[metric];
  }

  totalOf(metric) {
    if (!this.totals[metric]) {
      const { parent, n } = this.tree,
        total = (this.totals[metric] = this.selfOf(metric).slice());
      for (let i = n - 1; i > 0; i--) total[parent[i]] += total[i];
    }
    return this.totals[metric];
  }

  // What a function spends outside its calls: its own lines and its loops'.
  ownOf(metric) {
    if (!this.owns[metric]) {
      const { parent, frame, n } = this.tree,
        { kind } = this.data.frame,
        own = (this.owns[metric] = this.selfOf(metric).slice());
      for (let i = n - 1; i > 0; i--) if (kind[frame[i]] === LOOP) own[parent[i]] += own[i];
    }
    return this.owns[metric];
  }

  // By thread, of a metric: of everything, or of what stands below a node.
  threadSums(metric, below = 0) {
    const { value, meta } = this.data,
      { tree } = this,
      sums = new Float64Array(meta.threads.length),
      inside = new Uint8Array(tree.n);
    inside[below] = 1;
    for (let i = below + 1; i < tree.n; i++) inside[i] = inside[tree.parent[i]];
    for (let i = 0; i < value.node.length; i++)
      if (value.metric[i] === metric && inside[tree.of[value.node[i]]]) sums[value.thread[i]] += value.value[i];
    return sums;
  }

  // Of the whole profile, whatever is chosen or filtered.
  wholeThreadSums(metric) {
    return (this.whole[metric] ||= this.threadSums(metric));
  }

  // What percentages are of.
  base(parentTotal) {
    const whole = state.b === "profile" || state.b === "thread" ? this.wholeThreadSums(this.metric) : null;
    if (state.b === "profile") return sumOf(whole);
    if (state.b === "thread") return sumOf(this.threads ? whole.filter((_, t) => this.threads[t]) : whole);
    if (state.b === "focus") return this.total[state.z] || this.all;
    return state.b === "parent" && parentTotal ? parentTotal : this.all;
  }

  percent(value, of = this.all) {
    return of ? (100 * value) / of : 0;
  }

  // The 95 % interval of a share, [low, high] in percent, as the text report has it (number_interval_of_cost): from the number of
  // samples behind it, by cost and by samples where these are given too, and from how much the shares of the frame differ between
  // rounds of sampling. spread: that of the frame's "self" or "total", in sixteenths, or none.
  bounds(value, spread, samples) {
    const n = this.samples / Math.max(1, (spread || 0) / 16);
    const wilson = (p) => {
      const z = 1.959964,
        middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n),
        half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
      return [p <= 0 ? 0 : 100 * (middle - half), p >= 1 ? 100 : 100 * (middle + half)];
    };
    if (!this.samples || !this.all) return [0, 0];
    const by = wilson(Math.min(1, value / this.all));
    if (samples === undefined) return by;
    const [low, high] = wilson(Math.min(1, samples / this.samples));
    return [Math.min(by[0], low), Math.max(by[1], high)];
  }

  // Half of it.
  interval(value, spread, samples) {
    const [low, high] = this.bounds(value, spread, samples);
    return (high - low) / 2;
  }
  spread(frame, kind) {
    return frame >= 0 ? this.data.frame[kind + "_spread"][frame] : 0;
  }

  amount(value, metric = this.metric) {
    if (this.metrics[metric].unit !== "ns") return Math.round(value).toLocaleString("en");
    for (const [unit, scale] of [
      ["s", 1e9],
      ["ms", 1e6],
      ["µs", 1e3],
    ])
      if (value >= scale) return (value / scale).toFixed(value >= 100 * scale ? 0 : value >= 10 * scale ? 1 : 2) + " " + unit;
    return Math.round(value) + " ns";
  }

  /* ---- ways through the tree */

  // By which it is decided what is there at all: of a comparison both sides, for what is gone has a cost before.
  get shownTotals() {
    return isDiff(this) ? [this.totalOf(BEFORE), this.totalOf(AFTER)] : [this.total];
  }
  isShown(node) {
    return this.shownTotals.some((total) => total[node] > 0);
  }

  // Children of a node that cost something, heaviest first.
  children(node) {
    let rows = this.sorted.get(node);
    if (!rows) {
      const {
        total,
        shownTotals,
        lists: { first, list },
      } = this;
      rows = Array.from(list.subarray(first[node], first[node + 1])).filter((c) => shownTotals.some((costs) => costs[c] > 0));
      rows.sort((a, b) => total[b] - total[a] || a - b);
      this.sorted.set(node, rows);
    }
    return rows;
  }

  // A chain is what passes all of its cost on to a single child, up to the first that does not; it may be shown as one.
  // { next, tail, head } by node: next is 0 where a chain ends.
  chains() {
    if (!this.chainLists) {
      const { n, parent } = this.tree,
        { shownTotals } = this,
        next = new Uint32Array(n),
        tail = new Uint32Array(n),
        head = new Uint32Array(n);
      for (let i = n - 1; i > 0; i--) {
        tail[i] = next[i] ? tail[next[i]] : i;
        if (parent[i] && this.isShown(i) && shownTotals.every((total) => total[i] === total[parent[i]])) next[parent[i]] = i;
      }
      for (let i = 1; i < n; i++) head[i] = next[parent[i]] === i ? head[parent[i]] : i;
      this.chainLists = { next, tail, head };
    }
    return this.chainLists;
  }

  tail(node) {
    return this.options.chains && node ? this.chains().tail[node] : node;
  }

  // What is zoomed in on is a row of its own.
  head(node) {
    if (!this.options.chains || !node || node === state.z) return node;
    const { head, next } = this.chains();
    return state.z && head[state.z] === head[node] && state.z < node ? next[state.z] : head[node];
  }

  // As children, with each chain as its last member.
  shownChildren(node) {
    return this.options.chains ? this.children(node).map((child) => this.tail(child)) : this.children(node);
  }

  // Of a chain, its first and its last name, or if there are not too many all. Whole names, or short ones.
  shownLabel(node, most = 3, isShort = false) {
    const names = [],
      head = this.head(node),
      name = (at) => (isShort ? this.shortLabel(this.tree.frame[at]) : this.nodeLabel(at));
    for (let at = node; names.push(name(at)) <= most && at !== head;) at = this.tree.parent[at];
    return (names.length > most ? [...names.slice(0, most - 2), "…", name(head)] : names).reverse().join(" › ");
  }

  path(node) {
    const path = [];
    for (let at = node; at > 0; at = this.tree.parent[at]) path.push(at);
    return path.reverse();
  }

  // Down the heaviest child, or of a comparison that which changed most, for as long as it holds enough of its parent: half,
  // unless the address says otherwise.
  hotPath(from = 0) {
    const path = [],
      weight = isDiff(this) ? (node) => Math.abs(nodeChange(this, node)) : (node) => this.total[node];
    for (let at = from; ;) {
      const next = this.children(at).reduce((a, b) => (a !== undefined && weight(a) >= weight(b) ? a : b), undefined);
      if (next === undefined || !weight(next) || weight(next) * 100 < weight(at) * (state.w > 0 ? state.w : 50)) return path;
      path.push(next);
      at = next;
    }
  }

  isProcedure(frame) {
    return this.data.frame.kind[frame] === FUNCTION || this.data.frame.kind[frame] === INLINE;
  }

  // The nearest function or inlined function at or above a node; 0 = none.
  procedure(node) {
    if (!this.procedures) {
      const { parent, frame, n } = this.tree,
        near = (this.procedures = new Uint32Array(n));
      for (let i = 1; i < n; i++) near[i] = this.isProcedure(frame[i]) ? i : near[parent[i]];
    }
    return this.procedures[node];
  }

  // The function that source and sandwich show: the chosen one, or where nothing is chosen the costliest; -1 = none.
  chosenFunction() {
    if (state.f >= 0 && this.isProcedure(state.f)) return state.f;
    const frame = this.tree.frame[this.procedure(state.n)];
    if (this.isProcedure(frame)) return frame;
    const { self } = this.frameCosts(this.metric);
    let best = -1;
    for (let f = 0; f < self.length; f++) if (this.isProcedure(f) && self[f] > (best < 0 ? 0 : self[best])) best = f;
    return best;
  }

  /* ---- groups */

  // { self, total, node } by group; groupOf: frame -> group below n, -1 for none; kept under a name. own: what a node adds to
  // its group's self.
  group(name, metric, groupOf, n, own = this.selfOf(metric)) {
    const key = name + "/" + metric;
    if (!this.groups.has(key)) this.groups.set(key, groupCosts(this.tree, this.lists, own, this.totalOf(metric), groupOf(), n));
    return this.groups.get(key);
  }

  // By frame: every function, inlined function and loop. What a loop spends is also its function's own.
  frameCosts(metric) {
    const { kind } = this.data.frame;
    return this.group(
      "frame",
      metric,
      () => Int32Array.from(kind, (k, f) => (k >= FUNCTION && k <= LOOP ? f : -1)),
      kind.length,
      this.ownOf(metric),
    );
  }

  /* ---- search */

  search(query) {
    this.badQuery = "";
    this.isInverse = query.startsWith("!");
    if (this.isInverse) query = query.slice(1);
    if (!query) this.matches = null;
    if (!query) return;
    const slashed = /^\/(.*)\/(i?)$/.exec(query) || (query.startsWith("re:") && [0, query.slice(3), "i"]),
      plain = query.toLowerCase();
    try {
      const regex = slashed ? new RegExp(slashed[1], slashed[2]) : null;
      this.test = regex ? (s) => regex.test(s) : (s) => s.toLowerCase().includes(plain);
    } catch (error) {
      this.badQuery = error.message; // what matched before it became wrong still does
      return;
    }
    this.matches = Uint8Array.from(this.data.frame.kind, (_, f) => (this.test(this.label(f)) ? 1 : 0));
  }

  matched(node) {
    return this.isMatch(this.tree.frame[node]);
  }
  isMatch(frame) {
    return Boolean(this.matches) && this.matches[frame] === 1;
  }

  // Nodes on whose path something matches.
  throughMatches() {
    const { n, parent } = this.tree,
      through = new Uint8Array(n);
    for (let i = 1; i < n; i++) through[i] = through[parent[i]] || this.matched(i) ? 1 : 0;
    return through;
  }

  // Nodes that pass the filter: through a match, or with "!" through none.
  filteredNodes() {
    const through = this.throughMatches();
    return this.isInverse ? through.map((is) => 1 - is) : through;
  }

  // Of each node, what of it has a match on its path, each sample once.
  matchedCosts() {
    const { n, parent } = this.tree,
      costs = new Float64Array(n),
      { total } = this;
    for (let i = n - 1; i > 0; i--) {
      if (this.matched(i)) costs[i] = total[i];
      costs[parent[i]] += costs[i];
    }
    return costs;
  }

  matchedTotal() {
    return this.matches ? this.matchedCosts()[0] : 0;
  }
}

function sumOf(values) {
  return values.reduce((a, b) => a + b, 0);
}
function mostOf(values, least = 0) {
  return values.reduce((a, b) => Math.max(a, b), least);
}
