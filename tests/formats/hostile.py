#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a profile with hostile names in every format: separators, quotes, line ends, markup, broken UTF-8, control
characters, 64 KB templates, __proto__. A format keeps the names that it can hold, and replaces the others safely.
usage: hostile.py; needs CPPROF and BUILD in the environment."""
import base64
import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

CPPROF = os.environ["CPPROF"]
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = (passed + 1, failed) if ok else (passed, failed + 1)
    if not ok:
        print(f"FAILED: {what} {str(detail)[:400]}")


def run(*args):
    done = subprocess.run([CPPROF, *args], capture_output=True)
    check(" ".join(args), done.returncode == 0, done.stderr)
    return done.stdout


def export(name, *options):
    return run("export", "h.data", "-f", name, *options)


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = place.name
os.chdir(folder)
subprocess.run([os.path.join(os.environ["BUILD"], "tests", "make_profile"), "hostile", "h.data"], check=True)
document = json.loads(export("json").decode("utf-8", "strict"))
functions = {document["strings"][n] for n, kind in zip(document["frames"]["name"], document["frames"]["kind"]) if kind == "function"}
total = sum(document["node_values"]["exclusive"]["1"])
check("json: has all names", {"semi;colon;frames 12", "new\nline\rreturn\ttab", "</script><img src=x onerror=alert(1)><!--", "__proto__", "constructor", " ", "größe<日本語>",
                              "\x1b[31mred\x1b[0m \x01\x7f", "quote\"s 'single' `tick` \\back\\slash\\"} <= functions, functions)
check("json: invalid UTF-8 is replaced", "\ufffd\ufffd broken \ufffd( \ufffd\ufffd\ufffd utf-8" in functions, functions)
check("json: a long name is not cut", max(map(len, functions)) == 64 << 10)
check("check accepts the profile", subprocess.run([CPPROF, "check", "h.data"], capture_output=True).returncode == 0)

lines = export("ndjson", "--wide").decode("utf-8", "strict").splitlines()
check("ndjson: one record per line", all(json.loads(line)["t"] for line in lines))
check("ndjson: has all names", functions <= {record["name"] for record in map(json.loads, lines) if record["t"] == "node"})
rows = json.loads(export("rows"))
check("rows: has all names", functions <= {row["label"] for row in rows} and rows[0]["value"] == total)
check("top: has all names", functions <= {row["function"] for row in json.loads(export("top"))})
scope = json.loads(export("speedscope"))
check("speedscope: has all names", functions <= {frame["name"] for frame in scope["shared"]["frames"]})
firefox = json.loads(export("firefox"))
check("firefox: has all names", functions <= set(firefox["shared"]["stringArray"]))

raw = gzip.decompress(export("pprof"))
for name in functions:
    check("pprof: " + ascii(name[:40]), name.encode() in raw)

folded = export("folded").decode("utf-8", "strict")
check("folded: every line is a path and a number", all(re.fullmatch(r"[^\x00-\x1f]+ \d+", line) for line in folded.split("\n")[:-1]), folded[:200])
check("folded: the sum", sum(int(line.rsplit(" ", 1)[1]) for line in folded.split("\n")[:-1]) == total)
depth = {}
for row in rows:
    depth[row["level"]] = depth.get(row["level"], 0) + 1
check("folded: separators in names are replaced", max(line.count(";") for line in folded.split("\n")) <= 2 * len(functions), [line.count(";") for line in folded.split("\n")])

prom = export("openmetrics", "--limit", "100").decode("utf-8", "strict")
series = re.compile(r'[a-z_]+(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)*\})? [0-9.e+-]+')
check("openmetrics: every line is a series", all(series.fullmatch(line) for line in prom.split("\n")[:-1] if not line.startswith("#")), [line for line in prom.split("\n")[:-1] if not line.startswith("#") and not series.fullmatch(line)][:1])
check("openmetrics: names are bounded", max(map(len, prom.split("\n"))) < 1000)

callgrind = export("callgrind").decode("utf-8", "replace")
known = re.compile(r"(# .*|(version|creator|pid|cmd|part|desc|positions|event|events|summary|totals):.*|(ob|fl|fi|fe|fn|cob|cfi|cfl|cfn)=\(\d+\)( .*)?|calls=\d+ \d+|\d+( \d+)+|)")
check("callgrind: every line has a known form", all(known.fullmatch(line) for line in callgrind.split("\n")), [line for line in callgrind.split("\n") if not known.fullmatch(line)][:2])
llvm = export("llvm-sample").decode("utf-8", "replace")
check("llvm-sample: every line has a known form", all(re.fullmatch(r"[^ :]+:\d+:\d+| +\d+(\.\d+)?: (\d+( [^ :]+:\d+)*|[^ :]+:\d+)", line) for line in llvm.split("\n")[:-1]), llvm[:300])

picture = xml.etree.ElementTree.fromstring(export("svg").decode("utf-8", "strict"))
check("svg: no elements from names", {e.tag.rsplit("}")[-1] for e in picture.iter()} <= {"svg", "g", "title", "rect", "text", "style", "defs", "pattern", "path", "desc", "line"}, {e.tag for e in picture.iter()})

page = export("html").decode("utf-8", "strict")
check("html: names are escaped", "onerror=alert(1)>" not in page and page.count("</script>") == page.count("<script"), page.count("</script>"))
blob = zlib.decompress(base64.b64decode(re.search('id="block-meta">([^<]*)<', page)[1]), -15)
check("html: has all names", functions <= set(json.loads(blob)["strings"]))

text = run("report", "h.data", "--view", "flat", "--format", "csv", "--percent-limit", "0").decode("utf-8", "strict")
table = list(csv.reader(io.StringIO(text, newline="")))
check("csv: no control characters", not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]", text), text[:200])
check("csv: no spreadsheet formulas", not [cell for row in table for cell in row if cell[:1] in tuple("=+-@")])
check("csv: all rows have the same number of columns", len({len(row) for row in table}) == 1)
check("csv: has the names", {"semi;colon;frames 12", "quote\"s 'single' `tick` \\back\\slash\\", "'=cmd|' /C calc'!A0"} <= {row[4] for row in table})
report = json.loads(run("report", "h.data", "--view", "tree", "--format", "json").decode("utf-8", "strict"))
check("report json", len(report["rows"]) > 10)
for view in ("summary", "tree", "callers", "flat", "hot", "quality"):
    text = run("report", "h.data", "--view", view).decode("utf-8", "strict")
    check(f"{view}: no control characters", not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text), ascii(re.search(r".{0,20}[\x00-\x09\x0b-\x1f\x7f\u202e]", text)))
    text = run("report", "h.data", "--view", view, "--format", "md").decode("utf-8", "strict")
    check(f"{view}: suitable for a GitHub comment", len(text.encode()) < 60000 and "<script" not in text and "<img" not in re.sub(r"`[^`\n]*`|(?s:~~~~.*?~~~~)|\\<", "", text), len(text))
missed = 'mi;"\n\x1b"ss'
for args in (["report", "h.data", "--metric", "none"], ["report", "h.data", "--columns", "none"], ["report", "h.data", "--derive", "x=none/1"],
             ["report", "h.data", "--metric", missed], ["stats", "h.data", "h.data", "--metric", missed], ["stats", "--by", "thread", "--metric", missed, "h.data"],
             ["stats", "--format", "md", "--by", "thread", "--metric", missed, "h.data"], ["diff", "h.data", "h.data", "--metric", missed],
             ["check", "-v", "h.data"], ["annotate", "h.data", "constructor"], ["export", "h.data", "-f", "folded", "--metric", "none"], ["resolve", "-v", "h.data"]):
    done = subprocess.run([CPPROF, *args], capture_output=True)
    said = (done.stdout + done.stderr).decode("utf-8", "strict")
    check(f"{args}: no control characters", said and not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", said), ascii(said[:400]))
    check(f"{args}: no line break from a name", not re.search(r"(?m)^(event: x|..ss)", said), said[:400])
subprocess.run(["rm", "-rf", folder])
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
