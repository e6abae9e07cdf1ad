// SPDX-License-Identifier: Apache-2.0
// Prints a ProfilesData message as JSON, decoded by protobufjs. usage: node otlp.mjs PROTO FILE
import fs from "node:fs";
import protobuf from "protobufjs";

const [proto, file] = process.argv.slice(2);
const type = protobuf.loadSync(proto).lookupType("opentelemetry.proto.profiles.v1development.ProfilesData");
const message = type.decode(fs.readFileSync(file));
console.log(JSON.stringify(type.toObject(message, { longs: String, bytes: String, defaults: true, arrays: true })));
