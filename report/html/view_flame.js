// flame: the tree as a picture. Width is cost, rows are depth; loops are hatched, inlined calls have a dashed edge.

const FLAME_ROW = 18;

function hue(text) {
  let x = 2166136261;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 16777619);
  return (x >>> 0) % 360;
}

function flameView(model) {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "flame graph; the tree view holds the same data" });
  const holder = h("div", { class: "canvas" }, canvas);
  const crumbs = h("div", { class: "crumbs" });
  const g = canvas.getContext("2d");
  let boxes = [], upward = state.c === "flame", focus = state.z, pointed = -1, isPlaced = false;
  const dark = () => document.documentElement.dataset.theme === "dark";

  const colour = (node) => {
    const frame = model.tree.frame[node], kind = model.data.frame.kind[frame];
    if (state.e === "heat") {
      const heat = Math.min(1, 3 * (model.all ? model.self[node] / model.all : 0));
      return dark() ? `hsl(35 ${20 + 60 * heat}% ${24 + 26 * heat}%)` : `hsl(35 ${20 + 70 * heat}% ${90 - 34 * heat}%)`;
    }
    if (kind < FUNCTION || kind > LOOP) return dark() ? "#3a414b" : "#d8dde3";
    const key = model.data.frame.flags[frame] & 16 ? "[kernel]" : model.module(frame);
    const shade = (hue(model.label(frame)) % 12) - 6;
    return `hsl(${hue(key)} ${kind === LOOP ? 38 : 55}% ${(dark() ? 34 : 76) + shade}%)`;
  };

  const hatch = (() => {
    const tile = h("canvas", { width: 8, height: 8 }), t = tile.getContext("2d");
    t.strokeStyle = "#0003";
    t.beginPath(); t.moveTo(0, 8); t.lineTo(8, 0); t.stroke();
    return g.createPattern(tile, "repeat");
  })();

  // Heaviest first, or by name: then the picture of another run has everything in the same place.
  const ordered = (nodes) => state.o !== "name" ? nodes : [...nodes].sort((a, b) => (model.label(model.tree.frame[a]) < model.label(model.tree.frame[b]) ? -1 : 1));

  // Boxes in sight: breadth by breadth from the zoomed node, dropping what is thinner than half a pixel.
  const layout = (width) => {
    const rows = [];
    let level = model.path(focus).map((node) => ({ node, x: 0, w: width, faded: true }));
    const above = level.length ? level.slice(0, -1) : [];
    above.unshift(...(focus ? [{ node: 0, x: 0, w: width, faded: true }] : []));
    above.forEach((box, i) => rows.push([box]));
    level = [{ node: focus, x: 0, w: width }];
    while (level.length) {
      rows.push(level);
      const next = [];
      for (const box of level) {
        let x = box.x;
        for (const child of ordered(model.children(box.node))) {
          const w = box.w * model.total[child] / model.total[box.node];
          if (w >= .5) next.push({ node: child, x, w });
          x += w;
        }
      }
      level = next;
    }
    return rows;
  };

  const drawBox = (box, y) => {
    const frame = model.tree.frame[box.node], kind = model.data.frame.kind[frame];
    g.globalAlpha = box.faded ? .55 : model.matches && !model.matched(box.node) ? .35 : 1;
    g.fillStyle = colour(box.node);
    g.fillRect(box.x, y, Math.max(box.w - .7, .4), FLAME_ROW - 1);
    if (kind === LOOP && box.w > 4) { g.fillStyle = hatch; g.fillRect(box.x, y, box.w - .7, FLAME_ROW - 1); }
    if (box.w > 6 && (kind === INLINE || box.node === state.n || box.node === pointed)) {
      g.setLineDash(kind === INLINE && box.node !== state.n && box.node !== pointed ? [3, 2] : []);
      g.strokeStyle = box.node === state.n ? "#0b62c4" : dark() ? "#fff9" : "#0008";
      g.lineWidth = box.node === state.n ? 2 : 1;
      g.strokeRect(box.x + .5, y + .5, box.w - 1.7, FLAME_ROW - 2);
    }
    if (box.w > 34) {
      g.globalAlpha = box.faded ? .7 : 1;
      g.fillStyle = dark() ? "#f2f4f7" : "#14181d";
      const room = Math.floor((box.w - 8) / 7.25), label = model.label(frame);
      g.fillText(label.length > room ? label.slice(0, Math.max(room - 1, 1)) + "…" : label, box.x + 4, y + 12.5);
    }
  };

  const draw = () => {
    const width = Math.max(holder.clientWidth, 200), rows = layout(width);
    const height = Math.max(rows.length * FLAME_ROW + 8, holder.clientHeight - 4), scale = devicePixelRatio || 1;
    canvas.width = width * scale; canvas.height = height * scale;
    canvas.style.width = width + "px"; canvas.style.height = height + "px";
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.font = "12px ui-monospace, DejaVu Sans Mono, Menlo, monospace";
    boxes = [];
    rows.forEach((row, depth) => {
      const y = upward ? height - (depth + 1) * FLAME_ROW : depth * FLAME_ROW + 2;
      for (const box of row) { drawBox(box, y); boxes.push({ ...box, y }); }
    });
    g.globalAlpha = 1;
    drawCrumbs();
    if (upward && !isPlaced) holder.scrollTop = holder.scrollHeight; // the root is at the bottom
    isPlaced = true;
  };

  const drawCrumbs = () => crumbs.replaceChildren(h("button", { class: "link", onclick: () => zoom(0) }, "all"),
    ...model.path(focus).slice(-8).flatMap((node) => [" › ", h("button", { class: "link", onclick: () => zoom(node) }, model.label(model.tree.frame[node]))]));
  const zoom = (node) => { focus = node; Object.assign(state, { z: node }); setState({}); draw(); };
  const under = (event) => {
    const r = canvas.getBoundingClientRect(), x = event.clientX - r.left, y = event.clientY - r.top;
    return boxes.find((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + FLAME_ROW);
  };
  canvas.addEventListener("mousemove", (event) => {
    const box = under(event);
    const now = box ? box.node : -1;
    if (now !== pointed) { pointed = now; draw(); }
    tip(box ? `${model.label(model.tree.frame[box.node])}\n${pct(model.percent(model.total[box.node]))} total, ${pct(model.percent(model.self[box.node]))} self, ${model.amount(model.total[box.node])}\n${model.lines(model.tree.frame[box.node])} ${model.module(model.tree.frame[box.node])}` : "", event);
    if (box) status(model, box.node);
  });
  canvas.addEventListener("mouseleave", () => { pointed = -1; tip(""); draw(); });
  canvas.addEventListener("click", (event) => { const box = under(event); if (box) { choose(model, box.node); zoom(box.node); } });
  canvas.addEventListener("keydown", (event) => {
    const here = state.n || focus, up = model.tree.parent[here], kids = model.children(here), peers = here ? ordered(model.children(up)) : [0];
    const to = { ArrowUp: upward ? kids[0] : up, ArrowDown: upward ? up : kids[0], ArrowLeft: peers[peers.indexOf(here) - 1], ArrowRight: peers[peers.indexOf(here) + 1] }[event.key];
    if (event.key === "Enter" || event.key === "z") zoom(here);
    else if (event.key === "Escape") zoom(0);
    else if (to === undefined) return;
    else { choose(model, to); status(model, to); draw(); }
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(holder);
  const flip = h("button", { onclick: () => { upward = !upward; setState({ c: upward ? "flame" : "" }); } }, upward ? "icicle" : "flame");
  const toggle = (name, value, label, title) => h("button", { "aria-pressed": String(state[name] === value), title, onclick: () => setState({ [name]: state[name] === value ? "" : value }) }, label);
  return { element: [h("div", { class: "bar" }, crumbs, h("span", { class: "sep" }), flip, toggle("o", "name", "by name", "children in order of their names, not of their cost"), toggle("e", "heat", "heat", "colour by own cost, not by module"), h("button", { title: "this picture as a file", onclick: () => savePicture(canvas) }, "PNG"), h("button", { title: "paths with their own costs, a line each, as a file", onclick: () => save("cpprof.folded", "text/plain", folded(model)) }, "folded"), ...switches()), holder], focus: () => canvas.focus(), hot: () => { const path = model.hotPath(); if (path.length) { choose(model, path[path.length - 1]); draw(); } } };
}

// One path a line with what is spent right there; names may hold what the format cannot.
function folded(model) {
  const name = (node) => model.label(model.tree.frame[node]).replaceAll(";", ":").replace(/[\r\n]/g, " "), lines = [];
  for (let i = 1; i < model.tree.n; i++) if (model.self[i] > 0) lines.push(model.path(i).map(name).join(";") + " " + Math.round(model.self[i]) + "\n");
  return lines.join("");
}

function savePicture(canvas) {
  h("a", { href: canvas.toDataURL("image/png"), download: "cpprof.png" }).click();
}

function tip(text, event) {
  let box = $("tip");
  if (!box) document.body.append(box = h("div", { id: "tip" }));
  box.style.display = text ? "block" : "none";
  if (!text) return;
  box.textContent = text;
  box.style.whiteSpace = "pre-wrap";
  box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
  box.style.top = Math.min(event.clientY + 16, innerHeight - box.offsetHeight - 8) + "px";
}
