// dom: elements by function call. Text only ever becomes text, never markup.

function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style")
      for (const [key, text] of Object.entries(value))
        key.startsWith("--") ? element.style.setProperty(key, text) : (element.style[key] = text);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((c) => c !== null && c !== undefined));
  return element;
}

const $ = (id) => document.getElementById(id);
const pct = (value) => value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + "%";
const ICONS = { root: "●", special: "·", function: "ƒ", inline: "↪", loop: "↻", line: "≡", process: "▣" };
const ICON_NAMES = { root: "root", special: "", function: "function", inline: "inlined", loop: "loop", line: "line", process: "process" };

function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const LONG = 36, // characters: below that a name is one piece
  TAIL = 12; // of the end of a name that are never cut off

// FILE:LINES in pieces, so that where there is little room the file's name loses its middle, and the lines stay.
function placeParts(text) {
  const parts = text.match(/^(.+?)([^/]{0,4}:[0-9]+(?:-[0-9]+)?)$/);
  return parts ? [h("span", { class: "start" }, parts[1]), h("span", { class: "end" }, parts[2])] : [text];
}

// A name in pieces, so that where there is little room its namespaces go first, and the end in which it differs from others
// last; of a template the arguments are what differs.
function nameParts(name) {
  const piece = (kind, text) => (text ? h("span", { class: kind }, text) : null),
    space = name.length < LONG ? "" : (name.match(/^[\w:]*::/) || [""])[0],
    rest = name.slice(space.length),
    tail = rest.length < LONG || rest.includes("<") ? 0 : TAIL;
  return [piece("space", space), piece("start", rest.slice(0, rest.length - tail)), piece("end", rest.slice(rest.length - tail))];
}
