// SPDX-License-Identifier: Apache-2.0
// Opens a report in a real browser and uses it: every view, search, keys, links; no request leaves the page, nothing
// is written to the console as an error, hostile names stay text, and numbers equal the JSON export.
// usage: node browse.mjs REPORT.html EXPORT.json CHROMIUM [SCREENSHOT_DIR]
import fs from "node:fs";
import puppeteer from "puppeteer-core";

const [report, json, chromium, pictures] = process.argv.slice(2);
const data = JSON.parse(fs.readFileSync(json, "utf8"));
let passed = 0, failed = 0;
const check = (what, ok, detail = "") => { if (ok) passed++; else { failed++; console.log(`FAILED: ${what} ${detail}`); } };

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const page = await browser.newPage();
await page.setViewport({ width: 1400, height: 900 });
const requests = [], errors = [];
page.on("request", (request) => { if (!request.url().startsWith("data:")) requests.push(request.url()); });
page.on("pageerror", (error) => errors.push(error.message));
page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
page.on("dialog", (dialog) => { errors.push("a dialog: " + dialog.message()); dialog.dismiss(); });
await page.goto("file://" + fs.realpathSync(report));
await page.waitForSelector("html[data-ready]", { timeout: 30000 });

const text = (selector) => page.$eval(selector, (e) => e.textContent);
const view = async (name) => { await page.evaluate((v) => [...document.querySelectorAll("#views button")].find((b) => b.textContent.startsWith(v)).click(), name); };

const all = data.node_values.inclusive["1"][0];
const labels = data.frames.name.map((n) => data.strings[n]);
check("the summary speaks", (await text(".lead")).length > 20);
for (const name of ["summary", "flame", "tree", "callers", "flat", "sandwich", "source", "threads"]) {
  await view(name);
  check("view " + name, (await page.$eval("#view", (e) => e.children.length)) > 0);
  check("tab " + name, (await text('#views [aria-selected="true"]')).startsWith(name));
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png` });
}

// Numbers: the heaviest top-level context in the tree is the one of the export.
await view("tree");
const children = data.nodes.parent.map((p, i) => [p, i]).filter(([p]) => p === 0).map(([, i]) => i);
const heaviest = children.reduce((a, b) => data.node_values.inclusive["1"][a] >= data.node_values.inclusive["1"][b] ? a : b);
const want = (100 * data.node_values.inclusive["1"][heaviest] / all).toFixed(1);
const second = await page.$$eval(".grid .row", (rows) => rows.slice(0, 3).map((r) => r.textContent));
check("the tree's first row is all", second[0].includes("100%"), second[0]);
check("the tree agrees with the export", second[1].includes(labels[data.nodes.frame[heaviest]]) && second[1].includes(want), `${second[1]} / ${want}`);

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
check("the status line follows", (await text("#status")).includes("total"));
await page.keyboard.press("h");
check("hot path", (await page.$$(".row.hot")).length > 0);
await page.keyboard.press("/");
await page.keyboard.type("sort");
check("search says how much matched", /matched/.test(await text("#matched")), await text("#matched"));
await page.keyboard.press("Enter");
check("a match is marked", (await page.$$(".mark")).length > 0);
await page.keyboard.down("Control"); await page.keyboard.press("a"); await page.keyboard.up("Control");
await page.keyboard.type("/[/");
check("a bad regex is told, not thrown", (await text("#matched")).length > 0 && errors.length === 0, errors.join());
await page.keyboard.press("Escape");
for (const [key, name] of [["2", "flame"], ["5", "flat"], ["8", "threads"], ["1", "summary"]]) {
  await page.keyboard.press(key);
  check("key " + key, (await text('#views [aria-selected="true"]')).startsWith(name));
}
await page.keyboard.press("?");
check("help opens", await page.$eval("#keys", (d) => d.open));
await page.keyboard.press("Escape");
await page.keyboard.press("l");
check("loops off", !(await page.evaluate(() => location.hash)).includes("l=1"));
await page.keyboard.press("l");
await view("flat");
await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "loop").click());
check("loops rank as peers", (await page.$$eval(".grid .row .label", (l) => l.map((e) => e.textContent))).some((t) => t.startsWith("loop")));

// State: the address brings the view back.
const hash = await page.evaluate(() => location.hash);
await page.goto("file://" + fs.realpathSync(report) + hash);
await page.reload();
await page.waitForSelector("html[data-ready]");
check("the address keeps the view", (await text('#views [aria-selected="true"]')).startsWith("flat"));
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
await page.reload();
await page.waitForSelector("html[data-ready]");
check("dark", (await page.$eval("html", (e) => e.dataset.theme)) === "dark");
await view("flame");
if (pictures) await page.screenshot({ path: `${pictures}/flame-dark.png` });

check("roles", (await page.$$('[role="tab"]')).length === 8);
check("no request left the page", requests.every((url) => url.startsWith("file:")), requests.join());
check("no error", errors.length === 0, errors.join(" | "));
await browser.close();
console.log(`tally: ${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
