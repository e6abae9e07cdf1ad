// SPDX-License-Identifier: Apache-2.0
// Tests what makes a large profile readable: sorting, percentage bases, hidden functions, joined chains, the strip of matches,
// intervals, formulas, source and code unpacked on demand; each against the numbers of the JSON export.
// usage: node extras.mjs REPORT.html EXPORT.json CHROMIUM MAIN.asm
// MAIN.asm: the output of annotate --asm for main; the profile has the metrics samples, cpu-clock and page-faults
import fs from "node:fs";
import { check, digits, launch, openReport, tally } from "./driver.mjs";

const [report, json, chromium, asm] = process.argv.slice(2);
const data = JSON.parse(fs.readFileSync(json, "utf8")),
  { parent, frame } = data.nodes;
const total = (metric) => data.node_values.inclusive[metric],
  self = (metric) => data.node_values.exclusive[metric];
const labelOf = (node) => data.strings[data.frames.name[frame[node]]],
  kindOf = (node) => data.frames.kind[frame[node]];
const named = (name, kind) => frame.findIndex((f, i) => labelOf(i) === name && kindOf(i) === kind);
const children = (node) => parent.map((p, i) => i).filter((i) => i && parent[i] === node && total(1)[i] > 0);
const threadTotal = (thread) =>
  data.thread_values.value.reduce(
    (sum, v, i) => sum + (data.thread_values.metric[i] === 1 && data.thread_values.thread[i] === thread ? v : 0),
    0,
  );
const main = named("main", "function"),
  all = total(1)[0];

const browser = await launch(chromium);
const { page, errors, requests, settled, frames, click, text, hash, go, rows } = await openReport(browser, report, (p) =>
  p.evaluateOnNewDocument(() => {
    const Stream = globalThis.DecompressionStream;
    globalThis.unpacked = 0;
    globalThis.DecompressionStream = class extends Stream {
      constructor(kind) {
        super(kind);
        globalThis.unpacked++;
      }
    };
  }),
);

// Blocks are unpacked on demand: names, the tree and three more; then a file and the code of a function.
await go("");
check("no source is unpacked for the summary", (await page.evaluate(() => globalThis.unpacked)) === 5);
await go(`#v=source&n=${main}`);
check(
  "the source view unpacks that function only",
  (await page.evaluate(() => globalThis.unpacked)) === 7,
  await page.evaluate(() => globalThis.unpacked),
);
check("the source is shown", (await page.$$("tr.insn")).length > 10 && /int main/.test(await text(".code")));

// Sorting: by any column, reversed, and back; the URL keeps it.
await go(`#v=tree&n=${main}`);
const level2 = async () => (await rows()).filter((r) => r.level === 2).map((r) => r.name);
const usual = await level2();
check(
  "by default the heaviest first",
  JSON.stringify(usual) ===
    JSON.stringify(
      children(0)
        .sort((a, b) => total(1)[b] - total(1)[a] || a - b)
        .map((n) => (kindOf(n) === "special" ? "incomplete stacks" : labelOf(n))),
    ),
  usual.join(),
);
await click(".head button", "name");
check("by name", JSON.stringify(await level2()) === JSON.stringify([...usual].sort()), (await level2()).join());
check("the header shows the order", (await page.$eval('[aria-sort="ascending"]', (e) => e.textContent)).startsWith("name"));
await click(".head button", "name ▴");
check("the reverse order", JSON.stringify(await level2()) === JSON.stringify([...usual].sort().reverse()), (await level2()).join());
check("the order is in the URL", (await hash()).includes("s=-name"));
await page.reload();
await page.waitForSelector("html[data-whole]");
check("the URL keeps the order", JSON.stringify(await level2()) === JSON.stringify([...usual].sort().reverse()));
await click(".head button", "name ▾");
check("the default order again", JSON.stringify(await level2()) === JSON.stringify(usual));
await go("#v=flat&s=self");
const selfs = (await rows()).map((r) => parseFloat(r.cells.self) || 0);
check("flat by self", selfs.length > 5 && selfs.every((v, i) => !i || v <= selfs[i - 1]), selfs.join());

// Percentages of the zoomed node, of threads, of the whole profile.
const below = children(main).sort((a, b) => total(1)[b] - total(1)[a])[0];
await go(`#v=tree&z=${main}&b=focus&n=${below}`);
check(
  "percentages of the zoomed node",
  (await rows())[1].cells.total === digits((100 * total(1)[below]) / total(1)[main]),
  JSON.stringify((await rows())[1]),
);
check("the tree starts at the zoomed node", (await rows())[0].name === "main" && (await text(".crumbs")).endsWith("main"));
await page.keyboard.press("Escape");
check("Escape zooms out", (await rows())[0].name === "all");
await go("#v=tree&t=1&b=profile");
check(
  "percentages of the whole profile",
  (await rows())[0].cells.total === digits((100 * threadTotal(1)) / all),
  JSON.stringify((await rows())[0].cells),
);
await go("#v=tree&t=1&b=thread");
check("percentages of the thread", (await rows())[0].cells.total === "100%");
await go("#v=tree&t=0-1&b=thread");
check("percentages of both threads", (await rows())[0].cells.total === "100%" && (await page.$eval("#thread", (e) => e.value)) === "some");

// A hidden function: its costs count for its caller. It can be shown again.
await go(`#v=tree&n=${main}`);
await page.focus('.grid [tabindex="0"]');
await page.keyboard.press("x");
await settled();
const caller = labelOf(parent[main]),
  callerRow = (await rows()).find((r) => r.name === caller);
check(
  "hidden",
  !(await rows()).some((r) => r.name === "main") && callerRow.cells.total === digits((100 * total(1)[parent[main]]) / all),
  JSON.stringify(callerRow),
);
check("a chip shows the hidden function", (await text(".chip")).startsWith("main") && (await hash()).includes(`hide=${frame[main]}`));
await page.reload();
await page.waitForSelector("html[data-whole]");
check("hidden by the URL as well", !(await rows()).some((r) => r.name === "main") && (await page.$$(".chip")).length === 1);
await page.click(".chip");
await settled();
check("shown again", !(await page.$(".chip")) && !(await hash()).includes("hide"));
const average = named("average", "inline");
await go(`#v=flat&hide=${frame[average]}`);
check("a hidden inlined function is in no view", !(await rows()).some((r) => r.name === "average"));
await go(`#v=tree&n=${average}`);
await click("#actions button", "hide module");
check(
  "a whole module",
  (await text(".chip")).startsWith("all of ") && !(await rows()).some((r) => ["main", "relax", "average"].includes(r.name)),
);
check("nothing is lost", (await rows())[0].cells.total === "100%");
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("X");
check("a key shows all again", !(await page.$(".chip")));

// Only what passes through a function, and only what does not.
await go(`#v=tree&n=${main}`);
await click("#actions button", "only");
check(
  "only through main",
  (await rows())[0].cells.amount === (await rows()).find((r) => r.name === "main").cells.amount && /^100%/.test(await text("#matched")),
  await text("#matched"),
);
await go("#v=tree&b=profile&k=1&q=" + encodeURIComponent("!/^main$/"));
check(
  "only past main",
  (await rows())[0].cells.total === digits((100 * (all - total(1)[main])) / all) && !(await rows()).some((r) => r.name === "main"),
  JSON.stringify((await rows())[0].cells),
);

// Chains: a node that passes all its cost to one child is one row with it, in the tree and in the flame graph.
let head = main,
  tail = main;
while (parent[head] > 0 && total(1)[parent[head]] === total(1)[head]) head = parent[head];
for (let next = children(tail); next.length && total(1)[next[0]] === total(1)[tail]; next = children(tail)) tail = next[0];
await go(`#v=tree&n=${main}`);
const isAlone = async (node) => (await rows()).some((r) => r.name === labelOf(node));
check("separate rows at first", await isAlone(main));
await page.keyboard.press("j");
await settled();
const joined = (await rows()).find((r) => r.name.startsWith(labelOf(head)) && r.name.includes(" › "));
check(
  "a chain is one row",
  joined && joined.cells.total === digits((100 * total(1)[tail]) / all) && !(await isAlone(main)),
  JSON.stringify(joined),
);
await go("#v=flame");
const picture = () => page.$eval(".canvas canvas", (c) => c.toDataURL());
const before = await picture();
await page.keyboard.press("j");
await frames();
check("a chain is one box", (await picture()) !== before && (await hash()).includes("j=1"));

// The strip of matches: matches fill their share, at their position; a click goes there.
await go("#v=flame&q=" + encodeURIComponent("/^main$/"));
const strip = () =>
  page.$eval(".matchmap canvas", (c) => {
    const { data: pixels } = c.getContext("2d").getImageData(0, c.height / 2, c.width, 1),
      marked = [];
    for (let x = 2; x < c.width - 2; x++) if (pixels[4 * x + 3] > 60) marked.push(x);
    return { n: c.width, marked };
  });
const marks = await strip(),
  share = marks.marked.length / marks.n;
check("matches fill their share of the strip", Math.abs(share - total(1)[main] / all) < 0.02, `${share} ${total(1)[main] / all}`);
const box = await (await page.$(".matchmap canvas")).boundingBox();
await page.mouse.click(box.x + (box.width * marks.marked[marks.marked.length >> 1]) / marks.n, box.y + 8);
await frames();
check("a click goes to the match", (await hash()).includes(`z=${main}`), await hash());
await page.keyboard.press("Escape");
check("and Escape back", !(await hash()).includes("z="));

// Small boxes are merged into a grey one, and nothing is lost between boxes: the SVG has what is drawn.
const client = await page.createCDPSession();
fs.rmSync("saved", { recursive: true, force: true });
fs.mkdirSync("saved");
await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: fs.realpathSync("saved") });
await go("#v=flame");
await click(".bar button", "SVG");
for (let i = 0; i < 100 && !fs.existsSync("saved/cpprof.svg"); i++) await new Promise((r) => setTimeout(r, 50));
const drawn = await page.evaluate(
  (svg) => {
    const d = new DOMParser().parseFromString(svg, "image/svg+xml");
    return { bad: d.querySelector("parsererror") !== null, titles: [...d.querySelectorAll("title")].map((t) => t.textContent) };
  },
  fs.readFileSync("saved/cpprof.svg", "utf8"),
);
check(
  "the SVG is valid and has main",
  !drawn.bad && drawn.titles.some((t) => t.startsWith("main (") && t.endsWith(digits((100 * total(1)[main]) / all) + ")")),
  drawn.titles.slice(0, 8).join(" | "),
);

// A time interval, by fields and by dragging a frame; threads by dragging a smaller one.
const { bin_ns: bin, thread, bin: at, value } = data.timeline,
  bins = Math.max(...at) + 1;
const inside = (from, to, t = -1) =>
  value.reduce((sum, v, i) => sum + (at[i] >= from && at[i] <= to && (t < 0 || thread[i] === t) ? v : 0), 0);
await go("#v=threads&y=20-59");
check(
  "an interval has its samples",
  (await text("#interval")).includes(
    `: ${inside(20, 59).toLocaleString("en")} samples, ${digits((100 * inside(20, 59)) / inside(0, bins))}`,
  ),
  await text("#interval"),
);
const byThread = await rows();
check(
  "by thread too",
  data.threads.tid.every(
    (tid, t) => byThread.find((r) => r.name.includes(`(${tid})`)).cells["samples in interval"] === inside(20, 59, t).toLocaleString("en"),
  ),
);
await page.$eval(
  'input[aria-label="interval from, in seconds"]',
  (e, s) => {
    e.value = s;
    e.dispatchEvent(new Event("change"));
  },
  String((30 * bin) / 1e9),
);
check(
  "the field moves its start",
  (await hash()).includes("y=30-59") && (await text("#interval")).includes(`: ${inside(30, 59).toLocaleString("en")} samples`),
  await hash(),
);
await frames();
const heat = await (await page.$(".heat canvas")).boundingBox();
await page.mouse.move(heat.x + 170, heat.y + 3);
await page.mouse.down();
await page.mouse.move(heat.x + 400, heat.y + 5, { steps: 4 });
await page.mouse.up();
const brushed = new URLSearchParams(await hash()),
  [from, to] = brushed.get("y").split("-").map(Number),
  chosen = Number(brushed.get("t"));
check(
  "a frame selects an interval and a thread",
  to > from &&
    brushed.get("t") !== null &&
    (await text("#interval")).includes(`: ${inside(from, to, chosen).toLocaleString("en")} samples`),
  `${brushed} ${await text("#interval")}`,
);
await click(".bar button", "all threads, all times");
check("the selection can be removed", !/[yt]=/.test((await hash()).replace("v=threads", "")), await hash());

// Formulas: a ratio as a column, from the dialog and from the URL; errors are reported.
await go(`#v=tree&n=${main}`);
const ratio = (node) => String(Number((total(2)[node] / total(0)[node]).toPrecision(4)));
check("a column given by --derive", (await rows())[0].cells.told === ratio(0), JSON.stringify((await rows())[0].cells));
await click(".bar button", "columns…");
await page.type("#formula", "faults = page-faults / samples");
await page.keyboard.press("Enter");
await settled();
await page.type("#formula", "page-faults / nonsense");
await page.keyboard.press("Enter");
check("what is wrong is told", (await text("#columns .wrong")).includes("no such metric"), await text("#columns .wrong"));
await page.keyboard.press("Escape");
check(
  "a ratio of two metrics",
  (await rows()).find((r) => r.name === "main").cells.faults === ratio(main) && (await rows())[0].cells.faults === ratio(0),
  JSON.stringify((await rows())[0].cells),
);
await go("#v=flat&x=" + encodeURIComponent("page-faults;self(page-faults);2*(samples-1)/-(0-2)") + "&s=page-faults");
const outermost = (node) => {
  for (let up = parent[node]; up > 0; up = parent[up]) if (frame[up] === frame[node]) return false;
  return true;
};
const flatTotal = (f, metric) => frame.reduce((sum, g, i) => sum + (g === f && outermost(i) ? total(metric)[i] : 0), 0);
const flat = await rows(),
  once = flat.filter((r) => flat.filter((o) => o.name === r.name).length === 1 && !r.name.startsWith("loop"));
const expected = (name, of) =>
  of(data.frames.name.findIndex((n, f) => data.strings[n] === name && ["function", "inline"].includes(data.frames.kind[f]))).toLocaleString(
    "en",
  );
const unique = once.filter(
  (r) => data.frames.name.filter((n, f) => data.strings[n] === r.name && ["function", "inline"].includes(data.frames.kind[f])).length === 1,
);
check("there is something to compare", unique.length > 5, unique.length);
for (const row of unique) {
  check("page-faults of " + row.name, row.cells["page-faults"] === expected(row.name, (f) => flatTotal(f, 2)), JSON.stringify(row.cells));
  check(
    "arithmetic of " + row.name,
    row.cells["2*(samples-1)/-(0-2)"] === expected(row.name, (f) => flatTotal(f, 0) - 1).replace(/^(\d),/, "$1"),
    JSON.stringify(row.cells),
  );
}
const faults = flat.map((r) => Number(r.cells["page-faults"].replaceAll(",", "")));
check(
  "sorted by it",
  faults.every((v, i) => !i || v <= faults[i - 1]),
  faults.join(),
);
for (const bad of ["1/", "((((", "samples samples", "x=", '"', "constructor", "samples+".repeat(40) + "1"]) {
  await go("#v=tree&x=" + encodeURIComponent(bad));
  check("an invalid formula: " + bad.slice(0, 20), (await rows())[0].cells.total === "100%");
}

// The instructions of an inlined function, under the function that contains them: their costs are its own.
await go(`#v=source&n=${average}&f=${frame[average]}`);
check("where it was inlined", (await text("tr.host")).includes("inlined in "), await text("tr.host"));
const costs = await page.$$eval("tr.insn:not(.host)", (list) => list.map((r) => parseFloat(r.children[0].textContent) || 0));
const own = frame.reduce((sum, f, i) => sum + (f === frame[average] ? self(1)[i] : 0), 0);
check(
  "its instructions add up to it",
  Math.abs(costs.reduce((a, b) => a + b, 0) - (100 * own) / all) < costs.reduce((sum, cost) => sum + (cost >= 10 ? 0.051 : 0.0051), 0), // as they are rounded
  `${costs.reduce((a, b) => a + b, 0)} ${(100 * own) / all}`,
);
check("loops in their margin", await page.$$eval("tr.insn td.gutter", (cells) => cells.some((c) => /[┌│└]/.test(c.textContent))));

// The instructions of main cost the same as in annotate.
const told = fs
  .readFileSync(asm, "utf8")
  .split(/ instructions.*\n/)[1]
  .split("\n")
  .filter((line) => /^ *[0-9a-f]+ /.test(line.slice(23)))
  .map((line) => [parseInt(line.slice(23), 16), parseFloat(line.slice(0, 7).replace("<", "")) || 0]);
await go(`#v=source&n=${main}`);
const seen = await page.$$eval('[aria-label="instructions"] tr.insn', (list) =>
  list
    .filter((r) => r.children.length > 3)
    .map((r) => [parseInt(r.children[r.children.length - 3].textContent.slice(1), 16), parseFloat(r.children[0].textContent) || 0]),
);
check("as many instructions as annotate has", seen.length === told.length && told.length > 50, `${seen.length} ${told.length}`);
check(
  "each has the cost that annotate shows",
  seen.every(([offset, share], i) => offset === told[i][0] - told[0][0] && Math.abs(share - told[i][1]) < 0.11),
  JSON.stringify(
    seen
      .map((s, i) => [s, told[i]])
      .filter(([s, t]) => !t || Math.abs(s[1] - t[1]) >= 0.11)
      .slice(0, 5),
  ),
);

// Keyboard only: from the tabs to a row, its source, back, zoomed, sorted.
await go("");
const focused = () =>
  page.evaluate(() => [
    document.activeElement.getAttribute("role") || document.activeElement.tagName.toLowerCase(),
    document.activeElement.textContent,
  ]);
const press = async (...keys) => {
  for (const key of keys) {
    await page.keyboard.press(key);
    await settled();
  }
};
for (let i = 0; i < 20 && (await focused())[0] !== "tab"; i++) await press("Tab");
await press("ArrowRight", "ArrowRight");
check(
  "arrows go to the tree",
  (await focused())[1].startsWith("tree") && (await page.$eval("#view", (e) => e.getAttribute("aria-label"))) === "tree",
);
for (let i = 0; i < 30 && (await focused())[0] !== "row"; i++) await press("Tab");
await press("Home", "ArrowDown", "ArrowDown");
check("Tab and arrows go to a row", (await focused())[0] === "row" && (await text("#path")).includes("total"), (await focused()).join());
const name = await page.$eval('.row[aria-selected="true"] .label', (e) => e.textContent);
await press("z");
check("z zooms in", (await rows())[0].name === name, name);
await press("Escape", "s");
check("s shows its source", (await text(".bar b")) === name, `${await text(".bar b")} ${name}`);
await press("3");
check(
  "3 goes back to that row",
  (await focused())[0] === "row" && (await page.$eval('.row[aria-selected="true"] .label', (e) => e.textContent)) === name,
);
await page.focus(".head .sort");
await press("Enter");
check("a header sorts", (await hash()).includes("s=name") && (await page.$('[aria-sort="ascending"]')) !== null);
for (let i = 0; i < 60 && (await focused())[1] !== "copy"; i++) await press("Tab");
check("Tab reaches the last action", (await focused())[1] === "copy", (await focused()).join());

// The keyboard focus stays where it is when a button changes the view.
await go("#v=tree");
await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "loops").focus());
await page.keyboard.press("Enter");
await settled();
check(
  "focus stays on the button",
  (await page.evaluate(() => document.activeElement.textContent)) === "loops" && (await hash()).includes("l=0"),
);

check("no request left the page", requests.length === 0, requests.join());
check("no error", errors.length === 0, errors.join(" | "));
await browser.close();
process.exit(tally());
