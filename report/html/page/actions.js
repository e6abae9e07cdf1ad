// actions: what can be done with what is chosen: zoom, hide, look at its source, copy its path.

const zoomed = []; // where zooming out goes back to

// The one selection that all views share.
function choose(model, node, frame = -1) {
  Object.assign(state, { n: node, f: frame, line: 0 });
  writeState();
  status(model, node);
}

function status(model, node) {
  const names = model.path(node).map((n) => model.nodeLabel(n)),
    costs = isDiff(model)
      ? diffWords(model, node)
      : `${pct(model.percent(model.total[node]))} total, ${pct(model.percent(model.self[node]))} self`;
  $("path").textContent = node ? `${costs}   ${names.slice(-12).join(" › ")}` : "";
  $("actions").hidden = !node;
}

function zoom(node) {
  if (node === state.z) return;
  zoomed.push(state.z);
  setState({ z: node });
}

function zoomOut() {
  if (zoomed.length) setState({ z: zoomed.pop() });
  else if (state.z) setState({ z: 0 });
}

// The frame that is hidden or looked at: the chosen one, or that of the chosen node.
function chosenFrame(model) {
  return state.f >= 0 ? state.f : model.tree.frame[state.n];
}

function addTo(list, number) {
  return writeSet([...numbersOf(list), number]);
}
function numbersOf(list) {
  return list
    .split(",")
    .filter(Boolean)
    .flatMap((part) => {
      const [from, to = from] = part.split("-").map(Number);
      return Array.from({ length: Math.min(to - from + 1, 1e5) || 0 }, (_, i) => from + i);
    });
}

// A search for exactly this name that filters.
function focusChosen(model) {
  setState({ q: `/^${model.label(chosenFrame(model)).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$/`, k: 1 });
}

function hideChosen(model) {
  const frame = chosenFrame(model);
  if (state.n && frame > 0) setState({ hide: addTo(state.hide, frame), f: -1 });
}

function hideModule(model) {
  const module = model.data.frame.module[chosenFrame(model)];
  if (state.n && module < model.data.meta.modules.length) setState({ hidemod: addTo(state.hidemod, module), f: -1 });
}

function showAll() {
  setState({ hide: "", hidemod: "" });
}

// What is hidden, each with a button that shows it again; gone where nothing is.
function showHidden(model) {
  const chip = (label, name, number) =>
    h(
      "button",
      {
        class: "chip",
        title: "show it again",
        onclick: () => setState({ [name]: writeSet(numbersOf(state[name]).filter((n) => n !== number)) }),
      },
      label,
      " ✕",
    );
  const chips = [
    ...numbersOf(state.hide)
      .filter((f) => f > 0 && f < model.data.frame.kind.length)
      .map((f) => chip(model.shortLabel(f), "hide", f)),
    ...numbersOf(state.hidemod)
      .filter((m) => m < model.data.meta.modules.length)
      .map((m) => chip("all of " + model.data.meta.modules[m], "hidemod", m)),
  ];
  $("hidden").hidden = !chips.length;
  $("hidden").replaceChildren(
    "hidden (costs are added to their callers): ",
    ...chips,
    h("button", { title: "hide nothing (Shift-x)", onclick: showAll }, "show all"),
  );
}

function copyPath(model) {
  const text =
    model
      .path(state.n)
      .map((n) => model.nodeLabel(n))
      .join(";") +
    " " +
    Math.round(model.total[state.n]);
  navigator.clipboard.writeText(text).catch(() => {});
  $("path").textContent = "copied: " + text;
}

function fillActions(model) {
  const action = (label, title, go) => h("button", { title, onclick: go }, label);
  $("actions").append(
    action("source", "show its lines and instructions (s)", () => setState({ v: "source" })),
    action("callers", "show its callers and callees (6)", () => setState({ v: "sandwich" })),
    action("zoom", "show only what is below it (z)", () => zoom(state.n)),
    action("only", "count only paths through this function", () => focusChosen(model)),
    action("hide", "hide this function; its cost is added to its callers (x)", () => hideChosen(model)),
    action("hide module", "hide all functions of its module", () => hideModule(model)),
    action("copy", "copy its call path as text (c)", () => copyPath(model)),
  );
}
