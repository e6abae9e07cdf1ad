#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# cpprof-mpi gives the same file as cpprof merge with any number of processes; unreadable files are named, counted and
# noted, whichever process read them. usage: merge_mpi.sh openmpi|mpich PROGRAM MPIRUN
. "$(dirname "$0")/lib.sh"

if [ "$2" = none ] || ! [ -x "$3" ]; then
	echo "skipped: $1 is not installed"
	exit 77
fi
program=$2
mpirun=("$3")
# Allow more processes than CPUs, and root in a container.
[ "$1" != openmpi ] || mpirun+=(--allow-run-as-root --oversubscribe --mca btl_base_warn_component_unused 0)
export OMPI_MCA_btl=self,vader TMPDIR=/tmp
# No leak detection: the MPI library itself leaks.
export ASAN_OPTIONS=detect_leaks=0

for i in 1 2 3 4 5 6 7 8 9; do
	"$MAKE_PROFILE" "random:$i" "part-$i.data" || fail "cannot make a profile"
done

# by N CODE TEXT ARGUMENT...: cpprof-mpi with N processes exits with CODE and prints a message that contains TEXT.
by() {
	local n=$1 want=$2 text=$3 code=0
	shift 3
	timeout 120 "${mpirun[@]}" -n "$n" "$program" merge "$@" >said.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, not $want, of $n: merge $* ($(cat said.log))"
	[ -z "$text" ] || grep -qF -- "$text" said.log || fail "no message says '$text': merge $*"
}

for option in "" --reduce; do
	"$CPPROF" merge $option -o all.data part-*.data 2>/dev/null || fail "cannot merge"
	for n in 1 2 3 16; do
		rm -f by.data
		by $n 0 "9 files by $n processes" $option -o by.data part-*.data
		cmp all.data by.data || fail "$n processes give a different file ($option)"
	done
done

# A rank whose file is missing or damaged.
: >empty.data
"$CPPROF" merge -o some.data part-*.data empty.data missing.data 2>/dev/null
by 4 1 "2 of 11 files could not be merged" -o by.data part-*.data empty.data missing.data
cmp some.data by.data || fail "the notes about unreadable files differ"
grep -q "'missing.data'" said.log || fail "missing.data is not named"
by 3 1 "none of 2 files could be merged" -o never.data empty.data missing.data

# Errors are reported once.
by 2 2 "give an output file with -o FILE" part-1.data
[ "$(grep -c "give an output file" said.log)" = 1 ] || fail "an error is reported more than once"
ls part-*.data >list
by 2 0 "" -o by.data --files-from list
"$CPPROF" merge -o all.data part-*.data 2>/dev/null
cmp all.data by.data || fail "--files-from gives a different file"

# A file given to two processes is reported as a duplicate; an export includes the values of all processes.
by 2 0 "'part-1.data' is given twice and counted twice" -o by.data part-1.data part-1.data
"$CPPROF" merge -o all.folded part-*.data 2>/dev/null || fail "cannot export"
by 3 0 "" -o by.folded part-*.data
cmp all.folded by.folded || fail "the export of several processes differs"

# Real recordings, with names, loops and code: two architectures, several events, several processes.
for name in dwarf fp several x86_64; do
	"$CPPROF" import -q --symfs "$(root_of $name)" "$data/$name.data" -o real-$name.data || fail "cannot import $name"
done
"$CPPROF" merge -o all.data real-*.data part-*.data 2>/dev/null
for n in 2 5; do
	by $n 0 "" -o by.data real-*.data part-*.data
	cmp all.data by.data || fail "$n processes give a different file for real recordings"
done
