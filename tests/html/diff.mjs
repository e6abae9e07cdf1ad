// SPDX-License-Identifier: Apache-2.0
// Tests comparisons in the page: before, after and change in every view, as in the JSON of `cpprof diff`; colours of the flame
// graph; what is new and gone; intervals; differences of ranks in a reduced profile; strips of dots of `cpprof stats`.
// usage: node diff.mjs CHROMIUM, in the folder with the files made by browse.sh
import fs from "node:fs";
import { check, launch, openReport, tally, watch } from "./driver.mjs";

const [chromium] = process.argv.slice(2),
  browser = await launch(chromium);
const read = (name) => JSON.parse(fs.readFileSync(name, "utf8"));

// "−1.25 ms" -> -1.25e6; counts are returned as they are.
const amount = (text) => {
  const [, sign, number, unit] = /^([+−]?)([0-9.,]+) ?(s|ms|µs|ns|)$/.exec(text) || [, "", "NaN", ""];
  return (sign === "−" ? -1 : 1) * Number(number.replaceAll(",", "")) * ({ s: 1e9, ms: 1e6, µs: 1e3 }[unit] || 1);
};
const near = (text, value) => Math.abs(amount(text) - value) <= 0.006 * Math.abs(value) + 60;
const percents = (text) => text.split(" to ").map((part) => Number(part.replace("−", "-").replace(/[+*\s]/g, "")));
const once = (list, name) => list.filter((row) => row.name === name).length === 1;

// Compares rows of the page with those of the export, if the name is unique in both.
function compare(what, rows, told, { total, least, by = "total", isMarked }) {
  const both = rows.filter((row) => once(rows, row.name) && once(told, row.name));
  check(`${what}: there is something to compare`, both.length >= least, `${both.length} of ${rows.length}`);
  for (const row of both) {
    const want = told.find((t) => t.name === row.name)[by];
    for (const side of ["before", "after", "change"])
      check(`${what}: ${side} of ${row.name}`, near(row.cells[side], want[side]), `${row.cells[side]} ${want[side]}`);
    const [low, high] = percents(row.cells["95 % interval"]);
    check(
      `${what}: interval of ${row.name}`,
      Math.abs(low - (100 * want.low) / total.before) < 0.11 + 0.01 * Math.abs(low) && Math.abs(high - (100 * want.high) / total.before) < 0.11 + 0.01 * Math.abs(high),
      `${row.cells["95 % interval"]} ${(100 * want.low) / total.before} ${(100 * want.high) / total.before}`,
    );
    if (isMarked)
      check(`${what}: mark of ${row.name}`, row.cells["95 % interval"].includes("*") === isMarked(told.find((t) => t.name === row.name)), row.cells["95 % interval"]);
  }
}

// Runs of a real program: two per side, and one per side.
for (const [name, least] of [
  ["runs", 5],
  ["single", 5],
]) {
  const flat = read(`d-${name}.flat.json`),
    tree = read(`d-${name}.tree.json`);
  const { page, errors, requests, click, text, go, rows } = await openReport(browser, `d-${name}.html`);
  await go("#v=flat");
  compare(name + " flat", await rows(), flat.rows, { total: flat.total, least });
  const changes = (await rows()).map((row) => Math.abs(amount(row.cells["self change"])));
  check(name + ": sorted by change", changes.every((v, i) => !i || v <= changes[i - 1] * 1.01 + 60), changes.slice(0, 6).join());
  await click(".head button", "95 % interval");
  const sure = (await rows()).map((row) => percents(row.cells["95 % interval"])).map(([low, high]) => Math.max(low, -high));
  check(name + ": sorted by significance", sure.every((v, i) => !i || v <= sure[i - 1] + 0.1), sure.slice(0, 6).join());
  await go("#v=tree");
  const [root] = await rows();
  check(name + ": totals", near(root.cells.before, flat.total.before) && near(root.cells.after, flat.total.after) && near(root.cells.change, flat.total.change), JSON.stringify(root));
  check(name + ": no interval of a share", !("±" in root.cells));
  compare(name + " tree", await rows(), tree.rows, { total: tree.total, least: 3, isMarked: (row) => row.significant });
  await page.keyboard.press("h");
  const hot = await page.$$eval(".row.hot .label", (labels) => labels.map((e) => e.textContent.replace(/^(loop at .*)-\d+$/, "$1")));
  check(name + ": the path of the change", JSON.stringify(hot) === JSON.stringify(tree.path), `${hot.join(" › ")} / ${tree.path.join(" › ")}`);
  await go("#v=callers");
  const [caller] = await rows();
  check(name + ": callers", Math.abs(amount(caller.cells.after) - amount(caller.cells.before) - amount(caller.cells.change)) <= 0.02 * amount(caller.cells.before) + 2e5, JSON.stringify(caller.cells));
  await go("#v=sandwich");
  const [by] = await rows();
  check(name + ": sandwich", ["before", "after", "change", "of before"].every((column) => by.cells[column] !== undefined) && /before .*, after /.test(await text(".bar span")), JSON.stringify(by));
  await go("#v=source");
  const heads = await page.$$eval(".code thead th", (cells) => cells.map((e) => e.textContent));
  check(name + ": source", ["before", "after", "change"].every((head) => heads.includes(head)), heads.join());
  const cells = await page.$$eval(".code tbody tr", (list) => list.map((r) => [...r.children].slice(0, 3).map((c) => c.textContent)));
  check(name + ": changes of lines", cells.some(([before, after, change]) => before && after && change), cells.length);
  await go("#v=threads");
  check(name + ": threads", near((await rows())[0].cells.change, flat.total.change), JSON.stringify((await rows())[0]));
  await go("");
  check(name + ": the summary is that of cpprof diff", /before, .* after: /.test(await text(".lead")), await text(".lead"));
  check(name + ": by change", (await page.$$eval("h2", (list) => list.map((e) => e.textContent))).includes("Functions by change of self cost"));
  check(name + ": no error", errors.length === 0 && requests.length === 0, errors.join(" | ") + requests.join());
  await page.close();
}

// The width is that of after; red is more, blue is less.
const hues = {};
for (const name of ["more", "less"]) {
  const { page, errors, text, go } = await openReport(browser, `d-${name}.html`);
  await go("#v=flame&d=light");
  hues[name] = await page.$eval(".canvas canvas", (c) => [...c.getContext("2d").getImageData(c.width - 8, 8, 1, 1).data]);
  check(name + ": the legend names colours", /less than before.*the same.*more than before/.test(await text(".legend")), await text(".legend"));
  const at = await (await page.$(".canvas canvas")).boundingBox();
  await page.mouse.move(at.x + at.width / 2, at.y + 8);
  check(name + ": before and after in the tooltip", /before .*, after .*: [+−]/.test(await text("#tip")), await text("#tip"));
  check(name + ": and below", /before .*, after .*: [+−]/.test(await text("#path")) || (await text("#path")) === "", await text("#path"));
  check(name + ": no error", errors.length === 0, errors.join(" | "));
  await page.close();
}
check("more is red", hues.more[0] > hues.more[2] + 60, hues.more.join());
check("less is blue", hues.less[2] > hues.less[0] + 60, hues.less.join());

// New and gone functions are in all views except the flame graph, which says how much it leaves out.
{
  const told = read("d-other.flat.json"),
    { page, errors, text, go, rows, click } = await openReport(browser, "d-other.html");
  const gone = told.rows.filter((row) => row.state === "gone" && row.total.before > 0 && once(told.rows, row.name)),
    fresh = told.rows.filter((row) => row.state === "new" && once(told.rows, row.name));
  check("there are new and gone functions", gone.length > 0 && fresh.length > 0, `${gone.length} ${fresh.length}`);
  await go("#v=flat");
  let shown = await rows();
  for (const row of [...gone.slice(0, 3), ...fresh.slice(0, 3)]) {
    const found = shown.find((r) => r.name === row.name);
    check("flat has " + row.name, found && near(found.cells.change, row.total.change), JSON.stringify(found));
  }
  await page.evaluate((name) => [...document.querySelectorAll(".row")].find((r) => r.querySelector(".label").textContent === name).click(), gone[0].name);
  check("a gone function can be selected", (await text("#path")).includes(gone[0].name) && (await text("#path")).includes("−"), await text("#path"));
  await click("#actions button", "callers");
  check("a gone function has callers", (await text(".bar b")) === gone[0].name && (await rows()).length > 0, await text(".bar b"));
  await go("#v=tree");
  for (let i = 0; i < 8; i++) await page.$$eval('.row[aria-expanded="false"]', (list) => list.forEach((r) => r.dispatchEvent(new MouseEvent("dblclick"))));
  shown = await rows();
  check("the tree has gone functions", shown.some((r) => amount(r.cells.before) > 0 && amount(r.cells.after) === 0), shown.length);
  await go("#v=callers");
  check("callers, too", (await rows()).some((r) => amount(r.cells.before) > 0 && amount(r.cells.after) === 0));
  await go("#v=flame");
  check("the flame graph says what it leaves out", /of the cost before is gone/.test(await text(".legend")), await text(".legend"));
  await go("#v=tree&j=1");
  check("chains", (await rows()).length > 0);
  check("no error", errors.length === 0, errors.join(" | "));
  await page.close();
}

// Ranks: every table shows what the slowest rank spent above the average, as in the text report.
{
  const told = fs
    .readFileSync("ranks.csv", "utf8")
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(","));
  const column = (name) => told[0].indexOf(name),
    byName = new Map(told.slice(1).map((line) => [line[column("name")], line]));
  const { page, errors, text, go, rows } = await openReport(browser, "ranks.html");
  await go("#v=flat");
  const shown = (await rows()).filter((row) => byName.has(row.name) && told.filter((line) => line[column("name")] === row.name).length === 1);
  check("ranks to compare", shown.length >= 5, shown.length);
  for (const row of shown) {
    const line = byName.get(row.name);
    check("imbalance of " + row.name, Math.abs(parseFloat(row.cells.imbalance) - Number(line[column("imbalance")])) < 0.06, `${row.cells.imbalance} ${line}`);
    check("slowest of " + row.name, row.cells.slowest === line[column("slowest_rank")], `${row.cells.slowest} ${line}`);
  }
  for (const view of ["tree", "callers", "threads", "sandwich"]) {
    await go("#v=" + view);
    check(`imbalance in ${view}`, (await rows()).some((row) => /^[0-9.]+%$/.test(row.cells.imbalance)), JSON.stringify((await rows())[0]));
  }
  await go("");
  check("imbalance in the summary", (await page.$$eval("th", (list) => list.map((e) => e.textContent))).includes("imbalance") && /slowest of \d+ ranks/.test(await text(".page")));
  await go("#v=source");
  check("imbalance in the source", (await page.$$eval("th", (list) => list.map((e) => e.textContent))).includes("imbal."));
  check("no error", errors.length === 0, errors.join(" | "));
  await page.close();
}

// Statistics: one strip per row, one dot per run, from minimum to maximum. No script is needed.
{
  const told = read("stats.json"),
    page = await browser.newPage(),
    { errors } = await watch(page);
  await page.setJavaScriptEnabled(false);
  await page.goto("file://" + fs.realpathSync("stats.html"));
  await page.setJavaScriptEnabled(true);
  const strips = await page.$$eval("tr", (list) =>
    list
      .filter((row) => row.querySelector("svg"))
      .map((row) => ({
        name: row.querySelector(".name").textContent,
        dots: [...row.querySelectorAll("circle")].map((dot) => ({ x: Number(dot.getAttribute("cx")), width: dot.getBoundingClientRect().width, text: dot.textContent })),
      })),
  );
  check("one strip per row, and one for the total", strips.length === told.rows.length + 1, `${strips.length} ${told.rows.length}`);
  for (const strip of strips) {
    const row = told.rows.find((r) => r.name === strip.name);
    check("one dot per run in " + strip.name, strip.dots.length === told.names.length && strip.dots.every((dot) => dot.width > 5), strip.dots.length);
    if (!row || !once(told.rows, strip.name)) continue;
    const low = Math.min(...row.values),
      high = Math.max(...row.values);
    for (const [i, run] of told.names.entries()) {
      const dot = strip.dots.find(({ text }) => text.startsWith(run + ": ")),
        want = 5 + (high > low ? (350 * (row.values[i] - low)) / (high - low) : 0);
      check(`the dot of ${run} in ${strip.name}`, dot && Math.abs(dot.x - want) < 0.11, `${dot && dot.x} ${want}`);
    }
  }
  check("no error in the statistics", errors.length === 0, errors.join(" | "));
}

await browser.close();
process.exit(tally());
