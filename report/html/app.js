// app: the frame around the views: choosers, tabs, keys, quality.

const VIEWS = [["summary", summaryView], ["flame", flameView], ["tree", treeView], ["callers", callersView], ["flat", flatView], ["sandwich", sandwichView], ["source", sourceView], ["threads", threadsView]];
const KEYS = [["1 … 8", "views"], ["/", "search; Enter next, Shift-Enter previous"], ["f", "only what passes through a match, or all"], ["h", "hot path"], ["l i r", "loops, inlined calls, recursion on or off"], ["m", "next metric"], ["p", "percent of all or of parent"],
  ["↑ ↓ ← → Enter", "move in tables and in the flame graph, open and close"], ["z  Esc", "zoom in, zoom out"], ["s", "source of the chosen function"], ["c", "copy the path of the chosen node"], ["t", "light or dark"], ["?", "this list"]];
let current = null;

// The one selection that all views share.
function choose(model, node, frame = -1) {
  Object.assign(state, { n: node, f: frame >= 0 ? frame : -1 });
  setState({});
  status(model, node);
}

function status(model, node) {
  const names = model.path(node).map((n) => model.label(model.tree.frame[n]));
  $("status").textContent = node ? `${pct(model.percent(model.total[node]))} total, ${pct(model.percent(model.self[node]))} self   ${names.slice(-12).join(" › ")}` : "";
}

function showQuality(model) {
  const q = model.data.meta.quality, complete = q.samples ? 100 * q.complete / q.samples : 0, bad = complete < 95 || q.lost > q.samples / 50 || q.samples < 100;
  $("quality").className = bad ? "bad" : "";
  $("quality").textContent = (bad ? "⚠ " : "") + q.line + (q.folded ? "; " + q.folded : "");
}

function show(model) {
  const at = Math.max(0, VIEWS.findIndex(([name]) => name === state.v));
  [...$("views").children].forEach((tab, i) => { tab.setAttribute("aria-selected", String(i === at)); tab.tabIndex = i === at ? 0 : -1; });
  current = VIEWS[at][1](model);
  $("view").replaceChildren(...current.element.filter(Boolean));
  if (current.shown) current.shown();
  status(model, state.n);
}

function showMatches(model) {
  $("query").setAttribute("aria-invalid", String(Boolean(model.badQuery)));
  $("filter").setAttribute("aria-pressed", String(state.k === 1));
  $("matched").textContent = model.badQuery ? model.badQuery : state.q ? pct(model.percent(model.matchedTotal())) + " matched" : "";
}

function nextMatch(model, step) {
  const found = [];
  for (let i = 1; i < model.tree.n; i++) if (model.matched(i) && model.total[i] > 0) found.push(i);
  found.sort((a, b) => model.total[b] - model.total[a]);
  if (!found.length) return;
  const at = found.indexOf(state.n);
  choose(model, found[(at + step + found.length) % found.length]);
  show(model);
}

function fillChoosers(model) {
  const { meta } = model.data;
  $("metric").append(...meta.metrics.map((m, i) => h("option", { value: i }, `${m.name} (${m.unit})`)));
  $("thread").append(h("option", { value: -1 }, `all ${meta.threads.length}`), ...meta.threads.slice(0, 500).map((t, i) => h("option", { value: i }, `${t.name} ${t.tid}`)));
  $("metric").onchange = (e) => setState({ m: Number(e.target.value) });
  $("thread").onchange = (e) => setState({ t: Number(e.target.value) });
  $("base").onchange = (e) => setState({ b: e.target.value });
  $("query").oninput = (e) => setState({ q: e.target.value });
  $("query").onkeydown = (e) => { if (e.key === "Enter") nextMatch(model, e.shiftKey ? -1 : 1); if (e.key === "Escape") { setState({ q: "" }); $("query").value = ""; e.target.blur(); } };
  $("filter").onclick = () => setState({ k: 1 - state.k });
  $("theme").onclick = toggleTheme;
  $("views").onkeydown = onTabKey;
  $("help").onclick = () => $("keys").showModal();
  $("keys").append(h("h2", {}, "Keys"), h("dl", {}, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])), h("p", {}, h("button", { onclick: () => $("keys").close() }, "close")));
  $("views").append(...VIEWS.map(([name], i) => h("button", { role: "tab", onclick: () => setState({ v: name }) }, name, h("kbd", {}, String(i + 1)))));
}

// As the system says, unless the address says otherwise.
function applyTheme() {
  document.documentElement.dataset.theme = state.d || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function toggleTheme() {
  setState({ d: document.documentElement.dataset.theme === "dark" ? "light" : "dark" });
}

// Left and right in the row of tabs, as everywhere.
function onTabKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = VIEWS.findIndex(([name]) => name === state.v);
  if (!step) return;
  setState({ v: VIEWS[(at + step + VIEWS.length) % VIEWS.length][0] });
  $("views").querySelector('[aria-selected="true"]').focus();
  event.preventDefault();
}

function copyPath(model) {
  const text = model.path(state.n).map((n) => model.label(model.tree.frame[n])).join(";") + " " + Math.round(model.total[state.n]);
  navigator.clipboard.writeText(text).catch(() => {});
  $("status").textContent = "copied: " + text;
}

function onKey(model, event) {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
  const key = event.key;
  if (key >= "1" && key <= String(VIEWS.length)) { setState({ v: VIEWS[Number(key) - 1][0] }); if (current.focus) current.focus(); }
  else if (key === "/") $("query").focus();
  else if (key === "?") $("keys").showModal();
  else if (key === "t") toggleTheme();
  else if (key === "f") setState({ k: 1 - state.k });
  else if (key === "h" && current.hot) current.hot();
  else if (key === "s") setState({ v: "source" });
  else if (key === "c") copyPath(model);
  else if (key === "m") setState({ m: (model.metric + 1) % model.metrics.length });
  else if (key === "p") setState({ b: state.b === "root" ? "parent" : "root" });
  else if ("lir".includes(key)) setState({ [key]: 1 - state[key], n: 0, z: 0 });
  else return;
  event.preventDefault();
}

// A change of state: recompute only what it touches, then draw the view again.
function onChange(model, changes) {
  const names = Object.keys(changes);
  if (!names.length) return;
  applyTheme();
  if (names.includes("q")) model.search(state.q);
  if (names.some((n) => "mtlirk".includes(n)) || (names.includes("q") && state.k))
    model.setOptions({ metric: state.m, thread: state.t, loops: state.l === 1, inlines: state.i === 1, recursion: state.r === 1, filter: state.k === 1 });
  if (state.n >= model.tree.n) Object.assign(state, { n: 0, z: 0 });
  if (names.some((n) => "mtqklir".includes(n))) showMatches(model);
  for (const [id, name] of [["metric", "m"], ["thread", "t"], ["base", "b"]]) $(id).value = String(state[name]);
  show(model);
}

async function start() {
  const model = new Model(await load());
  readState();
  if (state.m < 0 || state.m >= model.metrics.length) state.m = model.metric;
  document.title = "cpprof: " + model.data.meta.run.target;
  $("target").textContent = model.data.meta.run.target;
  fillChoosers(model);
  showQuality(model);
  $("query").value = state.q;
  listeners.push((changes) => onChange(model, changes));
  document.addEventListener("keydown", (event) => onKey(model, event));
  addEventListener("hashchange", () => { readState(); onChange(model, state); });
  onChange(model, { ...state });
  document.documentElement.dataset.ready = performance.now().toFixed(0); // ms since the page began to load
}

start().catch((error) => { $("view").replaceChildren(h("p", { class: "empty" }, "This report could not be opened: " + error.message)); throw error; });
