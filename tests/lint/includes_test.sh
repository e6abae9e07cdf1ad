#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests includes.py: a clean tree passes, and each kind of injected violation is found.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0 failed=0

expect() { # name, wanted exit status
	local status=0
	python3 "$here/includes.py" "$tree" >"$tree/out" || status=$?
	if [ "$status" = "$2" ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "$1: exit $status, not $2"
		cat "$tree/out"
	fi
}

mkdir -p "$tree"/{base,binary/{elf,isa},collector,recipes,unwinder,symbolize,structure,profile,report,recording,verify,cmd}
for folder in base binary collector recipes unwinder symbolize structure profile report recording verify cmd; do
	echo '#include "base/bytes.h"' >"$tree/$folder/a.c"
done
expect clean 0
echo '#include "report/tree/view.h"' >"$tree/unwinder/b.c"
expect 'a header from the right' 1
rm "$tree/unwinder/b.c"
echo '#include "binary/elf/image.h"' >"$tree/base/b.c"
expect 'base includes binary' 1
rm "$tree/base/b.c"
echo '#include "view.h"' >"$tree/report/b.c"
expect 'a header without its folder' 1
rm "$tree/report/b.c"
echo '#include <libelf.h>' >"$tree/symbolize/b.c"
expect 'libelf in a second file' 1
rm "$tree/symbolize/b.c"
echo '#include <linux/perf_event.h>' >"$tree/unwinder/b.c"
expect 'perf_event outside the collector' 1
rm "$tree/unwinder/b.c"
echo '#include "binary/isa/isa.h"' >"$tree/binary/elf/b.c"
expect 'a subfolder from the right' 1
rm "$tree/binary/elf/b.c"
echo '#include "binary/elf/image.h"' >"$tree/binary/isa/b.c"
expect 'a subfolder from the left' 0
rm "$tree/binary/isa/b.c"
mkdir "$tree/binary/new"
echo '#include "binary/elf/image.h"' >"$tree/binary/new/b.c"
expect 'a subfolder without a place in the order' 1
rm -r "$tree/binary/new"
echo '#include "report/b.h"' >"$tree/report/a.h"
echo '#include "report/a.h"' >"$tree/report/b.h"
expect 'two files that include each other' 1
rm "$tree/report"/[ab].h
echo 'uint64_t look(struct cursor *c) { return c->private_.frame->value[0]; }' >"$tree/unwinder/b.c"
expect 'a register read that bypasses the cursor' 1
mv "$tree/unwinder/b.c" "$tree/unwinder/recall.c"
expect 'a register read by recall' 0
rm "$tree/unwinder/recall.c"
echo 'uint64_t look(const struct sample *sample) { return sample->regs.value[0]; }' >"$tree/unwinder/b.c"
expect 'a read of a register of the sample' 1
rm "$tree/unwinder/b.c"
echo 'void look(struct memory *m, uint64_t *ret) { memory_peek(m, 8, 8, ret); }' >"$tree/unwinder/b.c"
expect 'a memory read that bypasses the cursor' 1
rm "$tree/unwinder/b.c"
expect 'clean again' 0

echo "tally: $passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
