// grid: a virtual table of tree rows. It draws what is in sight; rows are made when they are opened.
//
// source: { roots() -> rows, children(row) -> rows, name(row), fullName(row) if that is longer, kind(row), key(row), matched(row), chosen(row) }
// columns: { name, title, width, num, cell(row) -> text or element, by(row) -> what to sort by }

const ROW = 24;
const DEEPEST = 22; // levels that are indented; below that the depth is a number

class Grid {
  // usual: the column by which the rows come sorted.
  constructor(source, columns, label = "costs", usual = "total") {
    this.source = source;
    this.usual = usual;
    this.columns = columns;
    this.open = new Set();
    this.rows = [];
    this.at = 0;
    this.hot = new Set();
    this.template = ["minmax(24rem, 1fr)", ...columns.map((c) => c.width)].join(" ");
    this.least = `calc(${["24rem", "1.8rem", ...columns.map((c) => `${c.width} + .9rem`)].join(" + ")})`; // so that all rows are equally wide
    this.head = h("div", { class: "head", role: "row", style: { gridTemplateColumns: this.template, minWidth: this.least } });
    this.body = h("div", { class: "body", role: "rowgroup" });
    this.element = h(
      "div",
      { class: "grid", role: "treegrid", "aria-label": label, onscroll: () => this.draw(), onkeydown: (e) => this.key(e) },
      h("div", { role: "rowgroup", class: "top" }, this.head),
      this.body,
    );
    this.nameColumn = { name: "name", by: (row) => source.name(row) };
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.rebuild();
  }

  /* ---- order */

  // The column that the address names, if this table has it, and which way.
  order() {
    const name = state.s.replace(/^-/, ""),
      column = name && [this.nameColumn, ...this.columns].find((c) => c.name === name && c.by);
    return column ? { column, back: state.s.startsWith("-") } : null;
  }

  // Costs from the most, names from the first; rows without a value last; as they come where they agree.
  sort(rows) {
    const order = this.order();
    if (!order) return rows;
    const values = new Map(rows.map((row) => [row, order.column.by(row)])),
      sign = order.back ? -1 : 1;
    const rank = (value) => (value === null || value === "" ? 1 : 0);
    const compare = (a, b) => (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : b - a);
    return [...rows].sort((a, b) => rank(values.get(a)) - rank(values.get(b)) || sign * compare(values.get(a), values.get(b)) || 0);
  }

  // By this column; a second time the other way round; a third time as usual.
  sortBy(column) {
    const next = { [column.name]: "-" + column.name, ["-" + column.name]: "" },
      isUsual = column.name === this.usual && !this.order();
    state.s = isUsual ? "-" + column.name : state.s in next ? next[state.s] : column.name;
    writeState();
    this.rebuild();
  }

  drawHead() {
    const order = this.order() || { column: this.columns.find((c) => c.name === this.usual), back: false };
    this.head.replaceChildren(
      ...[this.nameColumn, ...this.columns].map((c) => {
        const isBy = order.column === c && this.rows.length,
          arrow = isBy ? ((typeof c.by(this.rows[0].row) === "string") === order.back ? " ▾" : " ▴") : "";
        const text = c.by
          ? h(
              "button",
              { class: "sort", title: `sort by ${c.name}${c.title ? ": " + c.title : ""}`, onclick: () => this.sortBy(c) },
              c.name + arrow,
            )
          : c.name || h("span", { class: "unseen" }, c.title || "bar");
        return h(
          "span",
          {
            role: "columnheader",
            class: c.num ? "num" : "",
            title: c.title || "",
            "aria-sort": isBy ? (arrow === " ▴" ? "ascending" : "descending") : null,
          },
          text,
        );
      }),
    );
  }

  /* ---- rows */

  rebuild() {
    const here = this.rows[this.at] && this.source.key(this.rows[this.at].row);
    this.rows = [];
    const lists = [{ rows: this.sort(this.source.roots()), at: 0 }]; // of each level what is left: stacks may be deep
    while (lists.length) {
      const list = lists[lists.length - 1],
        row = list.rows[list.at++];
      if (list.at > list.rows.length) {
        lists.pop();
        continue;
      }
      this.rows.push({ row, level: lists.length, position: list.at, size: list.rows.length });
      if (this.open.has(this.source.key(row))) lists.push({ rows: this.sort(this.source.children(row)), at: 0 });
    }
    this.at = Math.max(
      0,
      this.rows.findIndex((r) => this.source.key(r.row) === here),
    );
    this.body.style.height = this.rows.length * ROW + "px";
    this.drawn = null;
    this.drawHead();
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
    const { source } = this,
      more = source.children(row).length > 0,
      open = more && this.open.has(source.key(row)),
      kind = source.kind(row),
      name = source.name(row);
    const toggle = (event) => {
      event.stopPropagation();
      this.toggle(index);
    };
    const cells = this.columns.map((c) => {
      const cell = c.cell(row);
      if (cell instanceof Node) return cell;
      return h("span", { class: c.num ? "num" : "place", role: "gridcell", title: cell }, ...(c.num ? [cell] : placeParts(cell)));
    });
    return h(
      "div",
      {
        class: `row kind-${kind}${this.hot.has(source.key(row)) ? " hot" : ""}`,
        role: "row",
        "aria-level": level,
        "aria-posinset": position,
        "aria-setsize": size,
        "aria-expanded": more ? String(open) : null,
        "aria-selected": String(index === this.at),
        tabindex: index === this.at ? 0 : -1,
        style: { top: index * ROW + "px", gridTemplateColumns: this.template, minWidth: this.least },
        onclick: () => this.select(index),
        ondblclick: () => this.toggle(index),
      },
      h(
        "span",
        { class: "name", role: "gridcell", style: { paddingLeft: Math.min(level - 1, DEEPEST) * 10 + "px" } },
        level > DEEPEST + 1 ? h("span", { class: "depth", title: "depth" }, String(level - 1)) : null,
        h("button", { class: "twist", tabindex: -1, "aria-hidden": "true", onclick: toggle }, more ? (open ? "▾" : "▸") : ""),
        h("span", { class: "icon", title: ICON_NAMES[kind] }, ICONS[kind] || ""),
        h("span", { class: "label" + (source.matched(row) ? " mark" : ""), title: source.fullName ? source.fullName(row) : name }, ...nameParts(name)),
      ),
      ...cells,
    );
  }

  select(index, quietly) {
    this.at = Math.max(0, Math.min(index, this.rows.length - 1));
    const top = this.at * ROW,
      view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + ROW + 30 > view.scrollTop + view.clientHeight) view.scrollTop = top + ROW + 30 - view.clientHeight;
    this.draw();
    if (!quietly) this.focus();
    const row = this.rows[this.at];
    if (row && this.source.chosen && !quietly) this.source.chosen(row.row);
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

  // Once the table is in the page: the selected row in the middle, where it was out of sight.
  settle() {
    const top = this.at * ROW,
      { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + 2 * ROW > scrollTop + clientHeight) this.element.scrollTop = top - clientHeight / 2;
    this.draw();
  }

  focus() {
    const row = this.body.querySelector('[tabindex="0"]');
    if (row) row.focus({ preventScroll: true });
  }

  key(event) {
    const row = this.rows[this.at];
    if (!row || event.target.closest(".head") || event.ctrlKey || event.metaKey || event.altKey) return;
    const open = this.open.has(this.source.key(row.row)),
      more = this.source.children(row.row).length > 0;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length };
    if (event.key in moves) this.select(this.at + moves[event.key]);
    else if (event.key === "ArrowRight" && more) open ? this.select(this.at + 1) : this.toggle(this.at, true);
    else if (event.key === "ArrowLeft") {
      if (open && more) this.toggle(this.at, false);
      else
        for (let i = this.at; i-- > 0;)
          if (this.rows[i].level < row.level) {
            this.select(i);
            break;
          }
    } else if (event.key === "Enter" && more) this.toggle(this.at);
    else return;
    event.preventDefault();
    this.focus();
  }

  // What the table shows, as it is sorted and opened: a download.
  csv() {
    const quote = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
    const text = (value) => (value instanceof Node ? value.textContent : String(value));
    const shown = this.columns.filter((c) => c.name),
      lines = [["level", "kind", "name", ...shown.map((c) => c.name)]];
    for (const { row, level } of this.rows)
      lines.push([String(level), this.source.kind(row), (this.source.fullName || this.source.name)(row), ...shown.map((c) => text(c.cell(row)))]);
    return lines.map((line) => line.map(quote).join(",") + "\r\n").join("");
  }
}
