// flame: the tree as a picture. Width is cost, rows are depth; loops are hatched, inlined calls have a dashed edge.

const FLAME_ROW = 18,
  MAP_HEIGHT = 16;
const HIGHEST_PICTURE = 16000; // pixels of a file

function hue(text) {
  let x = 2166136261;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 16777619);
  return (x >>> 0) % 360;
}

function isDark() {
  return document.documentElement.dataset.theme === "dark";
}

function flameColour(model, node) {
  const dark = isDark(),
    frame = model.tree.frame[node],
    kind = model.data.frame.kind[frame];
  if (state.e === "heat") {
    const heat = Math.min(1, 3 * (model.all ? model.self[node] / model.all : 0));
    return dark ? `hsl(35 ${20 + 60 * heat}% ${24 + 26 * heat}%)` : `hsl(35 ${20 + 70 * heat}% ${90 - 34 * heat}%)`;
  }
  if (isDiff(model) && state.e !== "module") return diffColour(model, node, dark);
  if (kind < FUNCTION || kind > LOOP) return dark ? "#3a414b" : "#d8dde3";
  const key = model.data.frame.flags[frame] & 16 ? "[kernel]" : model.module(frame),
    own = hue(model.label(frame)); // the module's hue, a little apart from function to function
  return `hsl(${hue(key) + (own % 41) - 20} ${kind === LOOP ? 38 : 55}% ${(dark ? 34 : 76) + (own % 13) - 6}%)`;
}

// As much of a name as there is room for; where there is enough, its end too.
function cutLabel(label, room) {
  if (label.length <= room) return label;
  const tail = room >= 24 ? Math.floor(room / 3) : 0;
  return label.slice(0, Math.max(room - tail - 1, 1)) + "…" + (tail ? label.slice(-tail) : "");
}

// A canvas as wide as asked, sharp on every screen; gives its context with one unit a pixel.
function sizeCanvas(canvas, width, height) {
  const scale = devicePixelRatio || 1,
    g = canvas.getContext("2d");
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  g.setTransform(scale, 0, 0, scale, 0, 0);
  return g;
}

class Flame {
  constructor(model) {
    this.model = model;
    this.canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": "flame graph; the tree view holds the same data" });
    this.tall = h("div", { class: "tall" }, this.canvas);
    this.holder = h("div", { class: "canvas", onscroll: () => this.draw() }, this.tall);
    this.map = h("canvas", { role: "img", "aria-label": "where the matches are in the whole graph" });
    this.mapHolder = h(
      "div",
      { class: "matchmap", title: "the whole graph: where the matches are and which part is visible; click to go there" },
      this.map,
    );
    sizeCanvas(this.map, 200, MAP_HEIGHT);
    this.upward = state.c === "flame";
    this.boxes = []; // until it is drawn for the first time
    this.stretches = [];
    this.pointed = -1;
    this.hatch = this.makeHatch();
    this.canvas.addEventListener("mousemove", (event) => this.point(event));
    this.canvas.addEventListener("mouseleave", () => {
      this.pointed = -1;
      tip("");
      this.draw();
    });
    this.canvas.addEventListener("click", (event) => {
      const box = this.under(event);
      if (box && box.node >= 0) {
        choose(model, box.node);
        zoom(box.node);
      }
    });
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.map.addEventListener("click", (event) => this.goToMatch(event));
    new ResizeObserver(() => this.draw()).observe(this.holder);
  }

  makeHatch() {
    const tile = h("canvas", { width: 8, height: 8 }),
      t = tile.getContext("2d");
    t.strokeStyle = "#0003";
    t.beginPath();
    t.moveTo(0, 8);
    t.lineTo(8, 0);
    t.stroke();
    return this.canvas.getContext("2d").createPattern(tile, "repeat");
  }

  // Boxes with their places in the whole picture, which may be much higher than a canvas can be.
  layout(width) {
    if (this.width === width && this.least === this.holder.clientHeight) return;
    const rows = flameRows(this.model, width);
    this.width = width;
    this.least = this.holder.clientHeight;
    this.height = Math.max(rows.length * FLAME_ROW + 8, this.least - 4);
    this.boxes = rows.flatMap((row, depth) =>
      row.map((box) => ({ ...box, y: this.upward ? this.height - (depth + 1) * FLAME_ROW : depth * FLAME_ROW + 2 })),
    );
    this.tall.style.height = this.height + "px";
  }

  // What is in sight: the canvas is as high as that, and stays there.
  draw() {
    this.layout(Math.max(this.holder.clientWidth, 200));
    if (!this.isPlaced) this.place();
    this.paint(this.canvas, this.holder.scrollTop, Math.min(this.height, Math.max(this.least, 50)));
    this.drawMap(this.width);
  }

  paint(canvas, from, height) {
    const g = (this.g = sizeCanvas(canvas, this.width, height));
    g.font = "12px ui-monospace, DejaVu Sans Mono, Menlo, monospace";
    g.translate(0, -from);
    for (const box of this.boxes) if (box.y + FLAME_ROW >= from && box.y <= from + height) this.drawBox(box);
    g.globalAlpha = 1;
  }

  // At first: the root, or what is chosen.
  place() {
    this.isPlaced = true;
    if (this.upward) this.holder.scrollTop = this.holder.scrollHeight;
    this.showChosen();
  }

  showChosen() {
    const box = state.n ? this.boxes.find((b) => b.node === this.model.tail(state.n)) : null,
      { scrollTop } = this.holder;
    if (box && (box.y < scrollTop || box.y + FLAME_ROW > scrollTop + this.least)) this.holder.scrollTop = box.y - this.least / 2;
  }

  // All of it, as far as a picture can be that high.
  picture() {
    const canvas = h("canvas", {});
    this.paint(canvas, 0, Math.min(this.height, HIGHEST_PICTURE));
    return canvas.toDataURL("image/png");
  }

  drawBox(box) {
    const { g, model } = this,
      kind = box.node < 0 ? 0 : model.data.frame.kind[model.tree.frame[box.node]],
      height = FLAME_ROW - 1,
      isChosen = box.node === state.n && box.node >= 0;
    g.globalAlpha = box.faded ? 0.55 : model.matches && (box.node < 0 || !model.matched(box.node)) ? 0.35 : 1;
    g.fillStyle = box.node < 0 ? (isDark() ? "#4a515b" : "#c3c9d1") : flameColour(model, box.node);
    g.fillRect(box.x, box.y, Math.max(box.w - 0.7, 0.4), height);
    if (kind === LOOP && box.w > 4) {
      g.fillStyle = this.hatch;
      g.fillRect(box.x, box.y, box.w - 0.7, height);
    }
    if (box.w > 6 && (kind === INLINE || isChosen || (box.node >= 0 && box.node === this.pointed))) {
      g.setLineDash(kind === INLINE && !isChosen && box.node !== this.pointed ? [3, 2] : []);
      g.strokeStyle = isChosen ? "#0b62c4" : isDark() ? "#fff9" : "#0008";
      g.lineWidth = isChosen ? 2 : 1;
      g.strokeRect(box.x + 0.5, box.y + 0.5, box.w - 1.7, height - 1);
    }
    if (box.w <= 34) return;
    const room = Math.floor((box.w - 8) / 7.25),
      label = box.node < 0 ? "…" : box.faded ? model.shortLabel(model.tree.frame[box.node]) : model.shownLabel(box.node, 3, true);
    g.globalAlpha = box.faded ? 0.7 : 1;
    g.fillStyle = isDark() ? "#f2f4f7" : "#14181d";
    g.fillText(cutLabel(label, room), box.x + 4, box.y + 12.5);
  }

  // A strip of the whole picture: matches, and a frame around what is in sight. Only where there is something to find.
  drawMap(width) {
    const { model } = this,
      isNeeded = Boolean(model.matches) || state.z > 0;
    this.mapHolder.style.visibility = isNeeded ? "" : "hidden"; // its room stays, so that nothing moves at the first zoom
    if (!isNeeded) return;
    if (this.mapWidth !== width) this.stretches = matchStretches(model, width);
    this.mapWidth = width;
    const g = sizeCanvas(this.map, width, MAP_HEIGHT),
      style = getComputedStyle(document.documentElement),
      { x, w } = flameExtent(model, state.z);
    g.fillStyle = style.getPropertyValue("--found");
    for (const stretch of this.stretches) {
      g.globalAlpha = 0.35 + 0.65 * stretch.share;
      g.fillRect(stretch.x * width, 3, Math.max(stretch.w * width, 1.5), MAP_HEIGHT - 6);
    }
    g.globalAlpha = 1;
    g.strokeStyle = style.getPropertyValue("--accent");
    g.lineWidth = 2;
    g.strokeRect(x * width + 1, 1, Math.max(w * width - 2, 2), MAP_HEIGHT - 2);
  }

  goToMatch(event) {
    const at = (event.clientX - this.map.getBoundingClientRect().left) / this.map.clientWidth;
    const distance = (s) => Math.max(s.x - at, at - s.x - s.w, 0),
      near = this.stretches.reduce((a, b) => (a && distance(a) <= distance(b) ? a : b), null);
    if (!near) return;
    choose(this.model, near.node);
    zoom(near.node);
  }

  under(event) {
    const r = this.canvas.getBoundingClientRect(),
      x = event.clientX - r.left,
      y = event.clientY - r.top + this.holder.scrollTop;
    return this.boxes.find((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + FLAME_ROW);
  }

  point(event) {
    const { model } = this,
      box = this.under(event),
      now = box ? box.node : -1;
    if (now !== this.pointed) {
      this.pointed = now;
      this.draw();
    }
    if (box && now < 0) tip(`${box.count} more, each too small to draw\n${pct(model.percent(box.cost))} together`, event);
    else if (box)
      tip(
        `${model.shownLabel(now, 12)}\n${pct(model.percent(model.total[now]))} total, ${pct(model.percent(model.self[now]))} self, ${model.amount(model.total[now])}\n${model.lines(model.tree.frame[now])} ${model.module(model.tree.frame[now])}${isDiff(model) ? "\n" + diffWords(model, now) : ""}`,
        event,
      );
    else tip("");
    if (now >= 0) status(model, now);
  }

  key(event) {
    const { model, upward } = this,
      here = model.tail(state.n || state.z),
      kids = flameOrder(model, model.shownChildren(here));
    const up = here === state.z ? here : model.tree.parent[model.head(here)],
      peers = here === state.z ? [here] : flameOrder(model, model.shownChildren(up)),
      at = peers.indexOf(here);
    const to = { ArrowUp: upward ? kids[0] : up, ArrowDown: upward ? up : kids[0], ArrowLeft: peers[at - 1], ArrowRight: peers[at + 1] }[
      event.key
    ];
    if (event.key === "Enter") zoom(here);
    else if (to === undefined) return;
    else {
      choose(model, to);
      this.showChosen();
      this.draw();
    }
    event.preventDefault();
  }

  // The picture as it is, as text that draws it.
  svg() {
    const escape = (text) => text.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd]/g, "�");
    const { model, width, height } = this;
    const boxes = this.boxes
      .filter((b) => b.node >= 0)
      .map((b) => {
        const label = escape(model.shownLabel(b.node)),
          room = Math.floor((b.w - 8) / 7.25),
          short = escape(model.shownLabel(b.node).slice(0, Math.max(room, 0)));
        return `<g><title>${label} (${escape(model.amount(model.total[b.node]))}, ${pct(model.percent(model.total[b.node]))})</title><rect x="${b.x.toFixed(1)}" y="${b.y}" width="${Math.max(b.w - 0.7, 0.4).toFixed(1)}" height="${FLAME_ROW - 1}" fill="${flameColour(model, b.node)}"/>${room > 2 ? `<text x="${(b.x + 4).toFixed(1)}" y="${b.y + 12.5}">${short}</text>` : ""}</g>\n`;
      });
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="12" fill="${isDark() ? "#f2f4f7" : "#14181d"}"><rect width="100%" height="100%" fill="${isDark() ? "#14181d" : "#fff"}"/>\n${boxes.join("")}</svg>\n`;
  }
}

const LEGEND_MODULES = 6;

// What colours, hatching and edges mean: the modules that cost most, each in its hue.
function flameLegend(model) {
  const swatch = (style, text, kind = "") =>
    h("span", { class: "key" }, h("i", { class: kind, style, "aria-hidden": "true" }), text);
  const tint = (name) => ({ background: `hsl(${hue(name)} 55% ${isDark() ? 34 : 76}%)` });
  const modules = flatRows(model, "module")
    .filter((row) => row.self > 0)
    .sort((a, b) => b.self - a.self);
  const isChange = isDiff(model) && state.e !== "module",
    gone = isChange ? goneCost(model) : 0;
  const colours =
    state.e === "heat"
      ? [swatch({}, "self cost, low to high", "heat")]
      : isChange
      ? [
          swatch({ background: changeColour(-1, isDark()) }, "less than before"),
          swatch({ background: changeColour(0, isDark()) }, "the same"),
          swatch({ background: changeColour(1, isDark()) }, `more than before; full colour at ${100 * FULL_COLOUR} % of the total`),
          gone ? `${model.amount(gone, BEFORE)} of the cost before is gone and has no width` : null,
        ]
      : [
          ...modules.slice(0, LEGEND_MODULES).map((row) => swatch(tint(row.name), row.name)),
          modules.length > LEGEND_MODULES ? `and ${modules.length - LEGEND_MODULES} more modules` : null,
        ];
  return h(
    "div",
    { class: "legend", role: "note", "aria-label": "legend" },
    ...colours,
    swatch({}, "loop", "loop"),
    swatch({}, "inlined call", "inline"),
    swatch({}, "incomplete stacks, or too small to draw", "rest"),
  );
}

function flameView(model) {
  const flame = new Flame(model);
  const toggle = (name, value, label, title) =>
    h(
      "button",
      { "aria-pressed": String(state[name] === value), title, onclick: () => setState({ [name]: state[name] === value ? "" : value }) },
      label,
    );
  const file = (label, title, go) => h("button", { title, onclick: go }, label);
  const hot = () => {
    const path = model.hotPath(state.z);
    if (path.length) {
      choose(model, path[path.length - 1]);
      flame.showChosen();
      flame.draw();
    }
  };
  const bar = h(
    "div",
    { class: "bar" },
    crumbs(model),
    h("span", { class: "sep" }),
    toggle("c", "flame", "upward", "callees above their callers"),
    toggle("o", "name", "by name", "sort children by name, not by cost"),
    toggle("e", "heat", "heat", "colour by self cost, not by module"),
    isDiff(model) ? toggle("e", "module", "modules", "colour by module, not by change") : null,
    ...switches(),
    file("PNG", "save this picture as a file", () => h("a", { href: flame.picture(), download: "cpprof.png" }).click()),
    file("SVG", "save this picture as a file", () => save("cpprof.svg", "image/svg+xml", flame.svg())),
    file("folded", "save call paths with their self costs, one per line", () => save("cpprof.folded", "text/plain", folded(model))),
  );
  return { element: [bar, flame.mapHolder, flame.holder, flameLegend(model)], focus: () => flame.canvas.focus(), hot };
}

// One path a line with what is spent right there; names may hold what the format cannot.
function folded(model) {
  const name = (node) =>
      model
        .nodeLabel(node)
        .replaceAll(";", ":")
        .replace(/[\r\n]/g, " "),
    lines = [];
  for (let i = 1; i < model.tree.n; i++)
    if (model.self[i] > 0) lines.push(model.path(i).map(name).join(";") + " " + Math.round(model.self[i]) + "\n");
  return lines.join("");
}

function tip(text, event) {
  let box = $("tip");
  if (!box) document.body.append((box = h("div", { id: "tip" })));
  box.style.display = text ? "block" : "none";
  if (!text) return;
  box.textContent = text;
  box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
  box.style.top = Math.min(event.clientY + 16, innerHeight - box.offsetHeight - 8) + "px";
}
