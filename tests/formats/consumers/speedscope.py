#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope, in a browser, opens our speedscope export and our other formats that it supports, and reports damaged files.
The exports match its schema; references and sums, which the schema does not cover, are checked here."""
import json
import os
import shutil

from common import HERE, check, chromium, document, done, enter, export, npm, profiles, run, totals


def check_file(name):
    file = json.load(open(name + ".speedscope.json"))
    sums, frames = totals(name), len(file["shared"]["frames"])
    for profile, total in zip(file["profiles"], sums):
        check(f"{name}: sum of {profile['name']}", profile["endValue"] == total, (profile["endValue"], total))
    for profile in file["profiles"]:
        if profile["type"] == "sampled":
            check("references", all(0 <= frame < frames for stack in profile["samples"] for frame in stack))
            check("one weight per stack", len(profile["weights"]) == len(profile["samples"]))
            continue
        stack, last = [], 0
        for event in profile["events"]:
            check("events in order", event["at"] >= last) if event["at"] < last else None
            last = event["at"]
            stack.append(event["frame"]) if event["type"] == "O" else check("nesting", stack.pop() == event["frame"])
        check("all closed", not stack)


def damaged(name, change):
    file = json.load(open("sample.speedscope.json"))
    change(file)
    json.dump(file, open(name, "w"))
    return name


def break_frame(file):
    next(p for p in file["profiles"] if p["type"] == "sampled")["samples"][0] = [99999]


def break_weights(file):
    next(p for p in file["profiles"] if p["type"] == "sampled")["weights"].pop()


enter("speedscope")
browser = chromium()
npm("speedscope@1.25.0", "puppeteer-core@24.43.1", "ajv@8.20.0")
good = []
for profile in profiles():
    good += [export(profile, profile + ".speedscope.json"), export(profile, profile + ".folded"), export(profile, "callgrind.out." + profile, "-f", "callgrind")]
    check_file(profile)
bad = [damaged("frame.speedscope.json", break_frame), damaged("weights.speedscope.json", break_weights)]
for script in ("speedscope.mjs", "validate.mjs"):
    shutil.copy(os.path.join(HERE, script), script)
schema = "node_modules/speedscope/dist/release/file-format-schema.json"
schema = schema if os.path.exists(schema) else next(
    (os.path.join(folder, f) for folder, _, files in os.walk("node_modules/speedscope") for f in files if f.startswith("file-format-schema")), "")
fits = run("node", "validate.mjs", schema, *[file for file in good if file.endswith(".speedscope.json")])
check("its schema", fits.returncode == 0, fits.stdout + fits.stderr)
damaged("none.speedscope.json", lambda file: file.pop("shared"))
check("its schema refuses a damaged file", run("node", "validate.mjs", schema, "none.speedscope.json").returncode == 1)
opened = run("node", "speedscope.mjs", browser, *good, *bad)
results = [json.loads(line) for line in opened.stdout.splitlines() if line.startswith("{")]
check("every file was opened", len(results) == len(good) + len(bad), opened.stdout + opened.stderr)
for result in results:
    check(("refused: " if result["file"] in bad else "opened: ") + result["file"], result["ok"] == (result["file"] not in bad), result)
names = {frame["name"] for frame in json.load(open("hostile.speedscope.json"))["shared"]["frames"]}
check("hostile names", {"__proto__", "constructor", "semi;colon;frames 12", "</script><img src=x onerror=alert(1)><!--"} <= names)
done()
