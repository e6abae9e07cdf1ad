// SPDX-License-Identifier: Apache-2.0
// Runs the query on standard input and prints its rows as JSON.
import fs from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";

const instance = await DuckDBInstance.create(":memory:"), connection = await instance.connect();
const reader = await connection.runAndReadAll(fs.readFileSync(0, "utf8"));
console.log(JSON.stringify(reader.getRowObjectsJson()));
