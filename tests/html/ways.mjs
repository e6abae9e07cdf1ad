// SPDX-License-Identifier: Apache-2.0
// The counted paths through a function are in the margin of its source.
// usage: node ways.mjs REPORT.html EXPORT.json COUNTS.json CHROMIUM; for tests/e2e/cycles/cycles.c: the loop in work() has two paths
import fs from "node:fs";
import { check, launch, openReport, tally } from "./driver.mjs";

const [report, json, counts, chromium] = process.argv.slice(2);
const data = JSON.parse(fs.readFileSync(json, "utf8")),
  counted = JSON.parse(fs.readFileSync(counts, "utf8")).functions[0];
const node = data.nodes.frame.findIndex((f) => data.strings[data.frames.name[f]] === "work" && data.frames.kind[f] === "function");
const browser = await launch(chromium);
const { page, errors, requests, go, text } = await openReport(browser, report);

await go(`#v=source&n=${node}`);
const lines = await page.$$eval("[aria-label=source] tbody tr", (rows) =>
  rows.map((row) => ({
    text: row.lastElementChild.textContent,
    marks: [...row.querySelectorAll(".way")].map((mark) => mark.textContent),
    titles: [...row.querySelectorAll(".way")].map((mark) => mark.title),
  })),
);
const at = (part) => lines.find((line) => line.text.includes(part)) || { marks: [], titles: [] };
const marksOf = (part) => at(part).marks.slice(0, 2).join("");
const marked = lines.filter((line) => line.marks.length);
check("a mark for each path in every line", marked.length > 8 && marked.every((line) => line.marks.length === counted.ways.length), marked.length);
check("one path goes through the table", marksOf("table[sum") === "●│", marksOf("table[sum"));
check("the other one divides", marksOf("0x123456789abcdef") === "│●", marksOf("0x123456789abcdef"));
check("both start over", marksOf("sum * 3 + i") === "▶▶", marksOf("sum * 3 + i"));
check("one leaves", lines.some((line) => line.marks.includes("◀")));
const most = counted.ways[0];
check("the mark shows the count", at("table[sum").titles[0].includes(most.count.toLocaleString("en")), at("table[sum").titles[0]);
check("the list above shows the count", (await text(".bar.ways")).includes("75.0%"), await text(".bar.ways"));
check("no errors, no requests", !errors.length && !requests.length, errors.join() + requests.join());
await browser.close();
process.exit(tally());
