#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_elf.py KIND IN OUT [NUMBER...]: writes a copy of an ELF file that still runs but has hostile headers or sections."""
import struct
import sys
import zlib

HEADER = struct.Struct("<IIQQQQIIQQ")  # of a section: name, type, flags, addr, offset, size, link, info, align, entsize


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = bytearray(file.read())
        self.table, = struct.unpack_from("<Q", self.bytes, 40)
        _, count, names = struct.unpack_from("<HHH", self.bytes, 58)
        self.sections = [list(HEADER.unpack_from(self.bytes, self.table + 64 * i)) for i in range(count)]
        self.names = self.sections[names][4]

    def index(self, wanted):
        for i, section in enumerate(self.sections):
            start = self.names + section[0]
            if self.bytes[start:self.bytes.index(0, start)].decode() == wanted:
                return i
        raise SystemExit(f"there is no section {wanted}")

    def append(self, data):
        self.bytes += bytes(-len(self.bytes) % 16)
        offset = len(self.bytes)
        self.bytes += data
        return offset

    def save(self, path):
        for i, section in enumerate(self.sections):
            HEADER.pack_into(self.bytes, self.table + 64 * i, *section)
        with open(path, "wb") as file:
            file.write(self.bytes)


def stubs(elf):
    """The header of .plt gives a size of 2^40 bytes."""
    elf.sections[elf.index(".plt")][5] = 1 << 40


def names(elf, count, length):
    """Many function symbols whose names are suffixes of one long string."""
    text = elf.index(".text")
    address, size = elf.sections[text][3], elf.sections[text][5]
    table = bytearray(24)
    for i in range(count):
        table += struct.pack("<IBBHQQ", 1 + i % (length // 2), 0x12, 0, text, address + i * 4 % size, 4)
    symtab, strtab = elf.sections[elf.index(".symtab")], elf.sections[elf.index(".strtab")]
    symtab[4], symtab[5] = elf.append(table), len(table)
    strtab[4], strtab[5] = elf.append(b"\0" + b"n" * (length - 2) + b"\0"), length


def packed(elf, size):
    """Debug sections of a few bytes that unpack to `size` zeroes each."""
    squeeze = zlib.compressobj(9)
    body = b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(size >> 20)) + squeeze.flush()
    data = struct.pack("<IIQQ", 1, 0, size >> 20 << 20, 1) + body
    for name in ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str":
        section = elf.sections[elf.index(name)]
        section[2] |= 0x800
        section[4], section[5] = elf.append(data), len(data)


def wide(elf, size):
    """The code segment is `size` bytes long; the caller has to extend the file accordingly."""
    start, = struct.unpack_from("<Q", elf.bytes, 32)
    count, = struct.unpack_from("<H", elf.bytes, 56)
    for at in range(start, start + 56 * count, 56):
        kind, flags = struct.unpack_from("<II", elf.bytes, at)
        if kind == 1 and flags & 1:
            struct.pack_into("<QQ", elf.bytes, at + 32, size, size)


def symbols(elf, size):
    """.symtab is `size` bytes long; the caller has to extend the file accordingly."""
    section = elf.sections[elf.index(".symtab")]
    section[4], section[5] = elf.append(bytes(elf.bytes[section[4]:section[4] + section[5]])), size


KINDS = {"stubs": stubs, "names": names, "packed": packed, "wide": wide, "symbols": symbols}
kind, source, target, *numbers = sys.argv[1:]
victim = Elf(source)
KINDS[kind](victim, *map(int, numbers))
victim.save(target)
