#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports one recording in every format: the sums of every metric agree, the JSON has the members that its schema
requires, and installed readers of the formats accept them. usage: agree.py; needs CPPROF and BUILD in the environment."""
import base64
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

CPPROF = os.environ["CPPROF"]
EXAMPLE = os.path.join(os.environ["BUILD"], "examples", "stencil")
passed = failed = skipped = 0


def check(what, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what} {detail}")


def skip(why):
    global skipped
    skipped += 1
    print(f"skipped: {why}")


def run(*args):
    return subprocess.run([CPPROF, *args], capture_output=True)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at:at + 8], "little"), at + 8
        else:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def packed(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def read_pprof(path):
    """Sums per metric; also checks that every reference is valid."""
    strings, sums, locations, functions, used, lines = [], None, set(), set(), set(), []
    for field, value in fields(gzip.open(path).read()):
        if field == 6:
            strings.append(value.decode())
        elif field == 2:
            for inner, body in fields(value):
                if inner == 1:
                    used.update(packed(body))
                elif inner == 2:
                    values = packed(body)
                    sums = [a + b for a, b in zip(sums or [0] * len(values), values)]
        elif field == 4:
            parts = list(fields(value))
            locations.add(dict(p for p in parts if p[0] == 1)[1])
            lines += [dict(fields(body)) for inner, body in parts if inner == 4]
        elif field == 5:
            functions.add(dict(fields(value))[1])
    check("pprof: string 0 is empty", strings[0] == "")
    check("pprof: every location exists", used <= locations)
    check("pprof: every function exists", {line[1] for line in lines} <= functions)
    return sums


def read_otlp(path):
    """Sums per metric: one profile each."""
    sums = []
    (resource,) = [value for field, value in fields(open(path, "rb").read()) if field == 1]
    (scope,) = [value for field, value in fields(resource) if field == 2]
    for profile in (value for field, value in fields(scope) if field == 2):
        samples = [dict(fields(value)) for field, value in fields(profile) if field == 2]
        check("otlp: every sample has a stack", all(1 in sample for sample in samples))
        sums.append(sum(sum(packed(sample[4])) for sample in samples))
    return sums


def read_html(path):
    """Sums per metric of the page's data, unpacked as its script does."""
    page = open(path, encoding="utf-8").read()
    blob = lambda name: zlib.decompress(base64.b64decode(re.search(f'id="block-{name}">([^<]*)<', page)[1]), -15)  # noqa: E731
    meta, columns = json.loads(blob("meta")), {}
    for block, names in meta["columns"].items():
        bytes_, at = blob(block), 0
        for name in names:
            n, planes = struct.unpack_from("<II", bytes_, at)
            columns[name] = [sum(bytes_[at + 8 + k * n + i] << 8 * k for k in range(planes)) for i in range(n)]
            at += 8 + planes * n
        check(f"html: block {block} was read to its end", at == len(bytes_))
    check("html: parents precede children", all(0 < back <= i for i, back in enumerate(columns["node.back"]) if i))
    check("html: no external references", not re.search(r'(src|href)="?(https?:)?//', page))
    sums = [0] * len(meta["metrics"])
    for metric, low, high in zip(columns["value.metric"], columns["value.low"], columns["value.high"]):
        sums[metric] += low + (high << 32)
    return sums


def read_callgrind(path):
    """Sums of the costs of all lines, and each function's inclusive cost by name, from calls to it."""
    names, sums, arriving, callee, events = {}, [], {}, None, 0

    def name(space, text):
        number, _, rest = text.partition(" ")
        return names.setdefault((space, number), rest) if rest else names[space, number]

    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        key, _, text = line.partition("=")
        if line.startswith("events:"):
            events = len(line.split()) - 1
            sums = [0] * events
        elif key in ("ob", "cob"):
            name("ob", text)
        elif key in ("fl", "fi", "fe", "cfi"):
            name("fl", text)
        elif key == "fn":
            name("fn", text)
        elif key == "cfn":
            callee = name("fn", text)
        elif key == "calls":
            check("callgrind: at least one call", int(text.split()[0]) >= 1, line)
        elif line[:1].isdigit():
            values = [int(v) for v in line.split()[1:]]
            check("callgrind: columns", len(values) == events, line)
            if callee is None:
                sums = [a + b for a, b in zip(sums, values)]
            else:
                arriving[callee] = arriving.get(callee, 0) + values[0]
            callee = None
    return sums, arriving


def check_callgrind(metrics):
    sums, arriving = read_callgrind("p.callgrind")
    check("callgrind sums", [sums[1], sums[0]] + sums[2:] == metrics)
    top = {}
    for row in json.loads(run("export", "p.data", "-f", "top", "--no-loops").stdout):
        if row["kind"] in ("function", "inline"):
            top.setdefault(row["function"], []).append(row["total"])
    for function, totals in top.items():
        if len(totals) == 1:
            check("callgrind: total of " + function, arriving.get(function) == totals[0], (arriving.get(function), totals))
    if not shutil.which("callgrind_annotate"):
        return skip("callgrind_annotate is not installed")
    shown = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--tree=both", "p.callgrind"], capture_output=True, text=True)
    check("callgrind_annotate", shown.returncode == 0 and not shown.stderr, shown.stderr)
    check("callgrind_annotate: totals", f"{metrics[1]:,} (100.0%)" in shown.stdout)
    check("callgrind_annotate: the tree", re.search(r"<.*:main .*\n.*\*.*:solve ", shown.stdout))


def check_openmetrics(metrics):
    lines = open("p.prom").read().split("\n")
    check("openmetrics ends", lines[-2:] == ["# EOF", ""])
    series = [line.rsplit(" ", 1) for line in lines if line and line[0] != "#"]
    check("openmetrics: no duplicate series", len({name for name, _ in series}) == len(series))
    nanoseconds = sum(round(float(value) * 1e9) for name, value in series if name.startswith("cpprof_self_seconds{"))
    check("openmetrics sums", nanoseconds == metrics[1], nanoseconds)
    check("openmetrics: few series", len(series) < 60, len(series))
    if not shutil.which("promtool"):
        return skip("promtool is not installed")
    with open("p.prom") as text:
        done = subprocess.run(["promtool", "check", "metrics"], stdin=text, capture_output=True, text=True)
    check("promtool", done.returncode == 0 and not done.stderr, done.stderr)


def check_firefox(metrics):
    """The viewer silently drops invalid references, so every reference is checked here."""
    profile = json.load(open("p.firefox.json"))
    shared = profile["shared"]
    size = {name: table["length"] for name, table in shared.items() if name != "stringArray"}
    size.update(strings=len(shared["stringArray"]), libs=len(profile["libs"]), categories=len(profile["meta"]["categories"]))
    for name, table in shared.items():
        if name != "stringArray":
            check("firefox: columns of " + name, all(len(column) == table["length"] for key, column in table.items() if key != "length"))
    for table, column, target in (("stackTable", "frame", "frameTable"), ("frameTable", "func", "funcTable"),
                                  ("frameTable", "nativeSymbol", "nativeSymbols"), ("frameTable", "category", "categories"),
                                  ("funcTable", "name", "strings"), ("funcTable", "source", "sources"),
                                  ("resourceTable", "lib", "libs"), ("resourceTable", "name", "strings"),
                                  ("nativeSymbols", "libIndex", "libs"), ("nativeSymbols", "name", "strings"),
                                  ("sources", "filename", "strings")):
        check(f"firefox: {table}.{column}", all(i is None or 0 <= i < size[target] for i in shared[table][column]))
    check("firefox: resources", all(-1 <= i < size["resourceTable"] for i in shared["funcTable"]["resource"]))
    check("firefox: prefixes precede their stacks", all(p is None or p < i for i, p in enumerate(shared["stackTable"]["prefix"])))
    frames, stacks = shared["frameTable"], shared["stackTable"]
    for frame, prefix in zip(stacks["frame"], stacks["prefix"]):
        if frames["inlineDepth"][frame]:
            outer = stacks["frame"][prefix]
            check("firefox: inlined at the same address, one deeper", frames["inlineDepth"][outer] + 1 == frames["inlineDepth"][frame] and
                  all(frames[key][outer] == frames[key][frame] for key in ("address", "nativeSymbol")))
    check("firefox: there are inlined frames", any(frames["inlineDepth"]))
    total = 0
    for thread in profile["threads"]:
        samples = thread["samples"]
        check("firefox: samples", all(len(samples[k]) == samples["length"] for k in ("stack", "time", "weight")))
        check("firefox: stacks of samples", all(0 <= i < size["stackTable"] for i in samples["stack"]))
        check("firefox: time passes", samples["time"] == sorted(samples["time"]))
        total += sum(round(weight * 1e6) for weight in samples["weight"])
    check("firefox sums", total == metrics[1], total)


def check_llvm(metrics):
    functions, lines = {}, 0
    for line in open("p.prof"):
        parts = line.split()
        if line[0] != " ":
            name, total, _ = line.strip().split(":")
            functions[name] = int(total)
        elif ":" not in parts[1]:
            lines += int(parts[1])
    check("llvm-sample: totals are the sums of the lines", sum(functions.values()) == lines)
    check("llvm-sample: not more than the total", 0 < lines <= metrics[1], (lines, metrics))
    profdata = shutil.which("llvm-profdata") or shutil.which("llvm-profdata-14")
    if not profdata:
        return skip("llvm-profdata is not installed")
    merged = subprocess.run([profdata, "merge", "--sample", "--text", "p.prof", "-o", "-"], capture_output=True, text=True)
    again = {line.split(":")[0]: int(line.split(":")[1]) for line in merged.stdout.splitlines() if line[:1] not in ("", " ")}
    check("llvm-profdata reads the same values", merged.returncode == 0 and again == functions, merged.stderr)


def check_svg():
    root = xml.etree.ElementTree.parse("p.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    rows = {}
    for frame in root.iter(space + "g"):
        box = frame.find(space + "rect")
        rows.setdefault(float(box.get("y")), []).append((float(box.get("x")), float(box.get("width"))))
    widths = [sum(width for _, width in rows[y]) for y in sorted(rows)]
    check("svg: the root is as wide as the image", abs(widths[0] - 1180) < 1 and len(rows) > 5, widths)
    check("svg: no row is wider than the one above", all(a + 1 >= b for a, b in zip(widths, widths[1:])), widths)
    for row in rows.values():
        row.sort()
        check("svg: frames do not overlap", all(a[0] + a[1] <= b[0] + 0.02 for a, b in zip(row, row[1:])))


def main():
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    recorded = run("record", "-q", "-F", "499", "-o", "p.data", "--", EXAMPLE, "1")
    if recorded.returncode in (3, 5):
        print("skipped: cannot record here: " + recorded.stderr.decode().strip().replace("\n", " "))
        sys.exit(77)
    check("record", recorded.returncode == 0, recorded.stderr)
    for name in ("p.json", "p.ndjson", "p.rows.json", "p.top.json", "p.pb.gz", "p.otlp", "p.speedscope.json", "p.folded", "p.html", "z.json.gz",
                 "p.callgrind", "p.prom", "p.svg", "p.firefox.json",
                 "p.prof"):
        done = run("export", "p.data", "-o", name)
        check("export " + name, done.returncode == 0 and os.path.getsize(name) > 0, done.stderr)
    check("check accepts our exports", run("check", "p.data", "p.json", "p.ndjson", "z.json.gz").returncode == 0)

    document = json.load(open("p.json"))
    metrics = [sum(document["node_values"]["exclusive"][str(m["id"])]) for m in document["metrics"]]
    check("json: samples equal the quality's count", metrics[0] == document["quality"]["samples"])
    check("json: inclusive root", [document["node_values"]["inclusive"][str(i)][0] for i in range(len(metrics))] == metrics)
    threads = [0] * len(metrics)
    for metric, value in zip(document["thread_values"]["metric"], document["thread_values"]["value"]):
        threads[metric] += value
    check("json: threads add up", threads == metrics)
    schema = json.loads(run("schema").stdout)
    check("json: has the members that the schema requires", set(schema["required"]) <= set(document))

    sizes = []
    for detail in ("time", "threads", "lines", "cct", "summary"):
        for name in ("d.json", "d.ndjson"):
            run("export", "p.data", "--detail", detail, "-o", name)
            check(f"{name} of {detail} is whole", run("check", name).returncode == 0)
        less = json.load(open("d.json"))
        sizes.append(os.path.getsize("d.json"))
        check(f"{detail}: has the members that the schema requires", set(schema["required"]) <= set(less))
        check(f"{detail}: the same sums", [sum(less["node_values"]["exclusive"][str(i)]) for i in range(len(metrics))] == metrics)
        check(f"{detail}: the same files without debug information", less["quality"]["modules_without_debug"] == document["quality"]["modules_without_debug"])
    check("each level of detail is smaller than the one before", sizes == sorted(sizes, reverse=True), sizes)

    stream = [0] * len(metrics)
    for line in open("p.ndjson"):
        record = json.loads(line)
        if record["t"] == "node_values":
            for metric, values in record["exclusive"].items():
                stream[int(metric)] += sum(values)
    check("ndjson sums", stream == metrics)
    check("ndjson ends", json.loads(line)["t"] == "end")
    rows = json.load(open("p.rows.json"))
    check("rows: one root, which comes first", rows[0]["level"] == 0 and all(r["level"] > 0 for r in rows[1:]))
    check("rows sums", rows[0]["value"] == metrics[1] == sum(r["self"] for r in rows))
    check("pprof sums", read_pprof("p.pb.gz") == metrics)
    check("otlp sums", read_otlp("p.otlp") == metrics)
    check("html sums", read_html("p.html") == metrics)
    scope = json.load(open("p.speedscope.json"))
    for profile, total in zip(scope["profiles"], metrics):
        check("speedscope sums: " + profile["name"], profile["endValue"] == total and sum(profile.get("weights", [total])) == total)
    frames = len(scope["shared"]["frames"])
    check("speedscope indices", all(f < frames for p in scope["profiles"] for s in p.get("samples", []) for f in s))
    check("folded sums", sum(int(line.rsplit(" ", 1)[1]) for line in open("p.folded", errors="replace")) == metrics[1])
    check_callgrind(metrics)
    check_openmetrics(metrics)
    check_svg()
    check_firefox(metrics)
    check_llvm(metrics)
    kinds = set(document["frames"]["kind"])
    check("loops and inlined calls are in the tree", {"loop", "inline", "function"} <= kinds, kinds)

    if shutil.which("jq"):
        query = ".node_values.exclusive[\"0\"] | add"
        check("jq", subprocess.run(["jq", query, "p.json"], capture_output=True, text=True).stdout.strip() == str(metrics[0]))
    else:
        skip("jq is not installed")
    shutil.rmtree(folder)
    print(f"tally: {passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)


main()
