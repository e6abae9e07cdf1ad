#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests exports for a polling dashboard: while `attach --watch FILE` runs, FILE is replaced repeatedly, and a reader always
sees a complete export; `attach --stream` sends complete intervals. The target runs until the test ends it, so that the
result does not depend on speed. usage: watch.py; needs CPPROF and BUILD in the environment."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CPPROF, EXAMPLE = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "examples", "stencil")
PATIENCE = 60  # seconds until the test fails
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = (passed + 1, failed) if ok else (passed, failed + 1)
    if not ok:
        print(f"FAILED: {what} {str(detail)[:500]}")


def attach(target, *options, **more):
    return subprocess.Popen([CPPROF, "attach", "-q", "-p", str(target.pid), "-o", "a.data", *options], stderr=subprocess.PIPE, text=True, **more)


def stop(process):
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    if process.returncode == 3:
        print("skipped: cannot attach here: " + errors.strip().replace("\n", " "))
        sys.exit(77)
    check("attach exits with 0", process.returncode == 0, (process.returncode, errors))


def watch(target):
    """Three versions, each complete, each with more samples than the one before."""
    process, seen, torn, end = attach(target, "--watch", "w.json", "--interval", "0.2"), {}, [], time.monotonic() + PATIENCE
    while len(seen) < 3 and time.monotonic() < end and process.poll() is None:
        try:
            with open("w.json", "rb") as file:
                version, text = os.fstat(file.fileno()).st_ino, file.read()
            seen.setdefault((version, len(text)), json.loads(text)["quality"]["samples"])
        except FileNotFoundError:
            pass
        except ValueError as why:
            torn.append(str(why))
            break
        time.sleep(0.005)
    stop(process)
    check("the file was replaced while it ran", len(seen) >= 3, seen)
    check("no reader saw a partial file", not torn, torn)
    samples = list(seen.values())
    check("the number of samples never decreases", samples == sorted(samples), samples)
    check("the last version is valid", subprocess.run([CPPROF, "check", "w.json"], capture_output=True).returncode == 0)
    last, whole = json.load(open("w.json")), json.loads(subprocess.run([CPPROF, "export", "a.data", "-f", "json"], capture_output=True).stdout)
    check("the last version has the samples of the profile", last["quality"]["samples"] == whole["quality"]["samples"], (last["quality"]["samples"], whole["quality"]["samples"]))
    check("the last version is complete", last["run"]["complete"] if "complete" in last["run"] else last["complete"])
    check("no temporary file is left", not [name for name in os.listdir(".") if name.endswith(".new")], os.listdir("."))


def stream(target):
    with open("s.ndjson", "w") as to:
        process = attach(target, "--stream", "0.2", stdout=to)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None and open("s.ndjson").read().count('"t":"end"') < 2:
            time.sleep(0.02)
        stop(process)
    checked = subprocess.run([CPPROF, "check", "s.ndjson"], capture_output=True, text=True)
    check("the stream is valid", checked.returncode == 0, checked.stderr)
    records = [json.loads(line) for line in open("s.ndjson")]
    check("there were intervals while it ran", sum(r["t"] == "end" for r in records) >= 2)
    check("each interval is complete", all(r["complete"] for r in records if r["t"] == "end"), [r for r in records if r["t"] == "end"])
    spans = [r["interval"] for r in records if r["t"] == "header"]
    check("each interval begins where the previous one ends", all(a[1] == b[0] for a, b in zip(spans, spans[1:])), spans)


folder = tempfile.mkdtemp()
os.chdir(folder)
target = subprocess.Popen([EXAMPLE, "100000"], stdout=subprocess.DEVNULL)
try:
    watch(target)
    stream(target)
    check("the target is still running", target.poll() is None)
finally:
    target.kill()
    target.wait()
    shutil.rmtree(folder)
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
