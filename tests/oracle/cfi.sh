#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares our reading of unwind entries with readelf's. Usage: cfi.sh CFI short|full
skip() { echo "skipped: $1"; exit 77; }
command -v readelf >/dev/null || skip "no readelf"
command -v ldd >/dev/null || skip "no ldd"

# The libraries that a program is linked with, in the distribution's folder for them.
libraries() { ldd "$1" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (.*/\1/p'; }

case $2 in
short) files="$CPPROF $(libraries "$CPPROF" | grep -E '/(libc|ld-linux[^/]*)\.so')" ;;
full)
	files="$(libraries "$CPPROF") $(command -v git) $(command -v perl) $(command -v python3)"
	for name in libstdc++.so.6 libgcc_s.so.1; do
		file=$(cc -print-file-name=$name 2>/dev/null)
		[ -f "$file" ] && files="$files $file"
	done
	for name in cc1plus cc1; do
		file=$(cc -print-prog-name=$name 2>/dev/null)
		[ -f "$file" ] && files="$files $file" && break
	done ;;
esac
status=0
for file in $files; do
	file=$(readlink -f "$file")
	readelf -h "$file" >/dev/null 2>&1 || continue
	"$1" "$file" || status=1
done
exit $status
