// SPDX-License-Identifier: Apache-2.0
// Passes rows to the code of Grafana's flame graph panel and prints the result. usage: node bundle.cjs ROWS.json
const anything = new Proxy(function () {}, { get: (_, key) => key === Symbol.toPrimitive ? () => "" : anything, apply: () => anything, set: () => true });
for (const name of ["history", "location", "localStorage", "sessionStorage", "matchMedia", "getComputedStyle"]) globalThis[name] = anything;
globalThis.addEventListener = globalThis.removeEventListener = () => {};
globalThis.window = globalThis;
globalThis.document = anything; // its modules access the document while they load
if (!globalThis.navigator) globalThis.navigator = { language: "en-US", languages: ["en-US"], userAgent: "node" };
const fs = require("node:fs");
const { FieldType, createDataFrame, createTheme } = require("@grafana/data");
const { FlameGraphDataContainer, checkFields } = require("./flamegraph/dist/esm/FlameGraph/dataTransform.mjs");

const rows = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const number = (name, unit) => ({ name, type: FieldType.number, config: unit ? { unit } : {}, values: rows.map((row) => row[name]) });
const fields = [number("level"), number("value", "ns"), number("self", "ns")];
if ("label" in rows[0]) fields.push({ name: "label", type: FieldType.string, values: rows.map((row) => row.label) });
const frame = createDataFrame({ fields }), wrong = checkFields(frame);
if (wrong) {
  console.log(JSON.stringify({ missing: wrong.missingFields || wrong.wrongTypeFields || [String(wrong)] }));
} else {
  const data = new FlameGraphDataContainer(frame, { collapsing: false }, createTheme());
  console.log(JSON.stringify({ missing: [], unit: data.getUnitTitle(),
    levels: data.getLevels().map((level) => level.map((item) => [data.getLabel(item.itemIndexes[0]), item.value])) }));
}
