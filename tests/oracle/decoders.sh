#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares Zydis with XED on large programs: Debian's C++ compiler and LLVM for amd64, unpacked into a folder, on any
# machine. usage: decoders.sh PROGRAM FOLDER; needs SOURCE in the environment.
set -u
program=$1 folder=$2
: "${SOURCE:?}"

if ! "$SOURCE/tests/cross/sysroot.sh" amd64 "$folder" g++ llvm >"$folder.log" 2>&1; then
	echo "skipped: the amd64 programs cannot be downloaded: $(tail -n 1 "$folder.log")"
	exit 77
fi
files=()
for name in cc1plus 'libLLVM*.so*'; do
	found=$(find "$folder" -type f -size +1M -name "$name" | sort | head -1)
	[ -n "$found" ] || { echo "FAILED: the packages have no $name"; exit 1; }
	files+=("$found")
done
exec "$program" "${files[@]}"
