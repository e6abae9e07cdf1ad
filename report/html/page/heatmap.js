// heatmap: samples by thread and time. A stretch of time, and threads, are chosen by drawing a frame, or in two fields.
//
// A profile says when each thread was sampled, not in which context: so an interval has totals by thread, and only the choice
// of threads can reach the other views.

const MARGIN = 160,
  TICKS = 24,
  MOST_ROWS = 512;

function timeBins(model) {
  return mostOf(model.data.time.bin, -1) + 1;
}

// The chosen interval as bins, [first, last]; all of them where none is chosen.
function chosenBins(model) {
  const bins = timeBins(model),
    [from, to] = /^\d+-\d+$/.test(state.y) ? state.y.split("-").map(Number) : [0, bins - 1];
  return [Math.min(from, bins - 1), Math.min(Math.max(from, to), bins - 1)];
}

// Samples of each thread in the chosen interval.
function intervalSamples(model) {
  const { time, meta } = model.data,
    [first, last] = chosenBins(model),
    sums = new Float64Array(meta.threads.length);
  for (let i = 0; i < time.bin.length; i++) if (time.bin[i] >= first && time.bin[i] <= last) sums[time.thread[i]] += time.value[i];
  return sums;
}

// What the interval holds, in words.
function intervalText(model) {
  const [first, last] = chosenBins(model),
    seconds = (bin) => ((bin * model.data.meta.bin_ns) / 1e9).toFixed(2),
    sums = intervalSamples(model),
    all = sumOf(model.data.time.value);
  const threads = model.threads ? sums.filter((_, t) => model.threads[t]) : sums,
    n = sumOf(threads);
  return `${seconds(first)} s to ${seconds(last + 1)} s${model.threads ? ", chosen threads" : ""}: ${n.toLocaleString("en")} samples, ${pct(all ? (100 * n) / all : 0)} of all, in ${threads.filter((s) => s > 0).length} threads`;
}

// Round times from 0 to end, in seconds, at most so many: steps of 1, 2 or 5 and zeros; of minutes and hours as people count them.
function timeTicks(end, most) {
  const least = end / Math.max(1, most),
    ten = 10 ** Math.floor(Math.log10(least)),
    steps = least > 10 ? [15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400] : [1, 2, 5, 10].map((n) => n * ten),
    step = steps.find((s) => s >= least * 0.999) || Math.ceil(least / 86400) * 86400,
    digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)),
    ticks = [];
  for (let i = 0; i * step <= end * 1.0001; i++) ticks.push({ at: i * step, text: (i * step).toFixed(digits) + " s" });
  return ticks;
}

class HeatMap {
  constructor(model, order) {
    Object.assign(this, { model, order, bins: timeBins(model), rows: Math.min(order.length, MOST_ROWS) });
    this.rowHeight = Math.max(5, Math.min(18, 280 / this.rows));
    this.place = new Map(order.map((t, i) => [t, i]));
    this.canvas = h("canvas", { role: "img", "aria-label": "samples by thread and time" });
    this.holder = h("div", { class: "canvas heat" }, this.canvas);
    this.canvas.addEventListener("pointerdown", (event) => this.start(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", () => this.end());
    this.canvas.addEventListener("pointerleave", () => {
      if (!this.drag) tip("");
    });
    new ResizeObserver(() => this.draw()).observe(this.holder);
  }

  draw() {
    const { model, rows, rowHeight, bins } = this,
      { time, meta } = model.data,
      width = (this.width = Math.max(this.holder.clientWidth - MARGIN - 10, 160));
    const g = sizeCanvas(this.canvas, width + MARGIN + 10, rows * rowHeight + TICKS),
      style = getComputedStyle(document.documentElement),
      most = mostOf(time.value, 1);
    g.fillStyle = style.getPropertyValue("--bar-self");
    for (let i = 0; i < time.bin.length; i++) {
      const row = this.place.get(time.thread[i]);
      if (row === undefined || row >= rows) continue;
      g.globalAlpha = (0.15 + (0.85 * time.value[i]) / most) * (model.threads && !model.threads[time.thread[i]] ? 0.3 : 1);
      g.fillRect(MARGIN + (time.bin[i] * width) / bins, row * rowHeight, Math.max(width / bins - 0.3, 0.6), rowHeight - 1);
    }
    g.globalAlpha = 1;
    g.fillStyle = style.getPropertyValue("--soft");
    g.font = "11px ui-monospace, DejaVu Sans Mono, monospace";
    for (let i = 0; i < rows && rowHeight >= 10; i++)
      g.fillText(
        `${meta.threads[this.order[i]].name} ${meta.threads[this.order[i]].tid}`.slice(0, 23),
        14,
        i * rowHeight + rowHeight / 2 + 4,
      );
    this.drawTicks(g);
    this.drawFrame(g, style);
  }

  drawTicks(g) {
    const { bins, width, rows, rowHeight } = this,
      end = (bins * this.model.data.meta.bin_ns) / 1e9;
    for (const { at, text } of timeTicks(end, Math.floor(width / 80))) {
      const x = MARGIN + (width * at) / end;
      g.fillRect(x, rows * rowHeight, 1, 4);
      g.fillText(text, Math.min(x, MARGIN + width - text.length * 6.7), rows * rowHeight + 16);
    }
  }

  // Around what is chosen, and while it is drawn around that.
  drawFrame(g, style) {
    const { drag, width, bins, rowHeight, rows } = this,
      [first, last] = drag ? [Math.min(drag.bin, drag.toBin), Math.max(drag.bin, drag.toBin)] : chosenBins(this.model);
    const [top, bottom] = drag ? [Math.min(drag.row, drag.toRow), Math.max(drag.row, drag.toRow)] : [0, rows - 1];
    if (!drag && !state.y) return;
    g.strokeStyle = style.getPropertyValue("--found");
    g.lineWidth = 2;
    g.strokeRect(
      MARGIN + (first * width) / bins,
      top * rowHeight + 1,
      Math.max(((last - first + 1) * width) / bins, 2),
      (bottom - top + 1) * rowHeight - 2,
    );
  }

  at(event) {
    const r = this.canvas.getBoundingClientRect(),
      clamp = (value, most) => Math.max(0, Math.min(most - 1, Math.floor(value)));
    return {
      bin: clamp(((event.clientX - r.left - MARGIN) / this.width) * this.bins, this.bins),
      row: clamp((event.clientY - r.top) / this.rowHeight, this.rows),
    };
  }

  start(event) {
    const { bin, row } = this.at(event);
    this.drag = { bin, row, toBin: bin, toRow: row };
    this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { bin, row } = this.at(event),
      { meta } = this.model.data,
      thread = meta.threads[this.order[row]];
    tip(`${thread.name} ${thread.tid}\n${((bin * meta.bin_ns) / 1e9).toFixed(2)} s`, event);
    if (!this.drag) return;
    Object.assign(this.drag, { toBin: bin, toRow: row });
    this.draw();
  }

  // A click chooses a thread, or all again; a frame an interval, and if it leaves threads out, those it holds.
  end() {
    const { drag, order } = this;
    this.drag = null;
    if (!drag) return;
    tip("");
    const [top, bottom] = [drag.row, drag.toRow].sort((a, b) => a - b),
      [first, last] = [drag.bin, drag.toBin].sort((a, b) => a - b);
    const only = writeSet(order.slice(top, bottom + 1));
    if (first === last && top === bottom) setState({ t: state.t === only ? "" : only });
    else setState({ y: `${first}-${last}`, ...(top > 0 || bottom < this.rows - 1 ? { t: only } : {}) });
  }
}

// Two fields for those who do not draw, what the interval holds, and the picture.
function heatMapView(model, order) {
  const bins = timeBins(model),
    [first, last] = bins > 0 ? chosenBins(model) : [0, 0],
    bin = model.data.meta.bin_ns / 1e9;
  if (bins <= 0) return [h("p", { class: "empty" }, model.data.parts.has("block-time") ? "This profile has no timeline." : "reading…")];
  const field = (label, value, set) =>
    h(
      "label",
      {},
      label + " ",
      h("input", {
        type: "number",
        min: 0,
        step: "any",
        value: value.toFixed(2),
        "aria-label": `interval ${label}, in seconds`,
        onchange: (e) => set(Math.max(0, Number(e.target.value) || 0)),
      }),
      " s",
    );
  const set = (from, to) =>
    setState({
      y: `${Math.min(Math.floor(from / bin + 1e-9), bins - 1)}-${Math.min(Math.max(Math.ceil(to / bin - 1e-9) - 1, 0), bins - 1)}`,
    });
  return [
    h(
      "div",
      { class: "bar wrap" },
      h("b", {}, "samples over time"),
      field("from", first * bin, (from) => set(from, (last + 1) * bin)),
      field("to", (last + 1) * bin, (to) => set(first * bin, to)),
      h("output", { id: "interval", "aria-live": "polite" }, intervalText(model)),
      state.y || state.t ? h("button", { onclick: () => setState({ y: "", t: "" }) }, "all threads, all times") : null,
    ),
    h(
      "div",
      { class: "bar wrap hint" },
      "Draw a frame to choose an interval and threads; click a row for one thread. Chosen threads apply to every view. An interval has totals by thread only: a profile does not record when a thread was in which context.",
    ),
    new HeatMap(model, order).holder,
  ];
}
