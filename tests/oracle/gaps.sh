#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares functions found window by window, as for samples, with those found by analysing the whole file, on libraries with
# much hand-written code. A long gap is searched in pieces: code shared by functions of two pieces may be taken for a function
# (x86-64: one address in 700 of libx264). Usage: gaps.sh GAPS
found=
for library in libc.so.6 libcrypto.so.3 libx264.so.164 libavcodec.so.59 libdav1d.so.6 libgmp.so.10; do
	for file in /usr/lib/*-linux-gnu*/"$library"; do
		[ -e "$file" ] || continue
		found=yes
		"$1" 99.8 "$file" || exit 1
	done
done
[ -n "$found" ] || { echo "skipped: none of the libraries is installed"; exit 77; }
# In a file that is too large to be analysed at once the windows are smaller than the gap: cold parts far from their
# functions (x86-64: 5 % of the text) may be taken for functions.
for file in /usr/lib/gcc/*-linux-gnu*/*/cc1plus; do
	[ ! -e "$file" ] || "$1" --bare --every 1000 93 "$file" || exit 1
done
