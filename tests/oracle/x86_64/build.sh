#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Rebuilds the object files in this folder (checked in, so that the tests need no cross compiler).
set -e
cd "$(dirname "$0")"
cc=${CC:-x86_64-linux-gnu-gcc}
"$cc" -c instructions.s -o instructions.o
for flags in "-O0" "-O2 -fcf-protection" "-O3 -march=x86-64-v4 -fno-pie"; do
	name=code$(echo "$flags" | cut -d' ' -f1).o
	# shellcheck disable=SC2086 # several flags
	"$cc" $flags -g0 -c code.c -o "$name"
	"${cc%gcc}strip" --strip-debug -R .comment -R .note.GNU-stack "$name"
done
