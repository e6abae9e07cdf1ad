// SPDX-License-Identifier: Apache-2.0
// Facts about loops are in the rows of the page, in the words of the text report.
// usage: node facts.mjs REPORT.html LOOPS.csv SOURCE.c CHROMIUM; for facts.c, whose loops are marked
import fs from "node:fs";
import { check, launch, openReport, tally } from "./driver.mjs";

const [report, csv, source, chromium] = process.argv.slice(2);
const lines = fs.readFileSync(source, "utf8").split("\n"),
  lineOf = (mark) => lines.findIndex((line) => line.endsWith("// " + mark)) + 1;
// Fields with commas or quotes in them are quoted.
const cellsOf = (line) => [...line.matchAll(/("([^"]|"")*"|[^,]*)(,|$)/g)].map((m) => m[1].replace(/^"|"$/g, "").replace(/""/g, '"'));
const [head, ...told] = fs.readFileSync(csv, "utf8").trim().split("\r\n").map(cellsOf);
const saidOf = (mark) => (told.find((row) => row[head.indexOf("line")] === String(lineOf(mark))) || [])[head.indexOf("facts")];

const browser = await launch(chromium);
const { page, errors, go, rows } = await openReport(browser, report);
const rowOf = (all, mark) => all.find((row) => new RegExp(`^loop at facts\\.c:${lineOf(mark)}(-|$)`).test(row.name)) || { cells: {} };

await go("#v=flat&g=loop");
const flat = await rows(),
  vector = rowOf(flat, "vector").cells,
  shared = rowOf(flat, "shared").cells;
check("a vector loop and its width", /^\[vector 128 bit\]/.test(vector.facts), vector.facts);
check("the share of its cost in vector code", /; [1-9]\d?% of its own cost in vector code; /.test(vector.facts), vector.facts);
check("its hottest line, with its text", vector.facts?.includes(`hottest line facts.c:${lineOf("vector") + 1}, `), vector.facts);
check("the text is that of the source", vector.facts?.endsWith(": " + lines[lineOf("vector")].trim()), vector.facts);
check("its first line is shown", vector.source === lines[lineOf("vector") - 1].trim(), vector.source);
check("calls are counted", /1 call inside; /.test(shared.facts), shared.facts);
check("threads: least, most, mean", /2 threads: [\d.]+% to [\d.]+%, mean [\d.]+%, imbalance /.test(shared.facts), shared.facts);
const imbalance = Number((/imbalance (\d+)%/.exec(shared.facts) || [])[1]);
check("one has three times the work of the other: 50 % above the mean", imbalance > 35 && imbalance < 65, imbalance);
for (const mark of ["vector", "shared"]) {
  check(`the text report says the same of the ${mark} loop`, rowOf(flat, mark).cells.facts === saidOf(mark), saidOf(mark));
}

// In the tree, below their callers.
await go("#v=tree");
await page.focus('.grid [tabindex="0"]');
await page.keyboard.press("Home");
for (let i = 0; i < 60; i++) {
  await page.keyboard.press("ArrowRight"); // opens, and goes down once it is open
  await page.keyboard.press("ArrowDown");
}
const tree = await rows();
check("contexts have the facts, too", rowOf(tree, "shared").cells.facts === shared.facts, JSON.stringify(tree.map((row) => row.name)));
check("no errors", !errors.length, errors.join());
await browser.close();
process.exit(tally());
