// SPDX-License-Identifier: Apache-2.0
// Makes the images of docs/images, and of every view, light and dark, on a narrow and on a wide screen, for inspection.
// usage: node pictures.mjs REPORT.html CHROMIUM FOLDER [all]   (of a recording of examples/stencil)
import { launch, openReport } from "./driver.mjs";

const [report, chromium, folder, all] = process.argv.slice(2);
const browser = await launch(chromium);
const { page, go, settled, frames } = await openReport(browser, report);

async function picture(name, hash, width, height, before = async () => {}) {
  await page.setViewport({ width, height });
  await go(hash);
  await before();
  await page.evaluate(() => document.activeElement.blur());
  await settled();
  await frames();
  await page.screenshot({ path: `${folder}/${name}.png` });
}

// The source of a function, by its name in the flat view.
async function source(name) {
  const rows = await page.$$(".grid .row");
  for (const row of rows) if ((await row.$eval(".label", (e) => e.textContent)) === name) await row.click();
  await page.keyboard.press("s");
}

await picture("flame", "#v=flame", 1250, 600);
await picture("tree", "#v=tree", 1320, 560, async () => {
  await page.keyboard.press("h");
});
await picture("source", "#v=flat", 1250, 560, () => source("relax"));
if (all)
  for (const scheme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    for (const width of [800, 1400])
      for (const view of ["summary", "flame", "tree", "callers", "flat", "sandwich", "source", "threads"])
        await picture(`${view}-${scheme}-${width}`, "#v=" + view, width, 900);
  }
await browser.close();
