#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a program of a few megabytes whose parts are small, but have much to do with each other.

usage: dense_elf.py notes|names|calls|tables|gaps FILE COUNT CODE; CODE: machine code that runs for a while and exits, for gaps
a file with less of it that does not exit as well. COUNT: 1 = a harmless one of the same size. 2 (gaps): one whose code takes
seconds to analyse.
notes   COUNT sections are the same notes
names   COUNT sections whose names are ends of the same long name
calls   COUNT sections of code, and many calls to where no code is
tables  COUNT jumps through the same large table (x86-64)
gaps    COUNT functions with symbols, and code without any that runs in 100 places far from each other"""
import os
import struct
import sys

KIND, FILE, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3])
CODE = open(sys.argv[4], "rb").read()
IS_X86 = os.uname().machine == "x86_64"
START, TEXT_AT = 0x401000, 0x1000
NAME = b"a" * (8 << 20)
NOTE, FUNCTION, SYMTAB, STRTAB, PROGBITS = 7, 2, 2, 3, 1


def code_of_tables():
    """Each jump may go to any other; most of the table's entries differ."""
    block, entries = 32, 8192
    base = START + len(CODE)
    table = base + COUNT * block + 16
    text = bytearray()
    for i in range(COUNT):
        at = bytearray(b"\x8b\x07\x48\xff\xc7\x3d" + struct.pack("<I", entries - 1))  # mov (%rdi), %eax; inc %rdi; cmp $.., %eax
        at += b"\x0f\x87" + struct.pack("<i", (COUNT - i) * block - len(at) - 6)  # ja to the end
        at += b"\x48\x8d\x15" + struct.pack("<i", table - (base + i * block + len(at) + 7))  # lea table(%rip), %rdx
        at += b"\x48\x63\x04\x82\x48\x01\xd0\xff\xe0"  # movslq (%rdx,%rax,4), %rax; add %rdx, %rax; jmp *%rax
        text += bytes(at).ljust(block, b"\x90")
    targets = (base + (i * 7919 % COUNT) * block - table for i in range(entries))
    return bytes(text) + b"\xc3" * 16 + b"".join(struct.pack("<i", target) for target in targets)


def branch(by, is_call=False):
    if IS_X86:
        return struct.pack("<Bi", 0xe8 if is_call else 0xe9, by - 5)
    return struct.pack("<I", (37 if is_call else 5) << 26 | by // 4)


def text_of_gaps():
    """An unwind entry, so that the places are not searched all at once, comes last."""
    some, each, n_calls = open(sys.argv[5], "rb").read(), 32768, 2040 if COUNT == 2 else 64
    nop = b"\x66\x2e\x0f\x1f\x84\0\0\0\0\0\x66\x0f\x1f\x44\0\0" if IS_X86 else b"\x1f\x20\x03\xd5" * 4
    place = (some + branch(each - len(some))).ljust(64, nop[-1:])
    place += ((branch(16, True) + RETURN).ljust(16, nop[-1:]) * n_calls + RETURN + nop[len(RETURN):])
    text = (place + nop * ((each - len(place)) // 16)) * 100 + CODE.ljust(64, b"\0")
    listed = START + len(text)
    text += RETURN * GAP_FUNCTIONS
    cie = struct.pack("<IIB3sBBBBB", 20, 0, 1, b"zR\0", 1, 0x78, 16, 1, 0x1b).ljust(24, b"\0")
    at = START + len(text) + len(cie)
    return text, listed, cie + struct.pack("<IIiIQ", 20, len(cie) + 4, listed - at - 8, 4, 0) + bytes(4)


RETURN = b"\xc3\x90\x90\x90" if IS_X86 else b"\xc0\x03\x5f\xd6"
GAP_FUNCTIONS = 1000000
text = bytearray(CODE)
sections = []  # name offset, type, flags, address, offset, size, link, entry size
names = b"\0.text\0.symtab\0.strtab\0" + (NAME if KIND == "names" else b"") + b"\0"
extra = b""
if KIND == "calls":
    text += (b"\xe8\0\0\0\x10" if IS_X86 else b"\0\0\0\x95") * 50000
    sections = [(0, PROGBITS, 6, START + i, TEXT_AT + i, 1, 0, 0) for i in range(COUNT)]
elif KIND == "tables":
    text += code_of_tables()
end = TEXT_AT + len(text)
if KIND == "notes":
    extra = struct.pack("<III", 0, 0, 7) * 170000
    sections = [(0, NOTE, 2, 0, end, len(extra), 0, 0) for _ in range(COUNT)]
elif KIND == "gaps":
    text, listed, extra = text_of_gaps()
    names += b".eh_frame\0"
    end = TEXT_AT + len(text)
    sections = [(len(names) - 10, PROGBITS, 2, START + len(text), end, len(extra), 0, 0)]
elif KIND == "names":
    sections = [(23 + i, PROGBITS, 0, 0, TEXT_AT, 1, 0, 0) for i in range(COUNT)]
symbols_at = end + len(extra)
size = len(CODE) + COUNT * 32 + 16 if KIND == "tables" else len(text)
symbols = bytes(24)
if KIND == "gaps":  # as many names of one function, or one of each
    n_named = GAP_FUNCTIONS if COUNT > 2 else 1
    symbols += b"".join(struct.pack("<IBBHQQ", 1, FUNCTION, 0, 1, listed + i * 4, 4) for i in range(n_named)) * (GAP_FUNCTIONS // n_named)
else:
    symbols += struct.pack("<IBBHQQ", 1, FUNCTION, 0, 1, START, size)
names_at = symbols_at + len(symbols)
heads_at = (names_at + len(names) + 7) & ~7
heads = [(0,) * 8, (1, PROGBITS, 6, START, TEXT_AT, len(text), 0, 0), *sections]
heads += [(7, SYMTAB, 0, 0, symbols_at, len(symbols), len(heads) + 1, 24), (15, STRTAB, 0, 0, names_at, len(names), 0, 0)]
loaded = len(text) + (len(extra) if KIND == "gaps" else 0)
program = struct.pack("<IIQQQQQQ", 1, 5, TEXT_AT, START, START, loaded, loaded, 4096)
with open(FILE, "wb") as file:
    file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62 if IS_X86 else 183, 1, START, 64, heads_at, 0, 64, 56, 1,
                           64, len(heads), len(heads) - 1) + program)
    file.seek(TEXT_AT)
    file.write(bytes(text) + extra + symbols + names)
    file.seek(heads_at)
    for name, kind, flags, address, at, length, link, each in heads:
        file.write(struct.pack("<IIQQQQIIQQ", name, kind, flags, address, at, length, link, 0, 1, each))
os.chmod(FILE, 0o755)
