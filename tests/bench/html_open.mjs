// SPDX-License-Identifier: Apache-2.0
// Measures the time of a browser to open a report and to show each view. usage: node html_open.mjs CHROMIUM REPORT.html; prints JSON.
import fs from "node:fs";
import puppeteer from "puppeteer-core";

const [chromium, report] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: chromium, protocolTimeout: 600000, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--enable-precise-memory-info"] });
const page = await browser.newPage();
await page.setViewport({ width: 1400, height: 900 });
const url = "file://" + fs.realpathSync(report), open = [];
for (let i = 0; i < 3; i++) {
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "domcontentloaded", timeout: 120000 });
  await page.waitForSelector("html[data-ready]", { timeout: 300000 });
  open.push(await page.evaluate(() => Number(document.documentElement.dataset.ready)));
}
await page.waitForSelector("html[data-whole]", { timeout: 300000 });
// From the click until two frames later, when the view has been drawn.
const views = {};
for (const name of ["flame", "tree", "callers", "flat", "sandwich", "source", "threads", "summary"])
  views[name] = await page.evaluate((wanted) => new Promise((resolve) => {
    const start = performance.now();
    [...document.querySelectorAll("#views button")].find((b) => b.textContent.startsWith(wanted)).click();
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
  }), name);
const search = await page.evaluate(() => new Promise((resolve) => {
  const query = document.getElementById("query"), start = performance.now();
  query.value = "/method_1.*9/";
  query.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - start)));
}));
const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
await browser.close();
console.log(JSON.stringify({ open_ms: open.sort((a, b) => a - b)[1], views_ms: views, search_ms: search, heap_bytes: heap }));
