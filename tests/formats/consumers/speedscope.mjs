// SPDX-License-Identifier: Apache-2.0
// Opens files in a headless browser with the speedscope of node_modules, served from here; prints a line of JSON per file.
// usage: node speedscope.mjs CHROMIUM FILE...
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import puppeteer from "puppeteer-core";

const [chromium, ...files] = process.argv.slice(2);
const root = "node_modules/speedscope/dist/release";
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".wasm": "application/wasm" };
const server = http.createServer((request, response) => {
  const at = decodeURIComponent(new URL(request.url, "http://x").pathname);
  const file = at.startsWith("/profile/") ? path.basename(at) : path.join(root, at);
  fs.readFile(file, (error, data) => { response.writeHead(error ? 404 : 200, { "content-type": types[path.extname(file)] || "application/octet-stream" }); response.end(data); });
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
  "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"] });
for (const file of files) {
  const page = await browser.newPage(), log = [];
  page.on("console", (message) => log.push(message.text()));
  page.on("pageerror", (error) => log.push("error: " + error.message));
  page.on("dialog", (dialog) => { log.push("dialog: " + dialog.message()); dialog.dismiss(); });
  await page.goto(`${base}/index.html#profileURL=${encodeURIComponent(`${base}/profile/${file}`)}`);
  let settled = true;
  try { await page.waitForFunction(() => /Time Order|Something went wrong|Unrecognized/i.test(document.body.innerText), { timeout: 60000 }); } catch { settled = false; }
  const text = await page.evaluate(() => document.body.innerText);
  const ok = settled && /Time Order/.test(text) && log.some((line) => /^Importing/.test(line)) && !log.some((line) => /^(error|dialog): |TypeError/.test(line));
  console.log(JSON.stringify({ file, ok, log: log.filter((line) => /mport|rror|dialog/.test(line)).slice(0, 4), text: text.slice(0, 100) }));
  await page.close();
}
await browser.close();
server.close();
