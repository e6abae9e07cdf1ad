#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
profile/FORMAT.md, held against the file: an independent reader, written from the text alone, must find
what cpprof report says is there. usage: format.py CPPROF FILE

format.py --dense DENSE PLAIN: both have the same nodes, in section 21 and in section 8, and the same values, in section 22
and in sections 9, 16 and 18.
"""
import json
import shutil
import struct
import subprocess
import sys
from collections import Counter

NONE = None


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unpack(data):
    if not shutil.which("zstd"):
        print("skipped: a section is packed and there is no zstd command")
        sys.exit(77)
    return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def uleb(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value & (1 << 64) - 1

    def sleb(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value - (1 << shift) if byte & 0x40 else value

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def take_sized(self):
        return self.take(self.uleb())


def table(data, columns, image_column=None):
    """Columns as in FORMAT.md: "name coding", with ? behind a coding that may be none."""
    r = Reader(data)
    n, n_columns = r.uleb(), r.uleb()
    rows = [{} for _ in range(n)]
    for number in range(n_columns):
        column = Reader(r.take_sized())
        if number >= len(columns):
            continue
        name, coding = columns[number].split()
        may_be_none, coding = coding.endswith("?"), coding.rstrip("?")
        last = Counter()
        for i, row in enumerate(rows):
            key = row[image_column] if coding == "in-image" else 0
            if coding == "plain":
                value = column.uleb()
            elif coding == "signed":
                value = column.sleb()
            elif coding == "back":
                value = i - column.uleb()
            elif coding == "build-id":
                value = column.take(column.byte()).hex()
            else:
                value = last[key] = (last[key] + column.sleb()) % (1 << 64)
            row[name] = (value - 1 if value else NONE) if may_be_none else value
        assert column.at == len(column.data), f"column {name} has bytes left"
    assert r.at == len(data), "the table has bytes left"
    return rows


def sections(data):
    magic, major, _, n, size, zero, checksum = struct.unpack_from("<8sHHIQII", data)
    assert magic == b"cpprof\n\0" and major == 1 and size == len(data) and zero == 0
    end = 32 + 40 * n
    assert checksum == crc32c(data[:28] + data[32:end]), "the header's checksum"
    found = {}
    for i in range(n):
        number, flags, offset, size, unpacked, checksum, zero = struct.unpack_from("<IIQQQII", data, 32 + 40 * i)
        stored = data[offset:offset + size]
        assert len(stored) == size and crc32c(stored) == checksum and zero == 0 and number not in found
        found[number] = unpack(stored) if flags & 1 else stored
        assert len(found[number]) == unpacked
    return found


def strings(data):
    r = Reader(data)
    lengths = [r.uleb() for _ in range(r.uleb())]
    return [r.take(n).decode() for n in lengths]


NODES = ["parent back", "image plain?", "vaddr in-image", "flags plain"]


def tree(data):
    """Section 21, as rows of section 8."""
    r = Reader(data)
    n, shift = r.uleb(), r.uleb()
    up, way, image, flags, vaddr = (Reader(r.take_sized()) for _ in range(5))
    steps = [up.uleb() for _ in range(n)] + [1]
    nodes = [{"parent": 0, "image": NONE, "vaddr": 0, "flags": 0}, {"parent": 0, "image": NONE, "vaddr": 0, "flags": 0}]
    frames, below, last = [(NONE, 0, 0), (NONE, 1, 0)], {}, Counter()
    for i in range(n):
        parent = len(nodes) - 1
        for _ in range(steps[i]):
            parent = nodes[parent]["parent"] if parent else 1
        known = below.setdefault(frames[parent], [])
        number = way.uleb()
        if number:
            frame = known.pop(number - 1)
        else:
            said = image.uleb()
            its = known[0][0] if not said else said - 2 if said > 1 else NONE
            base = known[0][1] if known and known[0][0] == its else last[its]
            its_flags = flags.uleb() ^ (0 if steps[i + 1] else 1)
            frame = (its, (base + (vaddr.sleb() << shift)) % (1 << 64), its_flags)
        known.insert(0, frame)
        del known[16:]
        last[frame[0]] = frame[1]
        frames.append(frame)
        nodes.append({"parent": parent, "image": frame[0], "vaddr": frame[1], "flags": frame[2]})
    assert all(column.at == len(column.data) for column in (up, way, image, flags, vaddr)), "a column has bytes left"
    return nodes


VALUES = ["node delta", "thread delta", "metric delta", "value plain"]
ROUNDS = ["node delta", "thread delta", "round plain", "samples plain"]
CALLS = ["node delta", "thread delta", "kind plain", "calls plain"]


def whole_rows(columns, nodes):
    """The rows of section 22: node, thread, samples, weight as it is written."""
    rows, thread, is_parent = [], 0, {node["parent"] for node in nodes[2:]}
    for i in range(len(nodes)):
        for k in range(columns[0].sleb() + (i not in is_parent)):
            thread += columns[1].sleb()
            rows.append((i, thread, columns[2].uleb() + 1, columns[5].sleb()))
    return rows


def new_calls(rows, nodes, column, follows):
    below = [Counter() for _ in nodes]
    for node, thread, samples, _ in rows:
        below[node][thread] += samples
    for i in range(len(nodes) - 1, 1, -1):
        if nodes[i]["parent"] > 1:
            below[nodes[i]["parent"]].update(below[i])
    found, old = {}, {}
    for i in range(2, len(nodes)):
        for thread in sorted(below[i]):
            is_known = follows and old.get((nodes[i]["parent"], thread)) == 0
            old[i, thread] = 0 if is_known else column.sleb()
            if below[i][thread] != old[i, thread]:
                found[i, thread] = below[i][thread] - old[i, thread]
    return found


def samples(data, nodes):
    """Section 22: values, rounds and new calls, as {(node, thread, ...): value}."""
    r = Reader(data)
    unit, flags = r.uleb(), r.uleb()
    columns = [Reader(r.take_sized()) for _ in range(8)]
    assert r.at == len(data), "section 22 has bytes left"
    rows, values, rounds = whole_rows(columns, nodes), {}, {}
    for node, thread, n, weight in rows:
        values[node, thread, 0] = n
        values[node, thread, 1] = (weight + 64 * n) * unit + (columns[6].uleb() if unit > 1 else 0)
        while flags & 1 and n:
            number = columns[3].uleb()
            rounds[node, thread, number] = columns[4].uleb() + 1 if n > 1 else 1
            n -= rounds[node, thread, number]
    calls = new_calls(rows, nodes, columns[7], flags & 4) if flags & 2 else {}
    assert all(column.at == len(column.data) for column in columns), "a column has bytes left"
    return values, rounds, calls


def compare_values(dense, plain, nodes):
    def rows(number, columns, *keys):
        key = columns[3].split()[0]
        return {tuple(row[k] for k in keys): row[key] for row in table(plain[number], columns)} if number in plain else {}

    assert 22 in dense and not {9, 16, 18} & dense.keys(), "values are in sections of their own"
    values, rounds, calls = samples(dense[22], nodes)
    assert values == rows(9, VALUES, "node", "thread", "metric"), "other values"
    assert rounds == rows(16, ROUNDS, "node", "thread", "round"), "other rounds"
    assert calls == rows(18, CALLS, "node", "thread"), "other calls"
    print(f"{len(values)} values, {len(rounds)} in rounds, {len(calls)} of calls in {len(dense[22])} bytes")


def compare_dense(dense, plain):
    found = []
    for path in (dense, plain):
        with open(path, "rb") as file:
            found.append(sections(file.read()))
    assert 21 in found[0] and 8 not in found[0] and 8 in found[1], "not one of each kind"
    nodes = tree(found[0][21])
    assert nodes == table(found[1][8], NODES, "image"), "other nodes"
    print(f"{len(nodes)} nodes in {len(found[0][21])} bytes, otherwise {len(found[1][8])}")
    compare_values(*found, nodes)


def main():
    if sys.argv[1] == "--dense":
        return compare_dense(*sys.argv[2:])
    cpprof, path = sys.argv[1:]
    with open(path, "rb") as file:
        parts = sections(file.read())
    names = strings(parts[1])
    nodes = table(parts[8], NODES, "image") if 8 in parts else tree(parts[21])
    values = table(parts[9], VALUES)
    rounds = table(parts[16], ROUNDS) if 16 in parts else []
    quality = {row["counter"]: row["value"] for row in table(parts[11], ["counter plain", "value plain"])}
    functions = table(Reader(parts[13]).take_sized(), [
        "image delta", "vaddr in-image", "size plain", "name delta", "linkage delta", "decl_file delta",
        "decl_line plain", "end_line plain", "scope plain", "parent_vaddr in-image", "source plain",
        "n_lines plain", "n_inlines plain", "n_ranges plain"], "image")

    def name_of(node):
        vaddr = node["vaddr"] - (node["flags"] & 1)
        for f in functions:
            if f["image"] == node["image"] and f["vaddr"] <= vaddr < f["vaddr"] + f["size"]:
                return names[f["name"]]
        return f"[unknown] 0x{vaddr:x}"

    ours = Counter()
    for value in values:
        if value["metric"] == 0:
            ours[name_of(nodes[value["node"]])] += value["value"]
    assert sum(ours.values()) == quality[0], "samples of the tree and the tally"
    for row in table(parts[18], CALLS) if 18 in parts else []:
        assert row["node"] < len(nodes) and row["kind"] == 0 and row["calls"] > 0, "calls refer to what is there"
    durations = table(parts[19], ["node delta", "thread delta", "kind plain", "value plain"]) if 19 in parts else []
    for row in durations:
        assert row["node"] < len(nodes) and row["kind"] < 3 + 976, "durations refer to what is there"
    in_rounds = Counter()
    for row in rounds:
        assert row["round"] < 32
        in_rounds[row["node"], row["thread"]] += row["samples"]
    in_all = {(v["node"], v["thread"]): v["value"] for v in values if v["metric"] == 0}
    assert not rounds or in_rounds == in_all, "samples by round and in all"
    assert all(node["parent"] < i for i, node in enumerate(nodes) if i)

    report = json.loads(subprocess.run(
        [cpprof, "report", path, "--view", "flat", "--no-inlines", "--no-loops", "--percent-limit", "0",
         "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
    theirs = {row["name"]: row["self_samples"] for row in report["rows"]}
    assert theirs == dict(ours), f"the report says {theirs}, the file {dict(ours)}"
    print(f"{path}: {len(nodes)} nodes, {len(functions)} functions, {sum(ours.values())} samples: as the report says")


main()
