// SPDX-License-Identifier: Apache-2.0
// Profiles with no samples, very few, or very many threads: every view opens, every key can be pressed.
// usage: node odd.mjs CHROMIUM REPORT.html...
import { check, launch, openReport, tally } from "./driver.mjs";

const [chromium, ...reports] = process.argv.slice(2);
const browser = await launch(chromium);
for (const report of reports) {
  const { page, errors, settled, text, go } = await openReport(browser, report);
  await go("");
  for (const view of "12345678") {
    await page.keyboard.press(view);
    await settled();
    check(
      `${report}: view ${view}`,
      (await page.$eval("#view", (e) => e.children.length)) > 0 && !/could not be opened/.test(await text("#view")),
    );
    for (const key of ["ArrowDown", "ArrowRight", "ArrowLeft", "Enter", "h", "z", "Escape", "j", "x", "X", "p", "m", "l", "i", "r", "c"])
      await page.keyboard.press(key);
    await settled();
  }
  check(report + ": no error", errors.length === 0, errors.slice(0, 3).join(" | "));
  await page.close();
}
await browser.close();
process.exit(tally());
