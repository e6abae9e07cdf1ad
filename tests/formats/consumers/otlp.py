#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""protoc and protobufjs read our OpenTelemetry export by the message types of one revision; its tables follow the
specification; its sums and stacks are those of the JSON export."""
import json
import os
import shutil

from common import CPPROF, HERE, SOURCE, check, debian, document, done, enter, export, npm, profiles, run, totals

REVISION = "v1development of opentelemetry-proto 1.11.0"
PROTO = os.path.join(SOURCE, "report", "export", "otlp.proto")
TYPE = "opentelemetry.proto.profiles.v1development.ProfilesData"


def protoc():
    if shutil.which("protoc"):
        return ["protoc"], {}
    root = debian("protobuf-compiler", "libprotoc32", "libprotobuf32")
    libraries = ":".join(folder for folder, _, files in os.walk(root) if any(f.startswith("libproto") for f in files))
    return [root + "/usr/bin/protoc"], {"env": {**os.environ, "LD_LIBRARY_PATH": libraries}}


def decoded(file):
    """The message as protoc prints it; unknown fields would appear as bare numbers."""
    command, more = protoc()
    with open(file, "rb") as data:
        text = run(*command, "--proto_path", os.path.dirname(PROTO), "--decode", TYPE, os.path.basename(PROTO), stdin=data, **more)
    check(f"{file}: protoc reads it", text.returncode == 0, text.stderr)
    strange = [line for line in text.stdout.splitlines() if line.strip()[:1].isdigit()]
    check(f"{file}: no field unknown to the revision", not strange, strange[:3])
    return text.stdout


def is_empty(row):
    return not row if isinstance(row, str) else all(v in (0, "0", "", None) or v == [] or (isinstance(v, dict) and is_empty(v)) for v in row.values())


def rows_once(name, table):
    texts = [json.dumps(row, sort_keys=True) for row in table]
    check(f"{name}: no duplicate rows", len(set(texts)) == len(texts))


def check_tables(name, d):
    for table in ("mappingTable", "locationTable", "functionTable", "linkTable", "stringTable", "attributeTable", "stackTable"):
        check(f"{name}: {table} begins with an empty entry", d[table] and is_empty(d[table][0]), d[table][:1])
    for table in ("functionTable", "stringTable", "attributeTable", "stackTable", "locationTable"):
        rows_once(f"{name}: {table}", d[table])
    n = {table: len(rows) for table, rows in d.items()}
    within = lambda ids, table: all(0 <= i < n[table] for i in ids)  # noqa: E731
    check(f"{name}: locations of stacks", all(within(s["locationIndices"], "locationTable") for s in d["stackTable"]))
    check(f"{name}: functions of lines", all(0 < line["functionIndex"] < n["functionTable"] for l in d["locationTable"] for line in l["lines"]))
    check(f"{name}: mappings of locations", within((l["mappingIndex"] for l in d["locationTable"]), "mappingTable"))
    check(f"{name}: attributes", within((i for t in ("locationTable", "mappingTable") for r in d[t] for i in r["attributeIndices"]), "attributeTable"))
    check(f"{name}: strings", within((i for r in d["functionTable"] for i in (r["nameStrindex"], r["systemNameStrindex"], r["filenameStrindex"])), "stringTable"))


def attribute(d, index):
    row = d["attributeTable"][index]
    return d["stringTable"][row["keyStrindex"]], next(v for v in (row["value"] or {}).values())


def plain(name):
    """Undoes what other formats express in the name and JSON by a node's kind."""
    return "<special>" if name in ("<incomplete>", "<unknown>", "<other>") else name


def stacks_of_otlp(d, profile):
    """Sums of values by path, names from the root to the leaf."""
    found = {}
    for sample in profile["samples"]:
        names = []
        for location in reversed(d["stackTable"][sample["stackIndex"]]["locationIndices"]):
            names += [plain(d["stringTable"][d["functionTable"][line["functionIndex"]]["nameStrindex"]]) for line in reversed(d["locationTable"][location]["lines"])]
        key = tuple(names)
        found[key] = found.get(key, 0) + sum(int(v) for v in sample["values"])
    return found


def stacks_of_json(ours, metric):
    """The same from the JSON export, without loops and lines."""
    nodes, frames, found, paths = ours["nodes"], ours["frames"], {}, []
    for i, (parent, frame) in enumerate(zip(nodes["parent"], nodes["frame"])):
        path = paths[parent] if parent is not None and parent >= 0 and i else ()
        kind = frames["kind"][frame]
        name = ours["strings"][frames["name"][frame]] or f"<{kind}>"
        paths.append(path if kind in ("loop", "line", "root") else path + (name,))
        value = ours["node_values"]["exclusive"][str(metric)][i]
        if value:
            found[paths[i]] = found.get(paths[i], 0) + value
    return found


def check_profile(name):
    file, ours, sums = export(name, name + ".otlp"), document(name), totals(name)
    text = decoded(file)
    check(f"{name}: names its revision", f'string_value: "{REVISION}"' in text)
    read = run("node", "otlp.mjs", PROTO, file)
    check(f"{name}: protobufjs reads it", read.returncode == 0, read.stderr)
    data = json.loads(read.stdout)
    d, scope = data["dictionary"], data["resourceProfiles"][0]["scopeProfiles"][0]
    check_tables(name, d)
    check(f"{name}: one profile per metric", len(scope["profiles"]) == len(sums))
    check(f"{name}: ids differ", len({p["profileId"] for p in scope["profiles"]}) == len(sums))
    for index, profile in enumerate(scope["profiles"]):
        stacks = stacks_of_otlp(d, profile)
        check(f"{name}: sum of metric {index}", sum(stacks.values()) == sums[index], (sum(stacks.values()), sums[index]))
        if name != "hostile":
            theirs = stacks_of_json(ours, index)
            check(f"{name}: stacks of metric {index}", stacks == theirs, sorted(set(stacks.items()) ^ set(theirs.items()))[:4])
        for sample in profile["samples"]:
            keys = dict(attribute(d, i) for i in sample["attributeIndices"])
            if not {"thread.id", "thread.name", "process.pid"} <= set(keys):
                check(f"{name}: the attributes of the sample's thread", False, keys)
                break
    return d


enter("otlp")
npm("protobufjs@7.5.4")
shutil.copy(os.path.join(HERE, "otlp.mjs"), "otlp.mjs")
for profile in profiles():
    dictionary = check_profile(profile)
    if profile == "recorded":
        loops = [attribute(dictionary, i)[1] for l in dictionary["locationTable"] for i in l["attributeIndices"]]
        check("loops are attributes of locations", loops and all(v["stringValue"] for a in loops for v in a["values"]), loops[:2])
        check("no loop is a function", not any(s.startswith("[loop") for s in dictionary["stringTable"]))
        check("build-ids are attributes of mappings", any(m["attributeIndices"] for m in dictionary["mappingTable"]))
labelled = run(CPPROF, "export", "sample.data", "-f", "otlp", "--label", "service.name=shop", "-o", "labelled.otlp")
check("labels are accepted", labelled.returncode == 0, labelled.stderr)
check("labels are attributes of the resource", 'key: "service.name"' in decoded("labelled.otlp"))
whole = open("sample.otlp", "rb").read()
open("cut.otlp", "wb").write(whole[:len(whole) // 2])
check("protobufjs refuses a truncated file", run("node", "otlp.mjs", PROTO, "cut.otlp").returncode != 0)
done()
