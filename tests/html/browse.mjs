// SPDX-License-Identifier: Apache-2.0
// Tests a report in a real browser: every view, search, keys, links; the page makes no requests and logs no errors, hostile
// names stay text, and numbers equal the JSON export.
// usage: node browse.mjs REPORT.html EXPORT.json CHROMIUM [SCREENSHOT_DIR]
import fs from "node:fs";
import { check, launch, tally, watch } from "./driver.mjs";

const [report, json, chromium, pictures] = process.argv.slice(2);
const data = JSON.parse(fs.readFileSync(json, "utf8"));

const browser = await launch(chromium);
const page = await browser.newPage();
const { requests, errors } = await watch(page, /^(data|file):/);
await page.goto("file://" + fs.realpathSync(report));
await page.waitForSelector("html[data-whole]");

const text = (selector) => page.$eval(selector, (e) => e.textContent);
const settled = () => page.waitForSelector("#view:not([aria-busy])"); // until all blocks are unpacked
const view = async (name) => {
  await page.evaluate((v) => [...document.querySelectorAll("#views button")].find((b) => b.textContent.startsWith(v)).click(), name);
  await settled();
};

const all = data.node_values.inclusive["1"][0];
const labels = data.frames.name.map((n) => data.strings[n]);
check("the summary has a text", (await text(".lead")).length > 20);
for (const name of ["summary", "flame", "tree", "callers", "flat", "sandwich", "source", "threads"]) {
  await view(name);
  check("view " + name, (await page.$eval("#view", (e) => e.children.length)) > 0);
  check("tab " + name, (await text('#views [aria-selected="true"]')).startsWith(name));
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

// Numbers: the heaviest top-level context in the tree is that of the export.
await view("tree");
const children = data.nodes.parent
  .map((p, i) => [p, i])
  .filter(([p]) => p === 0)
  .map(([, i]) => i);
const heaviest = children.reduce((a, b) => (data.node_values.inclusive["1"][a] >= data.node_values.inclusive["1"][b] ? a : b));
const want = ((100 * data.node_values.inclusive["1"][heaviest]) / all).toFixed(1);
const second = await page.$$eval(".grid .row", (rows) => rows.slice(0, 3).map((r) => r.textContent));
check("the tree's first row has 100%", second[0].includes("100%"), second[0]);
check(
  "the tree agrees with the export",
  second[1].includes(labels[data.nodes.frame[heaviest]]) && second[1].includes(want),
  `${second[1]} / ${want}`,
);

// The same functions, in the same order of self cost, with the same shares as `export -f top`.
await view("flat");
await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "function").click());
const top = JSON.parse(fs.readFileSync(json.replace(/json$/, "top.json"), "utf8"))
  .filter((r) => r.kind === "function" || r.kind === "inline")
  .sort((a, b) => b.self - a.self || b.total - a.total)
  .slice(0, 12);
const flat = await page.$$eval(".grid .row", (rows) =>
  rows
    .slice(0, 12)
    .map((r) => ({ name: r.querySelector(".label").textContent, cells: [...r.querySelectorAll(".num")].map((c) => c.textContent) })),
);
const digits = (value) => value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + "%";
check("flat has the rows of export -f top", flat.length === top.length, `${flat.length} ${top.length}`);
flat.forEach((row, i) =>
  check(
    "flat row " + i,
    row.cells[0] === digits(top[i].total_pct) && (row.cells[1] || "0.00%") === digits(top[i].self_pct),
    JSON.stringify([row, top[i].function, top[i].total_pct, top[i].self_pct]),
  ),
);
await view("tree");

// Keyboard only: move, open, close, search, views, help.
await page.focus('.grid [tabindex="0"]');
const rows = () => page.$$eval(".grid .row", (r) => r.length);
await page.keyboard.press("Home");
const before = await rows();
await page.keyboard.press("ArrowLeft");
check("left closes", (await rows()) < before || before === 1, `${before}`);
await page.keyboard.press("ArrowRight");
check("right opens", (await rows()) >= 2);
await page.keyboard.press("ArrowDown");
check("the status line is updated", (await text("#status")).includes("total"));
await page.keyboard.press("h");
check("hot path", (await page.$$(".row.hot")).length > 0);
await page.keyboard.press("/");
await page.keyboard.type("sort");
check("search shows how much matched", /matched/.test(await text("#matched")), await text("#matched"));
await page.keyboard.press("Enter");
check("a match is marked", (await page.$$(".mark")).length > 0);
await page.keyboard.down("Control");
await page.keyboard.press("a");
await page.keyboard.up("Control");
await page.keyboard.type("/[/");
check("an invalid regex is reported without an exception", (await text("#matched")).length > 0 && errors.length === 0, errors.join());
await page.keyboard.press("Escape");
for (const [key, name] of [
  ["2", "flame"],
  ["5", "flat"],
  ["8", "threads"],
  ["1", "summary"],
]) {
  await page.keyboard.press(key);
  check("key " + key, (await text('#views [aria-selected="true"]')).startsWith(name));
}
await page.keyboard.press("?");
check("help opens", await page.$eval("#keys", (d) => d.open));
await page.keyboard.press("Escape");
await page.keyboard.press("l");
check("loops off", (await page.evaluate(() => location.hash)).includes("l=0"));
await page.keyboard.press("l");
await view("flat");
await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "loop").click());
check(
  "loops are rows like functions",
  (await page.$$eval(".grid .row .label", (l) => l.map((e) => e.textContent))).some((t) => t.startsWith("loop")),
);

// Source: loops in the margin, inlined code unfolds at its call, instructions next to it.
await page.goto("about:blank");
await page.goto("file://" + fs.realpathSync(report) + "#v=tree");
await page.waitForSelector("html[data-whole]");
await page.evaluate(() =>
  [...document.querySelectorAll(".grid .row")].find((r) => r.querySelector(".label").textContent === "main").click(),
);
await page.keyboard.press("s");
await settled();
check("source of the chosen function", (await text(".bar b")).includes("main"), await text(".bar b"));
check("instructions next to it", (await page.$$("tr.insn")).length > 10);
const folds = await page.$$("tr.fold button");
check("inlined code is folded", folds.length > 0);
const short = (await page.$$(".code tr")).length;
await folds[0].focus();
await page.keyboard.press("Enter");
await settled();
check("and unfolds", (await page.$$(".code tr")).length > short);
check("loops are marked in the margin", await page.$$eval("td.gutter", (cells) => cells.some((c) => c.textContent.includes("┌"))));
if (pictures) await page.screenshot({ path: `${pictures}/source-unfolded.png` });
await page.goto("about:blank");
await page.goto("file://" + fs.realpathSync(report) + "#v=source");
await page.waitForSelector("html[data-whole]");
await settled();
check("without a selection, the costliest function", (await text(".bar b")).length > 0);
check("self costs have their interval", await page.$$eval(".code td.soft", (cells) => cells.some((c) => c.textContent.startsWith("±"))));

// Filter: only costs that pass through a match count.
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("/");
await page.keyboard.type("/^relax$/");
await page.keyboard.press("Enter");
const share = await text("#matched");
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("f");
check(
  "the filter keeps only the matches",
  /^100%/.test(await text("#matched")) && !/^100%/.test(share),
  `${share} / ${await text("#matched")}`,
);
await page.keyboard.press("f");
check("the filter can be removed", (await text("#matched")) === share);
for (const name of ["summary", "tree", "callers", "flat"]) {
  await view(name);
  if (name === "flat")
    await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "function").click());
  check("matches are marked in " + name, (await page.$$("#view .mark")).length > 0);
}
await page.keyboard.press("/");
await page.keyboard.press("Escape");

// Files saved from the page.
const client = await page.createCDPSession();
fs.rmSync("saved", { recursive: true, force: true });
fs.mkdirSync("saved");
await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: fs.realpathSync("saved") });
const press = (name) =>
  page.evaluate((label) => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === label).click(), name);
const saved = async (name) => {
  for (let i = 0; i < 100 && !fs.existsSync("saved/" + name); i++) await new Promise((r) => setTimeout(r, 50));
  return fs.existsSync("saved/" + name) ? fs.readFileSync("saved/" + name, "utf8") : "";
};
await view("flat");
await press("CSV");
check("CSV", /^level,kind,name,total,self/.test(await saved("cpprof.csv")), (await saved("cpprof.csv")).slice(0, 200));
await view("flame");
await press("folded");
const costs = (await saved("cpprof.folded"))
  .trim()
  .split("\n")
  .map((line) => Number(line.slice(line.lastIndexOf(" "))));
check("folded adds up", costs.reduce((a, b) => a + b, 0) === all, `${costs.reduce((a, b) => a + b, 0)} / ${all}`);
await press("PNG");
check("PNG", (await saved("cpprof.png")).length > 1000);

// One thread's share, in every view and in the source lines.
await page.goto("about:blank");
await page.goto("file://" + fs.realpathSync(report) + "#v=flat&g=line&t=0");
await page.waitForSelector("html[data-whole]");
const sum = (metric, thread) =>
  data.thread_values.value.reduce(
    (s, v, i) => s + (data.thread_values.metric[i] === metric && data.thread_values.thread[i] === thread ? v : 0),
    0,
  );
const shares = await page.$$eval(".grid .row", (rows) => rows.map((r) => parseFloat(r.querySelector(".num").textContent)));
check("lines are of the chosen thread", shares.every((s) => s <= 100.01) && shares.reduce((a, b) => a + b, 0) <= 100.5, shares.join());
await view("tree");
const first = sum(1, 0) / 1e6;
check(
  "the tree is of the chosen thread",
  (await page.$eval(".grid .row", (r) => r.textContent)).includes(
    first >= 1000 ? (first / 1000).toFixed(2) : first.toFixed(first >= 100 ? 0 : 1),
  ),
  `${first}`,
);
await page.evaluate(() => {
  document.getElementById("thread").value = "";
  document.getElementById("thread").onchange({ target: { value: "" } });
});
await view("flame");
for (const name of ["by name", "heat", "upward"]) {
  const before = await page.$eval(".canvas canvas", (c) => c.toDataURL());
  await press(name);
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
  check("flame: " + name, (await page.$eval(".canvas canvas", (c) => c.toDataURL())) !== before);
}

// Threads: three plots; left and right move between the tabs.
await view("threads");
for (const name of ["sorted", "histogram", "plot"]) {
  await press(name);
  check("threads: " + name, (await text('.bar [aria-pressed="true"]')) === name && (await page.$$(".plot canvas")).length === 1);
}
await page.focus('#views [aria-selected="true"]');
await page.keyboard.press("ArrowLeft");
check("left in the tabs", (await text('#views [aria-selected="true"]')).startsWith("source"));
await page.keyboard.press("ArrowRight");
await page.evaluate(() => document.activeElement.blur());
await page.keyboard.press("t");
const theme = await page.$eval("html", (e) => e.dataset.theme);
await page.reload();
await page.waitForSelector("html[data-whole]");
check("the URL keeps the theme", (await page.$eval("html", (e) => e.dataset.theme)) === theme && theme === "dark", theme);
await page.keyboard.press("t");
await view("flat");

// State: the URL restores the view.
const hash = await page.evaluate(() => location.hash);
await page.goto("file://" + fs.realpathSync(report) + hash);
await page.reload();
await page.waitForSelector("html[data-whole]");
check("the URL keeps the view", (await text('#views [aria-selected="true"]')).startsWith("flat"));
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
await page.evaluate(() => {
  location.hash = location.hash.replace(/d=[a-z]*/, "d=");
});
await page.reload();
await page.waitForSelector("html[data-whole]");
check("dark", (await page.$eval("html", (e) => e.dataset.theme)) === "dark");
await view("flame");
if (pictures) await page.screenshot({ path: `${pictures}/flame-dark.png` });
if (pictures)
  for (const name of ["summary", "tree", "source", "threads"]) {
    await view(name);
    await page.screenshot({ path: `${pictures}/${name}-dark.png` });
  }

check("roles", (await page.$$('[role="tab"]')).length === 8);
check(
  "no request left the page",
  requests.length === 0,
  requests.join(),
);
check("no error", errors.length === 0, errors.join(" | "));
await browser.close();
process.exit(tally());
