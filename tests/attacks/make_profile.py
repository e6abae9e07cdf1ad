#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a profile that is valid but takes long to read if nothing is done about it.

usage: make_profile.py deep|strings|contexts N OUT

deep: call paths of N functions, all of them with samples. strings, contexts: N strings or call paths that would all
have the same place in a table, if the hash of base/hash.h had no secret.
"""
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


def checksum(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
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


def plain(values):
    return b"".join(map(uleb, values))


def delta(values):
    return b"".join(sleb(b - a) for a, b in zip([0] + values, values))


def table(n, *columns):
    return uleb(n) + uleb(len(columns)) + b"".join(uleb(len(c)) + c for c in columns)


def sized(part):
    return uleb(len(part)) + part


def wrapped(x):
    """As a signed number of 64 bits."""
    x &= MASK
    return x - (1 << 64) if x >> 63 else x


def tree_of(kind, n):
    """Parents and addresses of the nodes behind the two roots."""
    if kind == "deep":
        return [0] + list(range(2, n + 1)), [0x1000 + 16 * (i % 1000) for i in range(n)]
    if kind == "contexts":
        return [0] * n, colliding(n)
    return [0], [0x1000]


def sections(kind, n):
    strings = [b"", b"samples", b"cpu-clock", b"ns", b"app", b"record"]
    if kind == "strings":
        words = (unhash(x) ^ 8 * 0x9E3779B97F4A7C15 & MASK for x in colliding(n))
        strings += [w for w in (x.to_bytes(8, "little") for x in words) if 0 not in w]
    parents, addresses = tree_of(kind, n)
    count = len(parents)
    starts = sorted(set(addresses))
    nodes = range(2, count + 2)
    yield 1, 2, uleb(len(strings)) + plain(map(len, strings)) + b"".join(strings)
    yield 2, 2, table(1, *[uleb(x) for x in (1, 4, 5, 4, 4, 4, 4, 4, 2, 0, 10**9, 0, 65536, 0, 1)])
    yield 3, 0, table(1, *[uleb(x) for x in (2, 3, 0, 1000000)])
    yield 4, 0, table(2, plain([1, 2]), plain([0, 3]), plain([0, 1]))
    yield 5, 0, table(1, sleb(4), uleb(0), uleb(62), sized(b"\1" * 20))
    yield 6, 0, table(1, sleb(100), sleb(1), sleb(4), sleb(4))
    yield 7, 0, table(1, sleb(0), sleb(100), sleb(4))
    back = plain([0, 1] + [i - parent for i, parent in zip(nodes, parents)])
    places = b"\0\0" + b"".join(sleb(wrapped(b - a)) for a, b in zip([0] + addresses, addresses))
    yield 8, 2, table(count + 2, back, plain([0, 0] + [1] * count), places, plain([0] * (count + 2)))
    both = [i for i in nodes for _ in range(2)]
    yield 9, 0, table(2 * count, delta(both), delta([0] * 2 * count), delta([0, 1] * count), plain([1, 1000] * count))
    yield 11, 0, table(2, plain([0, 0x100]), plain([count, count]))
    first = b"".join(sleb(wrapped(b - a)) for a, b in zip([0] + starts, starts))
    functions = table(len(starts), delta([0] * len(starts)), first, plain([1] * len(starts)), delta([4] * len(starts)))
    yield 13, 0, sized(functions) + 3 * sized(table(0))


def main():
    kind, n, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    entries, bodies = b"", b""
    made = list(sections(kind, n))
    start = 32 + 40 * len(made)
    for number, flags, body in made:
        at = start + len(bodies)
        entries += struct.pack("<IIQQQII", number, flags, at, len(body), len(body), checksum(body), 0)
        bodies += body
    head = struct.pack("<8sHHIQI", b"cpprof\n\0", 1, 8, len(made), start + len(bodies), 0)
    with open(path, "wb") as out:
        out.write(head + struct.pack("<I", checksum(head + entries)) + entries + bodies)


main()
