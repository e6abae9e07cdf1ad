#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests merge: the result is identical for any order and any tree of merges; lists of files work; unreadable files are
# named, counted and left out; duplicates are reported. usage: merge.sh
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4 5; do
	"$MAKE_PROFILE" "random:$i" "part-$i.data" || fail "cannot make a profile"
done

# merges CODE TEXT ARGUMENT...: merge exits with CODE and prints a message that contains TEXT.
merges() {
	local want=$1 text=$2 code=0
	shift 2
	timeout 60 "$CPPROF" merge "$@" >said.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, not $want, of: merge $* ($(cat said.log))"
	[ -z "$text" ] || grep -qF -- "$text" said.log || fail "no message says '$text': merge $*"
}

for option in "" --reduce; do
	merges 0 "wrote all.data" $option -o all.data part-1.data part-2.data part-3.data part-4.data part-5.data
	merges 0 "" $option -o other.data part-5.data part-3.data part-1.data part-2.data part-4.data
	cmp all.data other.data || fail "a different order gives a different file ($option)"
	merges 0 "" $option -o left.data part-5.data part-2.data
	merges 0 "" $option -o right.data part-3.data part-4.data
	merges 0 "" $option -o tree.data part-1.data right.data left.data
	cmp all.data tree.data || fail "a different tree gives a different file ($option)"
	"$CPPROF" check all.data >/dev/null || fail "the merged profile is inconsistent ($option)"
done
merges 1 "add --reduce to reduce the others" -o mixed.data part-1.data all.data
merges 0 "" -o plain.data part-1.data part-2.data
merges 1 "run merge --reduce on the files it was made from" --reduce -o mixed.data part-1.data plain.data

# Any number of files, from a list instead of the command line.
merges 0 "" -o all.data part-1.data part-2.data part-3.data part-4.data part-5.data
printf '%s\n' part-5.data part-4.data "" part-3.data >list
merges 0 "" -o listed.data --files-from list part-2.data part-1.data
cmp all.data listed.data || fail "--files-from gives a different file"
ls part-*.data | merges 0 "" -o listed.data --files-from -
cmp all.data listed.data || fail "--files-from - gives a different file"
merges 1 "cannot open the list of files 'nowhere'" -o listed.data --files-from nowhere
: >nothing
merges 2 "the list of files 'nothing' is empty" -o listed.data --files-from nothing

# The same file twice.
merges 0 "'part-1.data' is given twice and counted twice" -o twice.data part-1.data part-2.data part-1.data
ln part-1.data hard.data
merges 0 "'part-1.data' and 'hard.data' are the same file, which is counted twice" -o again.data part-1.data part-2.data hard.data
cmp twice.data again.data || fail "a hard link gives a different file"

# Unreadable files are named, counted and noted in the profile; the others are merged.
: >empty.data
head -c 700 part-4.data >cut.data
cp part-5.data damaged.data
printf '\377\377\377' | dd of=damaged.data bs=1 seek=900 conv=notrunc 2>/dev/null
rm -f good.data
merges 0 "" -o good.data part-1.data part-2.data
merges 1 "4 of 6 files could not be merged" -o some.data part-1.data empty.data cut.data damaged.data missing.data part-2.data
for name in empty cut damaged missing; do
	grep -q "'$name.data'" said.log || fail "$name.data is not named"
	"$CPPROF" report some.data >report.log || fail "the result cannot be read"
	grep -q "note: '$name.data' was not merged" report.log || fail "no note about $name.data"
done
samples() { "$CPPROF" check "$1" | sed 's/.* \([0-9]* samples\)$/\1/'; }
[ "$(samples some.data)" = "$(samples good.data)" ] || fail "samples of readable files are missing"
merges 1 "none of 2 files could be merged; nothing was written" -o never.data empty.data missing.data
[ ! -e never.data ] || fail "never.data was written"

# Profiles of two programs or architectures become two programs in one profile.
"$CPPROF" import -q --symfs "$data/root-aarch64" "$data/dwarf.data" -o arm.data || fail "cannot import"
"$MAKE_PROFILE" sample intel.data || fail "cannot make a profile"
merges 0 "" -o mixed.data arm.data intel.data
"$CPPROF" check mixed.data >/dev/null || fail "the profile of two programs is inconsistent"
merges 0 "" -o mixed2.data intel.data arm.data
cmp mixed.data mixed2.data || fail "a different order of two programs gives a different file"

# Real recordings, with names, loops and code: two architectures, several events, several processes.
for name in dwarf fp zstd buildid several x86_64; do
	"$CPPROF" import -q --symfs "$(root_of $name)" "$data/$name.data" -o real-$name.data || fail "cannot import $name"
done
merges 0 "" -o real.data real-dwarf.data real-fp.data real-zstd.data real-buildid.data real-several.data real-x86_64.data
merges 0 "" -o x.data real-several.data real-x86_64.data real-fp.data
merges 0 "" -o y.data real-zstd.data real-dwarf.data
merges 0 "" -o z.data y.data real-buildid.data
merges 0 "" -o tree.data z.data x.data
cmp real.data tree.data || fail "a different tree of real recordings gives a different file"
merges 0 "" -o left.data x.data y.data
merges 0 "" -o tree.data left.data real-buildid.data
cmp real.data tree.data || fail "(x + y) + z is not x + (y + z)"

# No space left.
if [ -w /dev/full ]; then
	merges 1 "No space left" -o /dev/full part-1.data part-2.data
fi
