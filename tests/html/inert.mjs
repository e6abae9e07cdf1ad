// SPDX-License-Identifier: Apache-2.0
// Tests a report with names that are markup, script, control characters or members of every object: in every view they are
// plain text. Also checks the accessibility of every view with axe.
// usage: node inert.mjs HOSTILE.html EXPORT.json PLAIN.html CHROMIUM BAD.html
import fs from "node:fs";
import { check, launch, tally, watch } from "./driver.mjs";

const [hostile, json, plain, chromium] = process.argv.slice(2);
const data = JSON.parse(fs.readFileSync(json, "utf8"));
const VIEWS = ["summary", "flame", "tree", "callers", "flat", "sandwich", "source", "threads"];

const browser = await launch(chromium);

async function open(file, hash = "") {
  const page = await browser.newPage(),
    seen = await watch(page, /^(data|file|about):/);
  await page.goto("file://" + fs.realpathSync(file) + hash);
  await page.waitForSelector("html[data-whole]");
  return { page, seen };
}
const view = async (page, name) => {
  await page.evaluate((v) => [...document.querySelectorAll("#views button")].find((b) => b.textContent.startsWith(v)).click(), name);
  await page.waitForSelector("#view:not([aria-busy])");
};

const { page, seen } = await open(hostile);
const elements = () => page.evaluate(() => [...document.querySelectorAll("*")].map((e) => e.tagName.toLowerCase()));
const scripts = (await elements()).filter((t) => t === "script").length;
const names = data.frames.name.map((n) => data.strings[n]).filter((n) => n.trim() && n.length < 1000);
for (const name of VIEWS) {
  await view(page, name);
  const tags = await elements(),
    foreign = tags.filter((t) => ["img", "b2", "iframe", "object", "embed", "link"].includes(t));
  check(name + ": no elements from names", foreign.length === 0 && !tags.includes("img"), foreign.join());
  check(name + ": no scripts are added", tags.filter((t) => t === "script").length === scripts);
  check(name + ": something is shown", await page.$eval("#view", (e) => e.children.length > 0));
}
check("the title is text", (await page.title()).includes("</script>"));
await view(page, "flat");
await page.evaluate(() => [...document.querySelectorAll(".bar button")].find((b) => b.textContent === "function").click());
const shown = new Set(await page.$$eval(".grid .row .label", (labels) => labels.map((l) => l.textContent)));
for (const name of names.filter((n) => !/^(total|<incomplete>)$/.test(n)))
  check("shown unchanged: " + JSON.stringify(name), shown.has(name));
for (const query of ["__proto__", "constructor", "</script>", "/^hasOwnProperty$/", "re:(", "\\", "%s%n"]) {
  await page.evaluate((q) => {
    const box = document.getElementById("query");
    box.value = q;
    box.dispatchEvent(new Event("input"));
  }, query);
  const said = await page.$eval("#matched", (e) => e.textContent);
  check("search " + query, query === "re:(" ? !/matched/.test(said) : /matched/.test(said) && !/^0\.00%/.test(said), said);
}
for (const key of ["l", "i", "r", "l", "i", "r", "m", "p", "h"]) await page.keyboard.press(key);
for (let node = 1; node < Math.min(data.nodes.parent.length, 60); node += 4) {
  await page.evaluate((n) => {
    location.hash = "#v=source&n=" + n;
  }, node);
  await page.evaluate(() => new Promise((r) => setTimeout(r, 20)));
  for (const fold of await page.$$("tr.fold button")) {
    await fold.evaluate((b) => b.click());
    break;
  }
}
for (const hash of [
  "#v=__proto__&n=-5&f=999999",
  "#n=1e99&m=77&t=12345&z=4294967296",
  "#q=%3Cimg%20src=x%20onerror=alert(1)%3E&constructor=1",
  "#%",
]) {
  const other = await open(hostile, hash);
  check(
    "an invalid URL fragment: " + hash,
    other.seen.errors.length === 0 && (await other.page.$eval("#view", (e) => e.children.length)) > 0,
    other.seen.errors.join(" | "),
  );
  await other.page.close();
}
check("no request", seen.requests.length === 0, seen.requests.join());
check("no error, no dialog", seen.errors.length === 0, seen.errors.slice(0, 5).join(" | "));
await page.close();

// A bad profile is marked red; without scripts there is a table; in print there is the summary without controls.
const { page: bad } = await open(process.argv[6]);
check(
  "a bad profile turns the strip red",
  await bad.$eval(
    "#quality",
    (e) => e.className === "bad" && e.textContent.includes("⚠") && getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)",
  ),
);
const { page: good } = await open(plain);
check("a good profile does not", await good.$eval("#quality", (e) => e.className === ""));
await good.emulateMediaType("print");
check(
  "in print: the summary without controls",
  await good.evaluate(
    () =>
      getComputedStyle(document.getElementById("tools")).display === "none" &&
      document.querySelector(".page h2") &&
      getComputedStyle(document.querySelector(".page")).overflow === "visible",
  ),
);
check("in print: a PDF is made", (await good.pdf()).length > 5000);
const silent = await browser.newPage();
await silent.setJavaScriptEnabled(false);
await silent.goto("file://" + fs.realpathSync(plain));
check("without scripts: something to read", (await silent.$$eval("noscript table tr", (rows) => rows.length)) > 3);
const source = fs.readFileSync(plain, "utf8"),
  table = /<noscript>([^]*?)<\/noscript>/.exec(source)[1];
check(
  "without scripts: the heaviest functions",
  (table.match(/<tr>/g) || []).length > 3 && table.includes("quality:"),
  table.slice(0, 200),
);
await Promise.all([bad.close(), good.close(), silent.close()]);

// Accessibility: axe finds no problem in any view, light and dark.
const axe = fs.readFileSync("node_modules/axe-core/axe.min.js", "utf8");
for (const scheme of ["light", "dark"]) {
  const other = await open(plain, "#d=" + scheme);
  await other.page.setBypassCSP(true);
  await other.page.reload();
  await other.page.waitForSelector("html[data-whole]");
  await other.page.evaluate(axe);
  for (const name of VIEWS) {
    await view(other.page, name);
    const found = await other.page.evaluate(() =>
      globalThis.axe.run(document, { resultTypes: ["violations"] }).then((r) =>
        r.violations.map(
          (v) =>
            `${v.id} (${v.impact}) ${v.nodes
              .slice(0, 2)
              .map((n) => n.html.slice(0, 120))
              .join(" ")}`,
        ),
      ),
    );
    check(`axe: ${name}, ${scheme}`, found.length === 0, found.join("\n    "));
  }
  await other.page.close();
}
await browser.close();
process.exit(tally());
