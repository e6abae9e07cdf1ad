// grid: a virtual table of tree rows. It draws what is in sight; rows are made when they are opened.
//
// source: { roots() -> rows, children(row) -> rows, hasChildren(row), cells(row) -> [...], name(row), kind(row), node(row), key(row) }

const ROW = 24;

class Grid {
  constructor(source, columns) {
    this.source = source;
    this.columns = columns;
    this.open = new Set();
    this.rows = [];
    this.at = 0;
    this.hot = new Set();
    this.template = ["minmax(22rem, 1fr)", ...columns.map((c) => c.width)].join(" ");
    this.least = `calc(${["22rem", "1.8rem", ...columns.map((c) => `${c.width} + .9rem`)].join(" + ")})`; // so that all rows are equally wide
    this.head = h("div", { class: "head", role: "row", style: { gridTemplateColumns: this.template, minWidth: this.least } },
      h("span", { role: "columnheader" }, "name"),
      ...columns.map((c) => h("span", { role: "columnheader", class: c.num ? "num" : "", title: c.title || "" }, c.sort && source.sort ? h("button", { class: "sort", title: "sort by " + c.name, onclick: () => this.sortBy(c) }, c.name) : c.name || h("span", { class: "unseen" }, c.title || "bar"))));
    this.body = h("div", { class: "body", role: "rowgroup" });
    this.element = h("div", { class: "grid", role: "treegrid", "aria-label": "costs", onscroll: () => this.draw(), onkeydown: (e) => this.key(e) }, this.head, this.body);
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.rebuild();
  }

  sortBy(column) {
    if (!column.sort || !this.source.sort) return;
    this.source.sort(column.sort);
    this.rebuild();
  }

  rebuild() {
    const here = this.rows[this.at] && this.source.key(this.rows[this.at].row);
    this.rows = [];
    const add = (rows, level) => rows.forEach((row, i) => {
      this.rows.push({ row, level, position: i + 1, size: rows.length });
      if (this.open.has(this.source.key(row)) && this.source.hasChildren(row)) add(this.source.children(row), level + 1);
    });
    add(this.source.roots(), 1);
    this.at = Math.max(0, this.rows.findIndex((r) => this.source.key(r.row) === here));
    this.body.style.height = this.rows.length * ROW + "px";
    this.drawn = null;
    this.draw();
  }

  draw() {
    const from = Math.max(0, Math.floor((this.element.scrollTop - 26) / ROW) - 4);
    const to = Math.min(this.rows.length, from + Math.ceil(this.element.clientHeight / ROW) + 10);
    if (this.drawn === from + ":" + to + ":" + this.at) return;
    const focused = this.body.contains(document.activeElement);
    this.drawn = from + ":" + to + ":" + this.at;
    this.body.replaceChildren(...this.rows.slice(from, to).map((r, i) => this.drawRow(r, from + i)));
    if (focused) this.focus();
  }

  drawRow({ row, level, position, size }, index) {
    const { source } = this, more = source.hasChildren(row), open = more && this.open.has(source.key(row)), kind = source.kind(row);
    const label = h("span", { class: "label" + (source.matched(row) ? " mark" : ""), title: source.name(row) }, source.name(row));
    return h("div", { class: `row kind-${kind}${this.hot.has(source.key(row)) ? " hot" : ""}`, role: "row", "aria-level": level, "aria-posinset": position,
      "aria-setsize": size, "aria-expanded": more ? String(open) : null, "aria-selected": String(index === this.at), tabindex: index === this.at ? 0 : -1,
      style: { top: index * ROW + "px", gridTemplateColumns: this.template, minWidth: this.least }, onclick: () => this.select(index), ondblclick: () => this.toggle(index) },
      h("span", { class: "name", role: "gridcell", style: { paddingLeft: Math.min(level - 1, 60) * 12 + "px" } },
        h("button", { class: "twist", tabindex: -1, "aria-hidden": "true", onclick: (e) => { e.stopPropagation(); this.toggle(index); } }, more ? (open ? "▾" : "▸") : ""),
        h("span", { class: "icon", title: ICON_NAMES[kind] }, ICONS[kind] || ""), label),
      ...source.cells(row).map((cell, i) => cell instanceof Node ? cell : h("span", { class: this.columns[i].num ? "num" : "place", role: "gridcell", title: cell }, cell)));
  }

  select(index, quietly) {
    this.at = Math.max(0, Math.min(index, this.rows.length - 1));
    const top = this.at * ROW, view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + ROW + 30 > view.scrollTop + view.clientHeight) view.scrollTop = top + ROW + 30 - view.clientHeight;
    this.draw();
    if (!quietly) this.focus();
    const row = this.rows[this.at];
    if (row && this.source.chosen && !quietly) this.source.chosen(row.row);
  }

  // What the table shows, as it is sorted and opened: a download.
  csv() {
    const quote = (text) => /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
    const cell = (value) => value instanceof Node ? value.textContent : String(value);
    const shown = this.columns.map((c, i) => i).filter((i) => this.columns[i].name);
    const lines = [["level", "kind", "name", ...shown.map((i) => this.columns[i].name)]];
    for (const { row, level } of this.rows) {
      const cells = this.source.cells(row);
      lines.push([String(level), this.source.kind(row), this.source.name(row), ...shown.map((i) => cell(cells[i]))]);
    }
    return lines.map((line) => line.map(quote).join(",") + "\r\n").join("");
  }

  focus() {
    const row = this.body.querySelector('[tabindex="0"]');
    if (row) row.focus({ preventScroll: true });
  }

  toggle(index, want) {
    const key = this.source.key(this.rows[index].row);
    if (want === undefined ? this.open.has(key) : !want) this.open.delete(key);
    else this.open.add(key);
    this.at = index;
    this.rebuild();
  }

  // Opens everything on the way to a row and goes there.
  reveal(keys) {
    for (const key of keys) this.open.add(key);
    this.rebuild();
    const index = this.rows.findIndex((r) => this.source.key(r.row) === keys[keys.length - 1]);
    if (index >= 0) this.select(index, true);
  }

  key(event) {
    const row = this.rows[this.at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = this.open.has(this.source.key(row.row)), more = this.source.hasChildren(row.row);
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length };
    if (event.key in moves) this.select(this.at + moves[event.key]);
    else if (event.key === "ArrowRight" && more) open ? this.select(this.at + 1) : this.toggle(this.at, true);
    else if (event.key === "ArrowLeft") {
      if (open && more) this.toggle(this.at, false);
      else for (let i = this.at; i-- > 0;) if (this.rows[i].level < row.level) { this.select(i); break; }
    } else if (event.key === "Enter" && more) this.toggle(this.at);
    else return;
    event.preventDefault();
    this.focus();
  }
}
