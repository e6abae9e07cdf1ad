// state: what is shown, in the address so that a link brings it back. What is as usual is left out of it.

const USUAL = {
  v: "summary", // view
  m: -1, // metric, -1 = the profile's own default
  t: "", // threads, as "0,3-5"; none = all
  b: "root", // what percentages are of
  q: "",
  k: 0, // search; does it filter
  n: 0,
  f: -1,
  z: 0, // chosen node, chosen frame, zoomed node
  l: 1,
  i: 1,
  r: 1,
  j: 0, // loops, inlined calls, recursion; chains as one
  hide: "",
  hidemod: "", // hidden frames and modules
  s: "", // column that tables are sorted by, "-" in front: the other way round
  x: "", // more columns: formulas, separated by ";"
  c: "",
  o: "",
  e: "", // flame graph: upward, order, colour
  g: "function",
  p: "plot",
  y: "", // flat level, plot of threads, interval of time
  w: 50, // hot path: least share of the parent
  line: 0, // of the source, that was asked for
  d: "", // light or dark
};
const state = { ...USUAL };
const listeners = [];

// formulas: of columns that are there unless the address says otherwise.
function readState(formulas) {
  USUAL.x = formulas.map((text) => text.replaceAll(";", " ").trim()).join(";");
  const params = new URLSearchParams(location.hash.slice(1));
  for (const [name, usual] of Object.entries(USUAL)) {
    const value = params.get(name);
    state[name] = value === null ? usual : typeof usual === "number" ? Number(value) || 0 : value;
  }
}

function writeState() {
  const params = new URLSearchParams();
  for (const [name, usual] of Object.entries(USUAL)) if (state[name] !== usual) params.set(name, state[name]);
  history.replaceState(null, "", "#" + params);
}

function setState(changes) {
  Object.assign(state, changes);
  writeState();
  for (const listener of listeners) listener(changes);
}
