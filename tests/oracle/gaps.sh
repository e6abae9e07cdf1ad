#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Functions found window by window, as samples come, against a survey of the whole file, on libraries with much
# hand-written code. Of a long gap a piece is searched at a time: what functions of two pieces share may be taken for a function
# there (x86-64: one place in 700 of libx264). Usage: gaps.sh GAPS
found=
for library in libc.so.6 libcrypto.so.3 libx264.so.164 libavcodec.so.59 libdav1d.so.6 libgmp.so.10; do
	for file in /usr/lib/*-linux-gnu*/"$library"; do
		[ -e "$file" ] || continue
		found=yes
		"$1" 99.8 "$file" || exit 1
	done
done
[ -n "$found" ] || { echo "skipped: none of the libraries is installed"; exit 77; }
# Of a file too large to be looked at in one go the windows are smaller than the gap: cold parts far from their functions
# (x86-64: 5 % of the text) may be taken for functions there.
for file in /usr/lib/gcc/*-linux-gnu*/*/cc1plus; do
	[ ! -e "$file" ] || "$1" --bare --every 1000 93 "$file" || exit 1
done
