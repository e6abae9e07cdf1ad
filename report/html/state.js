// state: what is shown, in the address so that a link brings it back.

const state = { v: "summary", m: -1, t: -1, b: "root", q: "", n: 0, f: -1, z: 0, l: 1, i: 1, r: 1, c: "", g: "function", d: "", k: 0, p: "plot", o: "", e: "", w: 50 };
const listeners = [];

function readState() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1)))
    if (name in state) state[name] = typeof state[name] === "number" ? Number(value) || 0 : value;
}

function setState(changes) {
  Object.assign(state, changes);
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) params.set(name, value);
  history.replaceState(null, "", "#" + params);
  for (const listener of listeners) listener(changes);
}
