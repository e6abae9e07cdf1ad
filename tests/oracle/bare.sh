#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares unwind recipes in a large program with and without symbols and unwind entries: Debian's Firefox for amd64 (123 MB of
# code), on any machine. usage: bare.sh PROGRAM FOLDER [EVERY]; needs SOURCE in the environment.
set -u
program=$1 folder=$2 every=${3:-1009}
: "${SOURCE:?}"

skip() {
	echo "skipped: $*"
	exit 77
}

objcopy=objcopy
[ "$(uname -m)" = x86_64 ] || objcopy=x86_64-linux-gnu-objcopy
command -v $objcopy >/dev/null || skip "no $objcopy"
"$SOURCE/tests/cross/sysroot.sh" amd64 "$folder" firefox-esr >"$folder.log" 2>&1 ||
	skip "the amd64 program cannot be downloaded: $(tail -n 1 "$folder.log")"
library=$(find "$folder" -type f -name libxul.so | head -1)
[ -n "$library" ] || { echo "FAILED: the package has no libxul.so"; exit 1; }
copy=$(mktemp) || exit 1
trap 'rm -f "$copy"' EXIT
$objcopy -R .eh_frame -R .eh_frame_hdr -R .note.gnu.build-id -R .gnu_debugdata --strip-all "$library" "$copy" || exit 1
"$program" --every "$every" 99.5 0.05 "$library" "$copy"
