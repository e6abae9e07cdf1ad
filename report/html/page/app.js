// app: the frame around the views: choosers, tabs, keys, quality.

const VIEWS = [
  ["summary", summaryView],
  ["flame", flameView],
  ["tree", treeView],
  ["callers", callersView],
  ["flat", flatView],
  ["sandwich", sandwichView],
  ["source", sourceView],
  ["threads", threadsView],
];
const BASES = [
  ["root", "all shown"],
  ["parent", "parent"],
  ["focus", "zoomed node"],
  ["thread", "chosen threads"],
  ["profile", "whole profile"],
];
const KEYS = [
  ["1 … 8", "views"],
  ["/", "search; Enter next, Shift-Enter previous"],
  ["f", "show only paths through a match, or all; !name: only paths without a match"],
  ["h", "hot path"],
  ["l i r", "loops, inlined calls, recursion on or off"],
  ["j", "join chains: show a node that passes all its cost to one child together with that child"],
  ["x  Shift-x", "hide the chosen function; show all again"],
  ["m", "next metric"],
  ["p", "what percentages refer to"],
  ["↑ ↓ ← → Enter", "move in tables and in the flame graph, open and close, zoom"],
  ["z  Esc", "zoom in, zoom out"],
  ["s", "source of the chosen function"],
  ["c", "copy the path of the chosen node"],
  ["t", "light or dark theme"],
  ["?", "this list"],
];
let current = null;

function showQuality(model) {
  const { quality: q, quality_line: line, folded } = model.data.meta,
    complete = q.samples ? (100 * q.unwind.complete) / q.samples : 0,
    bad = complete < 95 || q.lost_samples > q.samples / 50 || q.samples < 100;
  $("quality").className = bad ? "bad" : "";
  $("quality").replaceChildren(
    h(
      "button",
      {
        class: "link",
        title: "quality of this profile",
        onclick: () => {
          setState({ v: "summary" });
          $("trust").scrollIntoView();
          $("trust").focus();
        },
      },
      (bad ? "⚠ " : "") + line + (folded ? "; " + folded : ""),
    ),
  );
}

/* ---- views */

// What was focused in the view, so that the new one can have it focused too.
function focusedThing() {
  const at = document.activeElement;
  if (!$("view").contains(at)) return null;
  return { tag: at.tagName, text: at.textContent, title: at.title, label: at.getAttribute("aria-label") };
}

function focusAgain(thing) {
  const same = (e) => e.textContent === thing.text && e.title === thing.title && e.getAttribute("aria-label") === thing.label;
  const found = thing.tag === "BUTTON" || thing.tag === "INPUT" ? [...$("view").querySelectorAll(thing.tag)].find(same) : null;
  if (found) found.focus();
  else if (current.focus) current.focus();
}

function show(model) {
  const at = Math.max(
      0,
      VIEWS.findIndex(([name]) => name === state.v),
    ),
    focused = focusedThing();
  [...$("views").children].forEach((tab, i) => {
    tab.setAttribute("aria-selected", String(i === at));
    tab.tabIndex = i === at ? 0 : -1;
  });
  $("views").children[at].scrollIntoView({ block: "nearest", inline: "nearest" });
  $("view").setAttribute("aria-label", VIEWS[at][0]);
  tip("");
  current = VIEWS[at][1](model);
  $("view").replaceChildren(...current.element.filter(Boolean));
  if (current.shown) current.shown();
  if (focused) focusAgain(focused);
  status(model, state.n);
  if (model.data.wanted.size) unpackAndThen(model, () => show(model));
}

// What was asked for while it was still packed; then once more.
function unpackAndThen(model, again) {
  $("view").setAttribute("aria-busy", "true");
  model.data.unpackWanted().then(() => {
    $("view").removeAttribute("aria-busy");
    again();
  }, fail);
}

function fail(error) {
  $("view").replaceChildren(h("p", { class: "empty" }, "This report could not be opened: " + error.message));
  throw error;
}

/* ---- search */

function showMatches(model) {
  $("query").setAttribute("aria-invalid", String(Boolean(model.badQuery)));
  $("filter").setAttribute("aria-pressed", String(state.k === 1));
  $("matched").textContent = model.badQuery ? model.badQuery : state.q ? pct(model.percent(model.matchedTotal())) + " matched" : "";
}

function nextMatch(model, step) {
  const found = [];
  for (let i = 1; i < model.tree.n; i++) if (model.matched(i) && model.isShown(i)) found.push(i);
  found.sort((a, b) => model.total[b] - model.total[a]);
  if (!found.length) return;
  const at = found.indexOf(state.n);
  choose(model, found[(at + step + found.length) % found.length]);
  show(model);
}

function onQueryKey(model, event) {
  if (event.key === "Enter") nextMatch(model, event.shiftKey ? -1 : 1);
  if (event.key !== "Escape") return;
  setState({ q: "" });
  event.target.value = "";
  event.target.blur();
}

/* ---- choosers, tabs, keys */

// Threads in the order of their numbers; below their processes, where there are several.
function threadOptions(meta, option) {
  const groups = new Map();
  meta.threads.slice(0, 500).forEach((t, i) => {
    if (!groups.has(t.process)) groups.set(t.process, []);
    groups.get(t.process).push(option(i, `${t.name} ${t.tid}`));
  });
  if (groups.size < 2) return [...groups.values()].flat();
  return [...groups].map(([process, options]) =>
    h("optgroup", { label: `${meta.processes[process].name} ${meta.processes[process].pid}` }, ...options),
  );
}

function fillChoosers(model) {
  const { meta } = model.data,
    option = (value, text) => h("option", { value }, text);
  $("metric").append(...meta.metrics.map((m, i) => option(i, `${m.name} (${m.unit})`)));
  $("thread").append(
    option("", `all ${meta.threads.length}`),
    ...threadOptions(meta, option),
    option("some", "some"),
  );
  $("base").append(...BASES.map(([value, text]) => option(value, text)));
  $("metric").onchange = (e) => setState({ m: Number(e.target.value) });
  $("thread").onchange = (e) => (e.target.value === "some" ? setState({ v: "threads" }) : setState({ t: e.target.value }));
  $("base").onchange = (e) => setState({ b: e.target.value });
  $("query").oninput = (e) => setState({ q: e.target.value });
  $("query").onkeydown = (e) => onQueryKey(model, e);
  $("filter").onclick = () => setState({ k: 1 - state.k });
  $("theme").onclick = toggleTheme;
  $("views").onkeydown = onTabKey;
  $("help").onclick = () => $("keys").showModal();
  $("keys").append(
    h("h2", {}, "Keys"),
    h("dl", {}, ...KEYS.flatMap(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("p", {}, h("button", { onclick: () => $("keys").close() }, "close")),
  );
  $("views").append(
    ...VIEWS.map(([name], i) =>
      h("button", { role: "tab", "aria-controls": "view", onclick: () => setState({ v: name }) }, name, h("kbd", {}, String(i + 1))),
    ),
  );
  fillActions(model);
}

// The choosers say what the state is, also where the address or a key changed it.
function showChosen(model) {
  const one = /^\d+$/.test(state.t) && Number(state.t) < Math.min(500, model.data.meta.threads.length);
  $("metric").value = String(state.m);
  $("base").value = BASES.some(([value]) => value === state.b) ? state.b : "root";
  $("thread").value = !model.threads ? "" : one ? String(Number(state.t)) : "some";
  $("thread").lastChild.textContent = model.threads && !one ? `${sumOf(model.threads)} chosen` : "choose…";
  if ($("query").value !== state.q) $("query").value = state.q;
}

// As the system says, unless the address says otherwise.
function applyTheme() {
  document.documentElement.dataset.theme = state.d || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function toggleTheme() {
  setState({ d: isDark() ? "light" : "dark" });
}

// Left and right in the row of tabs, as everywhere.
function onTabKey(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key],
    at = VIEWS.findIndex(([name]) => name === state.v);
  if (!step) return;
  setState({ v: VIEWS[(at + step + VIEWS.length) % VIEWS.length][0] });
  $("views").querySelector('[aria-selected="true"]').focus();
  event.preventDefault();
}

function keyActions(model) {
  const nextBase = () => BASES[(BASES.findIndex(([value]) => value === state.b) + 1) % BASES.length][0];
  return {
    "/": () => $("query").focus(),
    "?": () => $("keys").showModal(),
    t: toggleTheme,
    f: () => setState({ k: 1 - state.k }),
    h: () => current.hot && current.hot(),
    s: () => setState({ v: "source" }),
    c: () => copyPath(model),
    m: () => setState({ m: (model.metric + 1) % model.metrics.length }),
    p: () => setState({ b: nextBase() }),
    x: () => hideChosen(model),
    X: showAll,
    z: () => zoom(state.n),
    Escape: zoomOut,
  };
}

function onKey(model, event) {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName),
    { key } = event,
    action = keyActions(model)[key];
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (key >= "1" && key <= String(VIEWS.length)) {
    setState({ v: VIEWS[Number(key) - 1][0] });
    if (current.focus) current.focus();
  } else if (["l", "i", "r", "j"].includes(key)) setState({ [key]: 1 - state[key] });
  else if (action) action();
  else return;
  event.preventDefault();
}

/* ---- state */

const OPTIONS = ["m", "t", "l", "i", "r", "k", "j", "hide", "hidemod"];

// The model's options as the state says. Nodes of the old tree that are chosen are found in the new one; those of an address are
// of the tree that it describes.
function applyOptions(model, options, isAddress) {
  const { from } = model.tree;
  if (options.filter) model.options.filter = null; // what matches may have changed
  model.setOptions(options);
  if (model.tree.from === from) return;
  const move = (node) => (node < from.length ? model.tree.of[from[node]] || 0 : 0);
  if (!isAddress) Object.assign(state, { n: move(state.n), z: move(state.z) });
  zoomed.length = 0;
  writeState();
}

// A change of state: recompute only what it touches, then draw the view again.
function onChange(model, changes, isAddress = false) {
  const names = Object.keys(changes),
    has = (...some) => some.some((name) => names.includes(name));
  const options = {
    metric: state.m,
    threads: state.t,
    loops: state.l === 1,
    inlines: state.i === 1,
    recursion: state.r === 1,
    filter: state.k === 1,
    hide: state.hide,
    hideModules: state.hidemod,
    chains: state.j === 1,
  };
  if (!names.length) return;
  if (model.isSmaller(options)) model.data.get("block-sites");
  if (model.data.wanted.size) {
    unpackAndThen(model, () => onChange(model, changes, isAddress));
    return;
  }
  applyTheme();
  if (has("q")) model.search(state.q);
  if (has(...OPTIONS) || (has("q") && state.k)) applyOptions(model, options, isAddress);
  for (const name of ["n", "z"]) if (!(state[name] >= 0 && state[name] < model.tree.n)) state[name] = 0;
  if (has("q", ...OPTIONS)) showMatches(model);
  if (has("hide", "hidemod")) showHidden(model);
  showChosen(model);
  show(model);
}

// On paper is the summary, dark on white, whatever is on the screen.
function print(model) {
  document.documentElement.dataset.theme = "light";
  $("view").replaceChildren(...summaryView(model).element.filter(Boolean));
}

// The state out of the address; what means nothing is as usual.
function openAddress(model) {
  readState(model.data.meta.formulas || []);
  if (!(state.m >= 0 && state.m < model.metrics.length)) state.m = model.data.meta.default_metric;
  onChange(model, { ...state }, true);
}

// The other blocks when there is time, so that views open at once.
async function unpackRest(model) {
  await new Promise((resolve) => (globalThis.requestIdleCallback || setTimeout)(resolve));
  for (const id of ["block-sites", "block-lines", "block-time"]) await model.data.unpack(id);
  document.documentElement.dataset.whole = performance.now().toFixed(0);
}

async function start() {
  const model = new Model(await new Data().open());
  document.title = "cpprof: " + model.data.meta.run.target;
  $("target").textContent = $("target").title = model.data.meta.run.target;
  fillChoosers(model);
  showQuality(model);
  listeners.push((changes) => onChange(model, changes));
  document.addEventListener("keydown", (event) => onKey(model, event));
  addEventListener("hashchange", () => openAddress(model));
  addEventListener("beforeprint", () => print(model));
  addEventListener("afterprint", () => {
    applyTheme();
    show(model);
  });
  openAddress(model);
  document.documentElement.dataset.ready = performance.now().toFixed(0); // ms since the page began to load
  await unpackRest(model);
}

start().catch(fail);
