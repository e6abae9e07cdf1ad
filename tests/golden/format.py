#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks profile/FORMAT.md against a profile: an independent reader, written from the text alone, must find what cpprof report
prints. usage: format.py CPPROF FILE
format.py --dense DENSE PLAIN: both have the same nodes, in section 25 and in section 8, and the same values, in section 24
and in sections 9, 16 and 18.
"""
import json
import shutil
import struct
import subprocess
import sys
from collections import Counter

from format_paths import Paths

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
        print("skipped: a section is compressed, and zstd is not installed")
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
    """Columns as in FORMAT.md: "name coding"; a ? after the coding: values may be absent."""
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


class Coder:
    """The range-coded bits of section 23."""

    def __init__(self, data):
        self.data, self.low, self.high, self.code, self.at = data, 0, 0xFFFFFFFF, 0, 0
        self.models = {}
        for _ in range(4):
            self.take()

    def take(self):
        self.code = (self.code << 8 | self.data[self.at]) & 0xFFFFFFFF
        self.at += 1

    def settle(self):
        while self.low >> 24 == self.high >> 24:
            self.low, self.high = self.low << 8 & 0xFFFFFFFF, (self.high << 8 | 255) & 0xFFFFFFFF
            self.take()

    def bit(self, *key):
        p, seen = self.models.get(key, (32768, 0))
        middle = self.low + ((self.high - self.low) * p >> 16)
        bit = int(self.code <= middle)
        if bit:
            self.high = middle
        else:
            self.low = middle + 1
        self.settle()
        p += ((65536 if bit else 0) - p) * (2 ** 17 // (2 * seen + 3)) >> 16
        self.models[key] = (min(max(p, 64), 65472), min(seen + 1, 30))
        return bit

    def plain(self, n):
        value = 0
        while n:
            some = 1 if self.high - self.low < 65536 else min(n, 8)
            step = (self.high - self.low + 1) >> some
            bits = min((self.code - self.low) // step, 2 ** some - 1)
            self.low += bits * step
            if bits < 2 ** some - 1:
                self.high = self.low + step - 1
            self.settle()
            value, n = value << some | bits, n - some
        return value

    def number(self, *key):
        n = 0
        while n < 64 and self.bit("length", n, *key):
            n += 1
        if n < 2:
            return n
        value, top = 1, min(n - 1, 3)
        for _ in range(top):
            value = value << 1 | self.bit("top", n, value, *key)
        return value << n - 1 - top | self.plain(n - 1 - top)

    def signed(self, *key):
        number = self.number(*key)
        return -(number >> 1) - 1 if number & 1 else number >> 1


class Contexts:
    """Section 23, as rows of section 8."""

    def __init__(self, data, n_images):
        r = Reader(data)
        self.n, self.shift, self.n_images = r.uleb(), r.uleb(), n_images
        self.ranges = [(r.uleb(), r.uleb()) for _ in range(n_images + 1)]
        self.coder, self.below = Coder(data[r.at:]), {}
        self.nodes = [{"parent": 0, "image": NONE, "vaddr": 0, "flags": 0} for _ in range(2)]
        for root in range(2):
            self.walk(root)
        assert len(self.nodes) == self.n + 2, "nodes are missing"
        assert self.coder.at == len(self.coder.data), "section 23 has bytes left"

    def walk(self, root):
        levels = [[root, (NONE, root, 0), NONE, 0, 2]]
        while levels and len(self.nodes) < self.n + 2:
            node, frame, before, n, kind = levels[-1]
            known = self.below.setdefault(frame, [])
            if not self.coder.bit("more", min(n, 3), frame[2] & 1, min(len(known), 3), kind):
                levels.pop()
                continue
            child = self.child(frame, before, n, known)
            assert before is NONE or self.order(child) > self.order(before), "children are not in ascending order"
            levels[-1][2:] = child, n + 1, 1
            if len(levels) > 1:
                levels[-2][4] = 0
            levels.append([len(self.nodes), child, NONE, 0, 2])
            self.nodes.append({"parent": node, "image": child[0], "vaddr": child[1], "flags": child[2]})

    @staticmethod
    def order(frame):
        return (-1 if frame[0] is NONE else frame[0], *frame[1:])

    def child(self, frame, before, n, known):
        candidates = [f for f in known if before is NONE or self.order(f) > self.order(before)]
        many, some = min(len(candidates), 7), min(n, 3)
        if candidates and self.coder.bit("known", many, some, frame[2] & 1):
            i = 0
            while i + 1 < len(candidates) and not self.coder.bit("which", i, many, some):
                i += 1
            found = candidates[i]
            known.remove(found)
        else:
            found = self.new(frame, before, known)
        known.insert(0, found)
        del known[16:]
        return found

    def new(self, frame, before, known):
        image = before[0] if before is not NONE else known[0][0] if known else frame[0]
        if self.coder.bit("image", 0 if before is not NONE else 1 if known else 2):
            said = self.coder.number("image")
            image = said - 1 if said else NONE
        flags = self.coder.bit("return", frame[2] & 1)
        flags |= self.coder.bit("kernel", frame[2] >> 1) << 1
        if before is not NONE and before[0] == image:
            vaddr = before[1] + (self.coder.number("after", flags & 1) << self.shift)
        elif known and known[0][0] == image:
            vaddr = known[0][1] + (self.coder.signed("near", flags & 1) << self.shift)
        else:
            vaddr = self.anywhere(self.n_images if image is NONE else image, flags & 1)
        return image, vaddr % 2 ** 64, flags

    def anywhere(self, image, is_return):
        a, b, mask = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 2 ** 64 - 1
        width, low = self.ranges[image]
        bits = 1
        for _ in range(width - 8):
            h = ((2 * image + is_return) * a & mask ^ bits * b & mask) * a & mask
            bits = bits << 1 | self.coder.bit("prefix", h >> 48)
        plain = min(width, 8)
        bits = bits << plain | self.coder.plain(plain)
        return low + bits - (1 << width) << self.shift


def contexts(parts):
    n_images = Reader(parts[5]).uleb() if 5 in parts else 0
    if 23 in parts:
        return Contexts(parts[23], n_images).nodes
    return Paths(Reader(parts[25]), parts[25], n_images).nodes


VALUES = ["node delta", "thread delta", "metric delta", "value plain"]
ROUNDS = ["node delta", "thread delta", "round plain", "samples plain"]
CALLS = ["node delta", "thread delta", "kind plain", "calls plain"]


def whole_rows(columns, nodes):
    """The rows of section 24: node, thread, samples, and the weight as stored."""
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
    """Section 24: values, rounds and new calls, as {(node, thread, ...): value}."""
    r = Reader(data)
    unit, flags = r.uleb(), r.uleb()
    usual = [r.uleb() for _ in range(32)] if flags & 1 else []
    columns = [Reader(r.take_sized()) for _ in range(8)]
    assert r.at == len(data), "section 24 has bytes left"
    rows, values, rounds = whole_rows(columns, nodes), {}, {}
    for node, thread, n, weight in rows:
        values[node, thread, 0] = n
        weight += 0 if flags & 1 else 64 * n
        while flags & 1 and n:
            number = columns[3].uleb()
            rounds[node, thread, number] = columns[4].uleb() + 1 if n > 1 else 1
            weight += usual[number] * rounds[node, thread, number]
            n -= rounds[node, thread, number]
        values[node, thread, 1] = weight * unit + (columns[6].uleb() if unit > 1 else 0)
    calls = new_calls(rows, nodes, columns[7], flags & 4) if flags & 2 else {}
    assert all(column.at == len(column.data) for column in columns), "a column has bytes left"
    return values, rounds, calls


def compare_values(dense, plain, nodes):
    def rows(number, columns, *keys):
        key = columns[3].split()[0]
        return {tuple(row[k] for k in keys): row[key] for row in table(plain[number], columns)} if number in plain else {}

    assert 24 in dense and not {9, 16, 18} & dense.keys(), "values are in separate sections"
    values, rounds, calls = samples(dense[24], nodes)
    assert values == rows(9, VALUES, "node", "thread", "metric"), "other values"
    assert rounds == rows(16, ROUNDS, "node", "thread", "round"), "other rounds"
    assert calls == rows(18, CALLS, "node", "thread"), "other calls"
    print(f"{len(values)} values, {len(rounds)} in rounds, {len(calls)} of calls in {len(dense[24])} bytes")


def compare_dense(dense, plain):
    found = []
    for path in (dense, plain):
        with open(path, "rb") as file:
            found.append(sections(file.read()))
    assert 25 in found[0] and 8 not in found[0] and 8 in found[1], "not one dense and one plain profile"
    nodes = contexts(found[0])
    assert nodes == table(found[1][8], NODES, "image"), "other nodes"
    print(f"{len(nodes)} nodes in {len(found[0][25])} bytes, otherwise {len(found[1][8])}")
    compare_values(*found, nodes)


def main():
    if sys.argv[1] == "--dense":
        return compare_dense(*sys.argv[2:])
    cpprof, path = sys.argv[1:]
    with open(path, "rb") as file:
        parts = sections(file.read())
    names = strings(parts[1])
    nodes = table(parts[8], NODES, "image") if 8 in parts else tree(parts[21]) if 21 in parts else contexts(parts)
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
    assert sum(ours.values()) == quality[0], "the samples of the tree differ from the quality's count"
    for row in table(parts[18], CALLS) if 18 in parts else []:
        assert row["node"] < len(nodes) and row["kind"] == 0 and row["calls"] > 0, "calls of a node that does not exist"
    durations = table(parts[19], ["node delta", "thread delta", "kind plain", "value plain"]) if 19 in parts else []
    for row in durations:
        assert row["node"] < len(nodes) and row["kind"] < 3 + 976, "durations of a node that does not exist"
    in_rounds = Counter()
    for row in rounds:
        assert row["round"] < 32
        in_rounds[row["node"], row["thread"]] += row["samples"]
    in_all = {(v["node"], v["thread"]): v["value"] for v in values if v["metric"] == 0}
    assert not rounds or in_rounds == in_all, "samples by round do not add up"
    assert all(node["parent"] < i for i, node in enumerate(nodes) if i)

    report = json.loads(subprocess.run(
        [cpprof, "report", path, "--view", "flat", "--no-inlines", "--no-loops", "--percent-limit", "0",
         "--format", "json"], stdout=subprocess.PIPE, check=True).stdout)
    theirs = {row["name"]: row["self_samples"] for row in report["rows"]}
    assert theirs == dict(ours), f"the report says {theirs}, the file {dict(ours)}"
    print(f"{path}: {len(nodes)} nodes, {len(functions)} functions, {sum(ours.values())} samples: as the report says")


main()
