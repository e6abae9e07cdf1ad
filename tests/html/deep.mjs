// SPDX-License-Identifier: Apache-2.0
// Tests a recursion of 20,000 calls, deeper than a script can recurse or a canvas can be high, in every view, down to its end.
// usage: node deep.mjs REPORT.html CHROMIUM
import { check, launch, openReport, tally } from "./driver.mjs";

const [report, chromium] = process.argv.slice(2),
  DEPTH = 20000;
const browser = await launch(chromium);
const { page, errors, frames, text, go, rows } = await openReport(browser, report);

for (const view of ["summary", "flame", "tree", "callers", "flat", "sandwich", "source", "threads"]) {
  await go("#v=" + view);
  check(view, (await page.$eval("#view", (e) => e.children.length)) > 0 && !/could not be opened/.test(await text("#view")));
}
await go("#v=summary");
check(
  "the hot path shows its ends",
  /⋯ 19,\d\d\d more/.test(await text(".path")) && (await page.$$(".path li")).length < 30,
  (await text(".path")).slice(0, 200),
);

// The flame graph is drawn where it is scrolled to, at both ends.
const drawn = () =>
  page.$eval(".canvas canvas", (c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = 0;
    for (let i = 3; i < data.length; i += 4000) n += data[i] > 0;
    return { n, height: c.height };
  });
await go("#v=flame");
check("the top of the flame graph", (await drawn()).n > 20 && (await drawn()).height < 4000, JSON.stringify(await drawn()));
check("it is as high as it is deep", (await page.$eval(".tall", (e) => e.clientHeight)) > DEPTH * 18);
await page.$eval(".canvas", (e) => {
  e.scrollTop = e.scrollHeight - e.clientHeight - 40;
});
await frames();
await frames();
check("the end of the flame graph", (await drawn()).n > 20, JSON.stringify(await drawn()));
await page.focus(".canvas canvas");
await page.keyboard.press("h");
check("the hot path leads to the end", (await text("#path")).includes("total"), await text("#path"));

// The tree opens down to the selected node and shows it; without recursion, or with chains joined, it is short.
await page.evaluate(() => {
  location.hash = location.hash.replace("v=flame", "v=tree");
});
await page.waitForFunction(() => document.querySelector(".row"));
await frames();
const inSight = await page.$eval('.row[aria-selected="true"]', (row) => {
  const g = row.closest(".grid").getBoundingClientRect(),
    r = row.getBoundingClientRect();
  return {
    shown: r.top >= g.top && r.bottom <= g.bottom,
    level: Number(row.getAttribute("aria-level")),
    depth: row.querySelector(".depth").textContent,
    width: row.querySelector(".label").clientWidth,
  };
});
check(
  "the selected row is visible, with its name",
  inSight.shown && inSight.level > DEPTH && Number(inSight.depth) === inSight.level - 1 && inSight.width > 30,
  JSON.stringify(inSight),
);
await go("#v=tree&r=0");
check(
  "without recursion it is short",
  (await rows()).every((r) => r.level < 8),
);
await go("#v=tree&j=1");
check(
  "a chain of calls is one row",
  (await rows()).some((r) => r.name.includes(" › … › ")) && (await rows()).every((r) => r.level < 40),
  (await rows()).map((r) => r.name).join(),
);

check("no error", errors.length === 0, errors.join(" | "));
await browser.close();
process.exit(tally());
