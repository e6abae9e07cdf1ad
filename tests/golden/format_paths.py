# SPDX-License-Identifier: Apache-2.0
"""Section 25 of a profile, read by a program that was written from profile/FORMAT.md alone; part of format.py."""
import bisect
import struct


class Symbols:
    """The coded symbols of section 25."""

    def __init__(self, data):
        self.state, self.data, self.at, self.models = struct.unpack_from("<Q", data)[0], data, 8, {}

    def refill(self):
        if self.state < 2 ** 31:
            self.state = self.state << 32 | struct.unpack_from("<I", self.data, self.at)[0]
            self.at += 4

    @staticmethod
    def rate(seen):
        return 3 if seen < 4 else 4 if seen < 14 else 5 if seen < 40 else 6 if seen < 110 else 7

    def symbol(self, n_values, *key):
        sums, seen = self.models.get(key) or ([4 * i + 32704 * min(i, n_values) // n_values for i in range(17)], 0)
        slot = self.state % 32768
        value = bisect.bisect_right(sums, slot, 0, 16) - 1
        self.state = (sums[value + 1] - sums[value]) * (self.state >> 15) + slot - sums[value]
        self.refill()
        goals = [4 * i if i <= value else 32704 + 4 * i for i in range(16)]
        self.models[key] = [s + (goal - s >> self.rate(seen)) for s, goal in zip(sums, goals)] + [32768], min(seen + 1, 127)
        return value

    def bit(self, *key):
        p, seen = self.models.get(key, (16384, 0))
        slot = self.state % 32768
        bit = slot < p
        self.state = p * (self.state >> 15) + slot if bit else (32768 - p) * (self.state >> 15) + slot - p
        self.refill()
        self.models[key] = p + ((32760 if bit else 8) - p >> self.rate(seen)), min(seen + 1, 127)
        return int(bit)

    def plain(self, n):
        value = 0
        while n:
            some = min(n, 15)
            value, n = value << some | self.state % 2 ** some, n - some
            self.state >>= some
            self.refill()
        return value

    def length(self, *key):
        return self.symbol(16, "length", *key)

    def left(self, length):
        return self.plain(6) if length == 15 else length - 1

    def spread(self, *key):
        length = self.length(*key)
        if length < 2:
            return length
        left = self.left(length)
        return 1 << left | self.plain(left)

    def rest(self, length, *key):
        if length < 2:
            return length
        left = self.left(length)
        top = min(left, 4)
        value = 1 << top | self.symbol(2 ** top, "top", length, *key)
        return value << left - top | self.plain(left - top)

    def number(self, *key):
        return self.rest(self.length(*key), *key)


def unfold(number):
    return -(number >> 1) - 1 if number & 1 else number >> 1


class Paths:
    """Section 25, as rows of section 8. A frame is group, vaddr, flags; a group is 0 = no image, or image + 1."""

    def __init__(self, reader, data, n_images):
        self.n, self.shift = reader.uleb(), reader.uleb()
        groups = [(n, reader.uleb() if n else 0) for n in iter_counts(reader, n_images + 1)]
        self.symbols, self.ends, self.below = Symbols(data[reader.at:]), {}, {}
        self.classes = [[] for _ in range(2 * len(groups))]
        for group, (n, low) in enumerate(groups):
            self.frames(group, n, low << self.shift)
        self.nodes = [{"parent": 0, "image": None, "vaddr": 0, "flags": 0} for _ in range(2)]
        for root in range(2):
            self.walk(root)
        assert len(self.nodes) == self.n + 2, "nodes are missing"
        assert self.symbols.at == len(self.symbols.data) and self.symbols.state == 2 ** 31, "section 25 has bytes left"

    def frames(self, group, n, vaddr):
        kind = 0
        for i in range(n):
            if i:
                vaddr += self.symbols.spread("step", kind & 1) << self.shift
            kind = self.symbols.symbol(12, "kind", kind)
            frame = group, vaddr % 2 ** 64, kind % 4
            self.ends[frame] = kind // 4
            self.classes[2 * group + (kind & 1)].append(frame)

    def walk(self, root):
        levels = [[root, (0, -1 - root, 0), None, 0, 2]]
        while levels and len(self.nodes) < self.n + 2:
            node, frame, before, n, kind = levels[-1]
            child = self.child(frame, before, n, kind)
            if child is None:
                levels.pop()
                continue
            assert before is None or child > before, "children are not in ascending order"
            levels[-1][2:] = child, n + 1, 1
            if len(levels) > 1:
                levels[-2][4] = 0
            if self.ends[child]:
                levels.append([len(self.nodes), child, None, 0, 2])
            self.nodes.append({"parent": node, "image": child[0] - 1 if child[0] else None, "vaddr": child[1], "flags": child[2]})

    def child(self, frame, before, n, kind):
        known = self.below.setdefault(frame, [])
        candidates = [f for f in known if before is None or f > before]
        base = before or (known[0] if known else frame)
        symbol = self.symbols.symbol(4 + len(candidates), "next", min(n, 3), kind, base[2] & 1, len(candidates))
        if symbol == 0:
            return None
        if symbol > 3:
            found = candidates[symbol - 4]
            known.remove(found)
        else:
            found = self.new(frame, before, known, base, symbol)
        known.insert(0, found)
        del known[12:]
        return found

    def new(self, frame, before, known, base, symbol):
        near = "before" if before else "below" if known else "above"
        group, is_return = base[0], int(symbol == 2)
        if symbol == 3:
            group = self.symbols.number("image")
            is_below = before and known and known[0][0] == group
            base = known[0] if is_below else frame
            near = "below" if is_below else "above" if frame[0] == group else "nothing"
            is_return = self.symbols.bit("is_return", frame[2] & 1)
        members, is_same = self.classes[2 * group + is_return], base[2] & 1 == is_return
        position = bisect.bisect_left(members, base)
        key = near, is_return, is_same
        if near == "before":
            return members[position + is_same + self.symbols.number(*key)]
        if near == "below":
            return members[position + unfold(self.symbols.number(*key))]
        if near == "above":
            length = self.symbols.length(*key)
            if length < 15:
                return members[position + unfold(self.symbols.rest(length, *key))]
        return members[self.anywhere(len(members), (2 * group + is_return) % 16)]

    def anywhere(self, n, key):
        left = (n - 1).bit_length()
        high = min(left, 4)
        low = min(left - high, 4)
        value = self.symbols.symbol(16, "high", key) if high else 0
        if low:
            value = value << low | self.symbols.symbol(16, "low", key, value)
        return value << left - high - low | self.symbols.plain(left - high - low)


def iter_counts(reader, n):
    for _ in range(n):
        yield reader.uleb()
