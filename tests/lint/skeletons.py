#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The BPF skeletons in the tree match their sources: rebuilt, they have the same instructions.

usage: skeletons.py   (skipped without bpftool, or if clang is not the version that they were built with)
"""
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

CLANG = '14'
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, '../../collector/bpf')


def skip(reason):
    print('skipped: ' + reason)
    sys.exit(77)


def object_bytes(skeleton):
    """The ELF file that a skeleton contains as a C string."""
    with open(skeleton) as file:
        text = file.read()
    size = int(re.search(r'\*sz = (\d+);', text)[1])
    literal = re.search(r'return \(const void \*\)"\\\n(.*?)";', text, re.S)[1].replace('\\\n', '')
    out = bytearray()
    for escape in re.finditer(r'\\x([0-9a-f]{2})|\\0|\\(.)|(.)', literal, re.S):
        out += bytes([int(escape[1], 16)]) if escape[1] else b'\0' if escape[0] == '\\0' else (escape[2] or escape[3]).encode()
    assert len(out) >= size - 1, (skeleton, len(out), size)
    return bytes(out[:size])


def instructions(elf):
    """Maps the name of each code section to its bytes."""
    section_offset, = struct.unpack_from('<Q', elf, 40)
    entry_size, count, names = struct.unpack_from('<HHH', elf, 58)
    sections = [struct.unpack_from('<IIQQQQ', elf, section_offset + i * entry_size) for i in range(count)]
    text = sections[names]
    found = {}
    for name, _, flags, _, offset, size in sections:
        if flags & 4 and size:
            at = text[4] + name
            found[elf[at:elf.index(b'\0', at)].decode()] = elf[offset:offset + size]
    return found


def main():
    os.environ['PATH'] += ':/usr/sbin'
    for tool in ('clang', 'llvm-strip', 'bpftool'):
        if subprocess.run(['which', tool], capture_output=True).returncode:
            skip(f'{tool} is not installed')
    version = subprocess.run(['clang', '--version'], capture_output=True, text=True).stdout
    if f'clang version {CLANG}.' not in version:
        skip(f'the skeletons were built with clang {CLANG}, but another version is installed')
    status = n = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(FOLDER, 'make_skeletons'), folder], check=True)
        for source in sorted(glob.glob(FOLDER + '/*.bpf.c')):
            name = os.path.basename(source).replace('.bpf.c', '.skel.h')
            kept = instructions(object_bytes(os.path.join(FOLDER, name)))
            made = instructions(object_bytes(os.path.join(folder, name)))
            if not kept or kept != made:
                print(f'collector/bpf/{name} does not match its source; run: collector/bpf/make_skeletons collector/bpf')
                status = 1
            n += len(made)
    print(f'{n} sections of instructions compared')
    return status


if __name__ == '__main__':
    sys.exit(main())
