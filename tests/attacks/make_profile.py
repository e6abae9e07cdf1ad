#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a profile that is valid but takes long to read if nothing is done about it.

usage: make_profile.py KIND N OUT

deep        call paths of N functions, all of them with samples
strings     N strings that would all have the same place in a table, if the hash of base/hash.h had no secret
contexts    N call paths, the same
inlines     500 nested inlined calls in each of N call paths
lines       one function with N sampled lines and instructions, in copies of as many inlined calls
loops       one function with N loops next to each other
nested      one function with N loops in each other
parts       one function in N parts
threads, processes, images, functions, metrics, notes
            N of them
last_line   N sampled lines that are as far from each other as lines can be
"""
import functools
import struct
import sys

MASK = (1 << 64) - 1
MIX = 0xD6E8FEB86659FD93
UNMIX = pow(MIX, -1, 1 << 64)


def unhash(x):
    """The number whose hash_u64 is x."""
    for _ in range(2):
        x = (x ^ x >> 32) * UNMIX & MASK
    return x ^ x >> 32


def colliding(n):
    """Numbers whose hash_u64 end in 24 zero bits."""
    return [unhash(i << 24) for i in range(1, n + 1)]


@functools.cache
def checksum_table():
    table = []
    for i in range(65536):
        for _ in range(16):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


def checksum(data):
    table = checksum_table()
    crc, even = 0xFFFFFFFF, len(data) & ~1
    for (two,) in struct.iter_unpack("<H", data[:even]):
        crc = crc >> 16 ^ table[(crc ^ two) & 65535]
    for byte in data[even:]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def uleb(x):
    out = bytearray()
    while x > 127:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x)
    return bytes(out)


def sleb(x):
    out = bytearray()
    while not -64 <= x < 64:
        out.append(x & 127 | 128)
        x >>= 7
    out.append(x & 127)
    return bytes(out)


SMALL_ULEB = [uleb(x) for x in range(4096)]
SMALL_SLEB = [sleb(x) for x in range(4096)]


def plain(values):
    return b"".join(SMALL_ULEB[x] if x < 4096 else uleb(x) for x in values)


def delta(values):
    differences = (b - a for a, b in zip([0] + values, values))
    return b"".join(SMALL_SLEB[x] if 0 <= x < 4096 else sleb(x) for x in differences)


def table(n, *columns):
    return uleb(n) + uleb(len(columns)) + b"".join(uleb(len(c)) + c for c in columns)


def sized(part):
    return uleb(len(part)) + part


def wrapped(x):
    """As a signed number of 64 bits."""
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


CODE = 0x1000  # where the first function is
RETURN = 1  # the flag of a return address
LOOP, INLINE = 4, 3


class Function:
    def __init__(self, vaddr, size, name=1, lines=(), inlines=(), ranges=(), parent=None, end_line=0, image=0):
        self.vaddr, self.size, self.name, self.end_line = vaddr, size, name, end_line
        self.lines, self.inlines, self.ranges = list(lines), list(inlines), list(ranges)
        self.parent = vaddr if parent is None else parent
        self.image = image


class Profile:
    """One process whose n nodes below the root each have a sample, in functions of one image."""

    def __init__(self, parents, addresses):
        self.strings = [b"", b"samples", b"cpu-clock", b"ns", b"app", b"record"]
        self.parents, self.addresses = parents, addresses
        self.images = [0] * len(parents)
        self.threads = [0] * len(parents)
        self.n_images = self.n_threads = self.n_processes = self.n_metrics = 1
        self.functions = [Function(at, 1) for at in sorted(set(addresses))]
        self.scopes, self.ranges = [], []  # of the first function: (parent, kind, line, end line, vaddr), (start, len, scope)
        self.code = b""  # of the first function
        self.notes = 0

    def string(self, text):
        self.strings.append(text.encode())
        return len(self.strings) - 1


def fan(n, step=1):
    """n nodes with the same parent, at consecutive addresses."""
    return Profile([0] * n, [CODE + step * i for i in range(n)])


def make_deep(n):
    return Profile([0] + list(range(2, n + 1)), [CODE + 16 * (i % 1000) for i in range(n)])


def make_strings(n):
    p = fan(1)
    words = (unhash(x) ^ 8 * 0x9E3779B97F4A7C15 & MASK for x in colliding(n))
    p.strings += [w for w in (x.to_bytes(8, "little") for x in words) if 0 not in w]
    return p


def make_contexts(n):
    return Profile([0] * n, colliding(n))


def make_inlines(n):
    p = Profile([0] + list(range(2, n + 1)), [CODE + i % 2 for i in range(n)])
    p.functions = [Function(CODE, 2)]
    p.scopes = [(0, 2, 0, 0, CODE)] + [(i, INLINE, 1, 1, CODE) for i in range(500)]
    p.ranges = [(CODE, 2, 500)]
    return p


def make_lines(n):
    p = fan(n)
    inlines = [(i, 1, 5 + i, 7) for i in range(min(n, 300))]
    p.functions = [Function(CODE, n, 4, [(i, 4, i + 1) for i in range(n)], inlines, [(0, n, len(inlines) - 1)], end_line=n)]
    p.code = b"\x90" * n
    return p


def make_loops(n):
    """Each is two jumps: to the second, and back."""
    p = fan(n, 4)
    p.functions = [Function(CODE, 4 * n, 4, [(4 * i, 4, i + 1) for i in range(n)])]
    p.code = b"\x90\xff\xe0\x90" * n
    p.scopes = [(0, 2, 0, 0, CODE)] + [(0, LOOP, i + 1, i + 1, CODE + 4 * i) for i in range(n)]
    p.ranges = [(CODE + 4 * i, 4, i + 1) for i in range(n)]
    return p


def make_nested(n):
    p = make_loops(n)
    p.scopes = [(0, 2, 0, 0, CODE)] + [(i, LOOP, i + 1, i + 1, CODE + 4 * i) for i in range(n)]
    return p


def make_parts(n):
    p = fan(n, 4)
    p.functions = [Function(CODE + 4 * i, 4, 4, [(0, 4, i + 1)], parent=CODE) for i in range(n)]
    return p


def make_functions(n):
    p = fan(n, 16)
    for i, function in enumerate(p.functions):
        function.name = p.string(f"f{i}")
    return p


def make_threads(n):
    p = fan(n)
    p.n_threads, p.threads = n, list(range(n))
    return p


def make_processes(n):
    p = make_threads(n)
    p.n_processes = n
    return p


def make_images(n):
    p = fan(n)
    p.n_images, p.images = n, list(range(n))
    p.functions = [Function(CODE + i, 1, image=i) for i in range(n)]
    return p


def make_metrics(n):
    p = fan(1)
    p.n_metrics = n
    return p


def make_notes(n):
    p = fan(1)
    p.notes = n
    return p


def make_last_line(n):
    p = fan(n)
    gap = (1 << 32) // n
    p.functions = [Function(CODE, n, 4, [(i, 4, i * gap + gap - 1) for i in range(n)], end_line=(1 << 32) - 1)]
    return p


def in_image(images, values):
    last, out = {}, []
    for image, value in zip(images, values):
        out.append(sleb(wrapped(value - last.get(image, 0))))
        last[image] = value
    return b"".join(out)


def column(rows, i):
    return [row[i] for row in rows]


def functions_of(p):
    functions, n = p.functions, len(p.functions)
    images, starts = [f.image for f in functions], [f.vaddr for f in functions]
    zeros = plain([0] * n)
    yield table(n, delta(images), in_image(images, starts), plain(f.size for f in functions),
                delta([f.name for f in functions]), delta([0] * n), delta([4 if f.lines else 0 for f in functions]),
                plain(1 if f.lines else 0 for f in functions), plain(f.end_line for f in functions), zeros,
                in_image(images, [f.parent for f in functions]), plain([2] * n),
                *(plain(len(rows) for rows in part) for part in ([f.lines for f in functions],
                  [f.inlines for f in functions], [f.ranges for f in functions])))
    lines = [row for f in functions for row in f.lines]
    yield table(len(lines), *(delta(column(lines, i)) for i in range(3)))
    inlines = [row for f in functions for row in f.inlines]
    yield table(len(inlines), plain(column(inlines, 0)), delta(column(inlines, 1)), delta([0] * len(inlines)),
                delta([4] * len(inlines)), delta([1] * len(inlines)), delta([4] * len(inlines)), delta(column(inlines, 2)))
    ranges = [row for f in functions for row in f.ranges]
    yield table(len(ranges), *(delta(column(ranges, i)) for i in range(3)))


def structure_of(p):
    scopes, n = p.scopes, len(p.scopes)
    yield table(1, delta([0]), sleb(CODE), uleb(n), uleb(len(p.ranges)), uleb(0))
    yield table(n, plain(column(scopes, 0)), plain(column(scopes, 1)), plain([0] * n), delta([p.functions[0].name] * n),
                delta([0] * n), delta([4] * n), delta(column(scopes, 2)), delta(column(scopes, 3)), delta([4] * n),
                delta([1] * n), delta(column(scopes, 4)))
    yield table(len(p.ranges), delta(column(p.ranges, 0)), plain(column(p.ranges, 1)), plain(column(p.ranges, 2)))
    yield table(0)


def values_of(p):
    """Samples and their weight: node, thread, metric, value."""
    return [(node + 2, thread, m, 1000 if m else 1)
            for node, thread in enumerate(p.threads) for m in range(p.n_metrics + 1)]


def sections(p):
    count = len(p.parents)
    nodes, values = range(2, count + 2), values_of(p)
    names = [p.string(f"metric{i}") for i in range(p.n_metrics - 1)]
    notes = [p.string(f"note {i}") for i in range(p.notes)]
    paths = [4] + [p.string(f"/lib/{i}.so") for i in range(p.n_images - 1)]
    yield 1, 2, uleb(len(p.strings)) + plain(map(len, p.strings)) + b"".join(p.strings)
    yield 2, 2, table(1, *[uleb(x) for x in (1, 4, 5, 4, 4, 4, 4, 4, 2, 0, 10**9, 0, 65536, 0, 1)])
    n = p.n_metrics
    yield 3, 0, table(n, plain([2] + names), plain([3] * n), plain([0] * n), plain([1000000] * n))
    yield 4, 0, table(n + 1, plain([1, 2] + names), plain([0] + [3] * n), plain(range(n + 1)))
    n = p.n_images
    yield 5, 0, table(n, delta(paths), plain([0] * n), plain([62] * n), sized(b"\1" * 20) * n)
    n = p.n_processes
    yield 6, 0, table(n, b"".join(map(sleb, range(100, 100 + n))), sleb(1) * n, delta([4] * n), delta([4] * n))
    n = p.n_threads
    yield 7, 0, table(n, delta([i % p.n_processes for i in range(n)]), b"".join(map(sleb, range(100, 100 + n))), delta([4] * n))
    back = plain([0, 1] + [i - parent for i, parent in zip(nodes, p.parents)])
    places = b"\0\0" + in_image(p.images, p.addresses)
    yield 8, 2, table(count + 2, back, plain([0, 0] + [i + 1 for i in p.images]), places, plain([0] * (count + 2)))
    yield 9, 0, table(len(values), *(delta(column(values, i)) for i in range(3)), plain(column(values, 3)))
    yield 11, 0, table(2, plain([0, 0x100]), plain([count, count]))
    if notes:
        yield 12, 0, table(len(notes), plain(notes))
    if p.functions:
        yield 13, 0, b"".join(map(sized, functions_of(p)))
    if p.scopes:
        yield 14, 0, b"".join(map(sized, structure_of(p)))
    if p.code:
        yield 15, 0, sized(table(1, delta([0]), sleb(CODE), uleb(len(p.code)))) + p.code


def main():
    kind, n, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    entries, bodies = b"", b""
    made = list(sections(globals()["make_" + kind](n)))
    start = 32 + 40 * len(made)
    for number, flags, body in made:
        at = start + len(bodies)
        entries += struct.pack("<IIQQQII", number, flags, at, len(body), len(body), checksum(body), 0)
        bodies += body
    head = struct.pack("<8sHHIQI", b"cpprof\n\0", 1, 8, len(made), start + len(bodies), 0)
    with open(path, "wb") as out:
        out.write(head + struct.pack("<I", checksum(head + entries)) + entries + bodies)


main()
