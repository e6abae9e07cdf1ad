// SPDX-License-Identifier: Apache-2.0
// Tests the first impression of a report: no exceptions, no layout shifts, drawings are explained, and numbers are those of the
// text report.
// usage: node first.mjs CHROMIUM REPORT.html SUMMARY.txt PROCESSES.html NAMES.html
import fs from "node:fs";
import { check, launch, openReport, tally } from "./driver.mjs";

const [chromium, report, summary, processes, names] = process.argv.slice(2);
const browser = await launch(chromium);
const { page, errors, go } = await openReport(browser, report, async (page) => {
  // Simulates a machine so busy that the first drawing is late: observers are never called.
  await page.evaluateOnNewDocument(() => {
    globalThis.ResizeObserver = class {
      observe() {}
    };
  });
});

// The pointer is over the flame graph before it is drawn.
await go("#v=flame");
await page.evaluate(() => {
  const canvas = document.querySelector(".tall canvas");
  for (const type of ["mousemove", "click", "mouseleave"]) canvas.dispatchEvent(new MouseEvent(type, { clientX: 30, clientY: 9 }));
});
check("a pointer over a flame graph that is not drawn does no harm", errors.length === 0, errors[0]);
await page.close();

const shown = await openReport(browser, report);
// The layout does not shift at the first zoom, on a wide screen and on a narrow one.
const place = () =>
  shown.page.$eval(".canvas", (e) => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [x, y, width, height].join(" ");
  });
for (const width of [1400, 800]) {
  await shown.page.setViewport({ width, height: 900 });
  for (const view of ["flame", "tree", "callers", "flat", "threads"]) {
    await shown.go("#v=" + view);
    const right = await shown.page.$$eval(".bar > *", (all) => Math.max(...all.map((e) => e.getBoundingClientRect().right)));
    check(`${view}: every button is visible, ${width} pixels wide`, right <= width, right);
    const cut = await shown.page.$$eval(".place", (all) =>
      all
        .filter((e) => /:[0-9-]+$/.test(e.textContent) && e.getBoundingClientRect().width > 0)
        .filter((e) => {
          const text = document.createRange();
          text.selectNodeContents(e);
          text.setStart(e.querySelector(".end") || e, 0);
          return text.getBoundingClientRect().right > e.getBoundingClientRect().right + 1;
        })
        .map((e) => e.textContent),
    );
    check(`${view}: no location loses its line number, ${width} pixels wide`, cut.length === 0, cut[0]);
  }
  await shown.go("#v=flame");
  const before = await place(),
    box = await (await shown.page.$(".tall canvas")).boundingBox();
  await shown.page.mouse.click(box.x + 20, box.y + 18 * 6);
  await shown.settled();
  await shown.frames();
  check("a click zooms", (await shown.hash()).includes("z="));
  check(`nothing jumps at the first zoom, ${width} wide`, (await place()) === before, `${before} -> ${await place()}`);
}

// The flame graph has a legend.
await shown.go("#v=flame");
const legend = await shown.text(".legend");
check("there is a legend", /stencil/.test(legend) && /loop/.test(legend) && /inlined call/.test(legend), legend);

// The default sort column has its arrow, and a click reverses the order.
for (const [view, column] of [
  ["tree", "total"],
  ["flat", "self"],
  ["callers", "cost"],
  ["threads", "share"],
]) {
  await shown.go("#v=" + view);
  check(`${view}: the sort column is marked`, (await shown.text('[aria-sort="descending"]')) === column + " ▾");
}
await shown.click(".head button", "share ▾");
check("a click reverses the default order", (await shown.text('[aria-sort="ascending"]')) === "share ▴");

// The interval of the hottest function is that of the text report.
await shown.go("");
const interval = (from) => (from.match(/\((\d+\.\d)[–-](\d+\.\d)%\)/) || []).slice(1).map(Number);
const said = interval(fs.readFileSync(summary, "utf8")),
  here = interval(await shown.text(".lead"));
check(
  "text and page have the same interval",
  here.length === 2 && here.every((end, i) => Math.abs(end - said[i]) < 0.2), // the page stores the spread of rounds in sixteenths
  `${here} and ${said}`,
);
check("no error", shown.errors.length === 0, shown.errors[0]);
await shown.page.close();

// Processes are a level above threads.
const many = await openReport(browser, processes);
await many.go("#v=threads");
const levels = await many.rows();
check("processes are above their threads", levels[0].level === 1 && /, \d+ threads$/.test(levels[0].name), levels[0].name);
check("threads are below", levels.some((r) => r.level === 2));
const groups = await many.page.$$eval("#thread optgroup", (all) => all.length);
check("the menu groups threads by process", groups > 1);
await many.click(".row .link", "only this");
check("a process can be selected", (await many.hash()).includes("t="));
check("no error", many.errors.length === 0, many.errors[0]);
await many.page.close();

// Long names: no two rows of a table look the same.
const long = await openReport(browser, names);
for (const view of ["", "#v=flat"]) {
  await long.go(view);
  const labels = await long.page.$$eval(view ? ".grid .label" : ".page section:nth-child(2) td .link", (all) => all.map((e) => e.textContent));
  check("long names differ " + view, labels.length > 3 && new Set(labels).size === labels.length, labels.join("\n"));
  check("long names are short " + view, Math.max(...labels.map((l) => l.length)) < 100, labels.join("\n"));
}
check("no error", long.errors.length === 0, long.errors[0]);
await browser.close();
process.exit(tally());
