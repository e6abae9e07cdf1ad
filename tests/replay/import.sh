#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests import: every recording in tests/data becomes a complete profile with the known stacks, and recordings that cannot
# be read are rejected with the reason.
. "$(dirname "$0")/lib.sh"

import() { "$CPPROF" import --symfs "$(root_of "$1")" "$data/$1.data" "${@:2}"; }

# All samples of each recording are in the profile.
for file in "$data"/*.data; do
	name=$(basename "$file" .data)
	import "$name" -o "$name.cpprof" 2>"$name.said" || fail "import of $name.data failed: $(cat "$name.said")"
	wanted=$(grep -c ' sample  ' "$data/$name.events")
	"$CPPROF" check "$name.cpprof" | grep -q " $wanted samples" || fail "$name: not $wanted samples"
done

# Importing twice gives identical files: the cost of the import is not stored.
for folder in one two; do
	mkdir $folder
	(cd $folder && import dwarf -q --no-cache -o same.cpprof) || fail "import of dwarf.data failed"
done
cmp one/same.cpprof two/same.cpprof || fail "two imports of one recording differ"

# No leaks under the address sanitizer. Only once, as leak detection takes seconds.
ASAN_OPTIONS='' import several -q -o leaks.cpprof || fail "import leaks"
ASAN_OPTIONS='' "$CPPROF" inspect events "$data/zstd.data" >events || fail "inspect events leaks"

# Recordings of tower with registers and stacks are complete in every unwind mode.
for name in dwarf zstd stream x86_64; do
	for mode in auto cfi analysis; do
		import "$name" -q --unwind $mode --min-quality 100 -o out.cpprof || fail "$name, --unwind $mode: not complete"
	done
done

# The stacks of the x86-64 recording are the program's true stacks.
for mode in auto cfi analysis; do
	"$CPPROF" inspect stacks --unwind $mode --symfs "$data/root-x86_64" "$data/x86_64.data" |
		sed 's/.*"pcs":\[\([^]]*\)\].*/\1/; s/"//g; s/0x//g; s/,/ /g' | diff -q - "$data/x86_64.truth" >/dev/null ||
		fail "x86_64, --unwind $mode: not the true stacks"
done

# If the binaries differ, one note says so, and the samples are kept.
"$CPPROF" import --symfs "$data/root-x86_64" "$data/buildid.data" -o other.cpprof 2>said
[ "$(grep -c 'some binaries on this machine are not the recorded ones' said)" = 1 ] || fail "no note that the binaries differ"
"$CPPROF" check other.cpprof | grep -q ' 32 samples' || fail "samples are lost with the binaries"

# Kernel functions get names from the recorded kernel, or none.
import several -o kernel.cpprof 2>said
[ "$(grep -c 'the recording was made on another kernel' said)" = 1 ] || fail "no note about the kernel"
"$CPPROF" export -f json kernel.cpprof | grep -q kernel_function_of_the_test && fail "a name of another kernel"
printf '%s T kernel_function_of_the_test\n' ffff800080000000 >kallsyms
import several --kallsyms kallsyms -o kernel.cpprof 2>said
grep -q 'made on another kernel' said && fail "a note about the kernel in spite of --kallsyms"
"$CPPROF" export -f json kernel.cpprof | grep -q kernel_function_of_the_test ||
	fail "--kallsyms gives no names"

# Standard input and output.
import stream -q -o - <"$data/stream.data" >direct.cpprof || fail "import to standard output"
"$CPPROF" import -q --symfs "$data/root-aarch64" -o - - < <(cat "$data/stream.data") >piped.cpprof ||
	fail "import through pipes"
for file in direct piped; do
	"$CPPROF" check $file.cpprof | grep -q ' 32 samples' || fail "$file.cpprof is not whole"
done

# The default output name; the previous profile is kept as .old.
import dwarf -q && import fp -q || fail "import to the default name"
"$CPPROF" check cpprof.data | grep -q ' 32 samples' && "$CPPROF" check cpprof.data.old | grep -q ' 31 samples' ||
	fail "cpprof.data and cpprof.data.old are not the last two profiles"

# A truncated recording gives the samples it has.
head -c 30000 "$data/dwarf.data" >cut.data
"$CPPROF" import --symfs "$data/root-aarch64" cut.data -o cut.cpprof 2>said || fail "a truncated recording failed: $(cat said)"
grep -q 'is truncated' said || fail "no note that the recording was truncated"

expect() {
	local code=$1 text=$2
	shift 2
	"$CPPROF" "$@" >said 2>&1
	[ $? = "$code" ] || fail "cpprof $*: not exit code $code"
	grep -q -- "$text" said || fail "cpprof $*: '$(cat said)' does not say '$text'"
}
expect 1 'No such file' import missing.data
expect 1 'not a perf.data file' import "$data/tower.c"
expect 1 'Is a directory' import "$data"
mkdir threads && touch threads/data
expect 1 'without `--threads`' import threads
expect 2 'give one recording' import
expect 2 'give one recording' import a b
expect 6 '--min-quality' import --symfs "$data/root-aarch64" --min-quality 100 "$data/several.data" -o out.cpprof
head -c 248 "$data/x86_64.data" >empty.data
expect 5 'no samples' import empty.data -o out.cpprof
exit 0
