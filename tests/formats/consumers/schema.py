#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JSON export fits the schema that `cpprof schema` prints, by two validators; both, and `cpprof check`, refuse what
does not. What a schema cannot say (references, order, sums) `cpprof check` says."""
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
    """What the schema must refuse."""
    def without(key):
        other = copy.deepcopy(document)
        del other[key]
        return other
    yield "no strings", without("strings")
    yield "no version", without("version")
    yield "another schema", {**document, "schema": "else"}
    yield "strings are no strings", {**document, "strings": [1, 2]}
    yield "nodes are no table", {**document, "nodes": []}
    yield "a parent that is no number", {**document, "nodes": {**document["nodes"], "parent": ["x"]}}


def inconsistent(document):
    """What only following the references shows."""
    def changed(section, column, at, value):
        other = copy.deepcopy(document)
        other[section][column][at] = value
        return other
    yield "a frame that is not there", changed("nodes", "frame", 1, 99999)
    yield "a parent behind its child", changed("nodes", "parent", 1, 2)
    yield "a name that is not there", changed("frames", "name", 1, 99999)
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
