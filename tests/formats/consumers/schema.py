#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two validators accept the JSON export by the schema that `cpprof schema` prints; both, and `cpprof check`, refuse invalid
documents. `cpprof check` also finds what a schema cannot express: bad references, order and sums."""
import copy
import glob
import json
import os
import shutil

from common import CPPROF, HERE, SOURCE, check, done, enter, export, npm, profiles, python_with, run, skip_part

PYTHON = """
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
validator = jsonschema.validators.validator_for(schema)
validator.check_schema(schema)
for file in sys.argv[2:]:
    validator(schema).validate(json.load(open(file)))
"""


def by_python(python, *files):
    return run(python, "-c", PYTHON, "schema.json", *files)


def misshapen(document):
    """Documents that the schema must refuse."""
    def without(key):
        other = copy.deepcopy(document)
        del other[key]
        return other
    yield "no strings", without("strings")
    yield "no version", without("version")
    yield "another schema", {**document, "schema": "else"}
    yield "strings that are not strings", {**document, "strings": [1, 2]}
    yield "nodes that are not a table", {**document, "nodes": []}
    yield "a parent that is not a number", {**document, "nodes": {**document["nodes"], "parent": ["x"]}}


def inconsistent(document):
    """Inconsistent documents that match the schema."""
    def changed(section, column, at, value):
        other = copy.deepcopy(document)
        other[section][column][at] = value
        return other
    yield "a frame that does not exist", changed("nodes", "frame", 1, 99999)
    yield "a parent after its child", changed("nodes", "parent", 1, 2)
    yield "a name that does not exist", changed("frames", "name", 1, 99999)
    yield "a value more", {**document, "node_values": {**document["node_values"], "exclusive": {
        **document["node_values"]["exclusive"], "0": document["node_values"]["exclusive"]["0"] + [1]}}}
    other = copy.deepcopy(document)
    other["node_values"]["exclusive"]["0"][1] += 1
    yield "values that do not add up", other


def golden_files():
    folder = os.path.join(SOURCE, "tests", "golden", "schema")
    return sorted(glob.glob(os.path.join(folder, "[0-9]*", "*.json")))


enter("schema")
files = [export(profile, profile + ".json") for profile in profiles()] + [export("sample", "plain.json", "--no-totals")]
open("schema.json", "w").write(run(CPPROF, "schema").stdout)
document = json.load(open("sample.json"))
wrong = []
for what, other in list(misshapen(document)) + [("", None)]:
    if other is not None:
        wrong.append((what, f"wrong{len(wrong)}.json"))
        json.dump(other, open(wrong[-1][1], "w"))
for what, other in inconsistent(document):
    json.dump(other, open("inconsistent.json", "w"))
    check("cpprof check refuses: " + what, run(CPPROF, "check", "inconsistent.json").returncode != 0)
for what, file in wrong:
    check("cpprof check refuses: " + what, run(CPPROF, "check", file).returncode != 0)
files += golden_files()
python = python_with("jsonschema")
if python:
    fits = by_python(python, *files)
    check("jsonschema", fits.returncode == 0, fits.stderr[-500:])
    for what, file in wrong:
        check("jsonschema refuses: " + what, by_python(python, file).returncode != 0)
else:
    skip_part("python3-jsonschema is not installed")
shutil.copy(os.path.join(HERE, "validate.mjs"), "validate.mjs")
npm("ajv@8.20.0")
fits = run("node", "validate.mjs", "schema.json", *files)
check("ajv", fits.returncode == 0, fits.stdout + fits.stderr)
for what, file in wrong:
    check("ajv refuses: " + what, run("node", "validate.mjs", "schema.json", file).returncode == 1)
done()
