#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares our A64 decoder with objdump, on random words and on AArch64 binaries of the system, if there are any.
# Usage: a64.sh ISA_DUMP
here=$(dirname "$0")
skip() { echo "skipped: $1"; exit 77; }
command -v python3 >/dev/null || skip "no python3"
for OBJDUMP in objdump aarch64-linux-gnu-objdump; do
	"$OBJDUMP" -i 2>/dev/null | grep -qx 'elf64-littleaarch64' && break
	OBJDUMP=
done
[ "$OBJDUMP" ] || skip "no objdump that supports AArch64 (Debian: binutils-aarch64-linux-gnu)"
export OBJDUMP

files=
for f in /usr/lib/aarch64-linux-gnu/libc.so.6 /usr/aarch64-linux-gnu/lib/libc.so.6 /usr/lib/aarch64-linux-gnu/libm.so.6; do
	[ -f "$f" ] && files="$files $f"
done
exec python3 "$here/a64.py" "$1" --show 3 --min-text 99.9 $files
