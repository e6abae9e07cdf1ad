#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same code with its debug information stored in different formats has the same names, files and lines at every address.
. "$(dirname "$0")/lib.sh"
need gcc g++ readelf objcopy

programs=$TESTS/../oracle/programs
cp "$programs/lists.c" "$programs/shapes.cc" .

# addresses FILE: every eighth byte of its .text, to addresses.
addresses() {
	local start size
	read -r start size < <(readelf -SW "$1" | sed -n 's/.* \.text  *PROGBITS  *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p')
	for ((at = 16#$start; at < 16#$start + 16#$size; at += 8)); do printf '%x\n' $at; done >addresses
}

# all_of FILE [OPTION...]: the locations of these addresses.
all_of() {
	"$CPPROF" inspect locations --no-cache "$@" <addresses 2>err.log || fail "inspect locations $1"
}

# plain COMPILER ARGS...: builds the reference program.
plain() {
	mkdir -p plain
	"$@" -o plain/program 2>compile.log || fail "cannot compile"
	addresses plain/program
	all_of plain/program >expected
	[ "$(grep -c '"inlined":true' expected)" -gt 20 ] || fail "the program has no inlined calls"
	[ "$(grep -c '"line":[1-9]' expected)" -gt 100 ] || fail "the program has no lines"
}

# equals WHAT FILE: FILE has the same location as the reference at every address.
equals() {
	all_of "$2" >found.txt
	cmp -s expected found.txt && return
	diff expected found.txt | grep -m4 '^[<>]' >difference.log
	fail "$1: $(diff expected found.txt | grep -c '^>') of $(wc -l <expected) addresses have a different location"
}

# compiles WHAT COMPILER ARGS...: the same for a program built in this way.
compiles() {
	local what=$1
	shift
	"$@" -o program 2>compile.log || { echo "not checked, not supported by this compiler: $what"; return; }
	equals "$what" program
	rm -f program ./*.dwo
}

for language in c cxx; do
	compiler=gcc source=lists.c
	[ $language = c ] || compiler="g++ -DQUICK" source=shapes.cc
	plain $compiler -O2 -g -gdwarf-5 $source
	compiles "$language with 64-bit offsets" $compiler -O2 -g -gdwarf-5 -gdwarf64 $source
	compiles "$language, split" $compiler -O2 -g -gdwarf-5 -gsplit-dwarf $source
	compiles "$language, split, types apart" $compiler -O2 -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section $source
	compiles "$language, types apart" $compiler -O2 -g -gdwarf-5 -fdebug-types-section $source
	for way in zlib zstd; do
		objcopy --compress-debug-sections=$way plain/program program 2>compile.log || { echo "not checked: $way"; continue; }
		equals "$language, $way" program
	done
done

# dwz, in one file; and two programs with a shared dwz file, identified by build-id or, in DWARF 5, by .debug_sup.
command -v dwz >/dev/null || { echo "not checked, no dwz"; exit 0; }
dwz -o program plain/program 2>compile.log || fail "dwz"
equals "dwz" program
g++ -DQUICK -O1 -g -gdwarf-5 shapes.cc -o second
for version in "" -5; do
	rm -rf shared
	mkdir shared
	cp plain/program shared/program
	cp second shared/second
	dwz $version -m shared/common -M "$HERE/shared/common" shared/program shared/second 2>compile.log || fail "dwz $version -m"
	equals "dwz $version -m" shared/program
	# Without the shared file, functions whose names are in it are shown as "??".
	mv shared/common shared/away
	all_of shared/program >found.txt
	warns "refers to '$HERE/shared/common', which is missing"
	grep -q '"function":"??"' found.txt || fail "dwz $version: no function without a name"
	grep -q '"function":""' found.txt && fail "dwz $version: an empty name"
	# Another file in its place is refused.
	cp shared/away shared/common
	python3 - "$HERE/shared/common" <<-'END' || fail "cannot change the id"
		import sys
		data = bytearray(open(sys.argv[1], 'rb').read())
		note = data.find(b'GNU\0')
		at = note + 4 if note >= 0 else data.find(b'\5\0\1\0\x14') + 5
		assert at > 4
		data[at] ^= 0xff
		open(sys.argv[1], 'wb').write(data)
	END
	all_of shared/program >found.txt
	warns "dwz file '$HERE/shared/common' does not belong to 'shared/program': its \(build-\)\?id differs"
	grep -q '"function":"??"' found.txt || fail "dwz $version: a refused file was used"
done
exit 0
