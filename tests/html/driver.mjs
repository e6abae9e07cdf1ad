// SPDX-License-Identifier: Apache-2.0
// Functions for the tests of the page: a browser that reports errors and requests, and counted checks.
import fs from "node:fs";
import puppeteer from "puppeteer-core";

let passed = 0,
  failed = 0;

export function check(what, ok, detail = "") {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAILED: ${what} ${detail}`);
  }
}

export function tally() {
  console.log(`tally: ${passed} passed, ${failed} failed, 0 skipped`);
  return failed ? 1 : 0;
}

export function launch(chromium) {
  return puppeteer.launch({
    executablePath: chromium,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

// Records requests of a page other than `allowed`, and its errors, from now on.
export async function watch(page, allowed = /^(data|file|about|blob):/) {
  const requests = [],
    errors = [];
  page.setDefaultTimeout(120000); // a busy machine is not a failure
  await page.setViewport({ width: 1400, height: 900 });
  page.on("request", (request) => {
    if (!allowed.test(request.url())) requests.push(request.url());
  });
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("dialog", (dialog) => {
    errors.push("a dialog: " + dialog.message());
    dialog.dismiss();
  });
  return { requests, errors };
}

// Opens a page of a report and returns helpers to use it. before(page) runs before it is opened.
export async function openReport(browser, file, before = async () => {}) {
  const page = await browser.newPage(),
    url = "file://" + fs.realpathSync(file),
    { requests, errors } = await watch(page);
  await before(page);
  const settled = () => page.waitForSelector("#view:not([aria-busy])");
  const frames = () => page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r))));
  const click = async (selector, text) => {
    const found = await page.evaluate(
      (s, t) => {
        const e = [...document.querySelectorAll(s)].find((b) => b.textContent === t);
        if (e) e.click();
        return Boolean(e);
      },
      selector,
      text,
    );
    check(`there is a "${text}"`, found);
    await settled();
  };
  return {
    page,
    requests,
    errors,
    settled,
    frames,
    click,
    text: (selector) => page.$eval(selector, (e) => e.textContent),
    hash: () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).toString()),
    // As if the URL had been entered in a new window.
    go: async (hash) => {
      await page.goto("about:blank");
      await page.goto(url + hash);
      await page.waitForSelector("html[data-whole]");
      await settled();
      await frames();
    },
    // The rows of a table: level, name, and cells by column name.
    rows: (selector = ".grid") =>
      page.$eval(selector, (grid) => {
        const names = [...grid.querySelectorAll(".head > span")].map((s) => s.textContent.replace(/ [▾▴]$/, ""));
        return [...grid.querySelectorAll(".row")].map((row) => ({
          level: Number(row.getAttribute("aria-level")),
          name: row.querySelector(".label").textContent,
          cells: Object.fromEntries([...row.children].map((c, i) => [names[i], c.textContent])),
        }));
      }),
  };
}

export const digits = (value) => value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + "%";
