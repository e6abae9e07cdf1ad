// SPDX-License-Identifier: Apache-2.0
// Validates JSON files against a JSON Schema. usage: node validate.mjs SCHEMA FILE...; exit 1 if one does not match.
import fs from "node:fs";
import Ajv from "ajv";
import Ajv2020 from "ajv/dist/2020.js";

const [schemaFile, ...files] = process.argv.slice(2);
const schema = JSON.parse(fs.readFileSync(schemaFile, "utf8")), is2020 = /2020-12/.test(schema.$schema || "");
delete schema.$schema;
const validate = new (is2020 ? Ajv2020.default || Ajv2020 : Ajv.default || Ajv)({ strict: false, allErrors: false }).compile(schema);
let failed = 0;
for (const file of files) {
  if (validate(JSON.parse(fs.readFileSync(file, "utf8")))) continue;
  failed++;
  console.log(file + ": " + JSON.stringify(validate.errors.slice(0, 3)));
}
process.exit(failed ? 1 : 0);
