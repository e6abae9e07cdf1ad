#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A unit that our reader cannot parse is read by libdwarf, which is reported; without libdwarf its functions keep their
# symbol names.
. "$(dirname "$0")/lib.sh"
need gcc readelf python3

cp "$TESTS/../oracle/programs/lists.c" .
mkdir whole broken unknown
gcc -O2 -g -gdwarf-5 -o whole/program lists.c || fail "cannot compile"
readelf -SW whole/program | sed -n 's/.* \.text  *PROGBITS  *\([0-9a-f]*\) [0-9a-f]* \([0-9a-f]*\) .*/\1 \2/p' | {
	read -r start size
	for ((at = 16#$start; at < 16#$start + 16#$size; at += 4)); do printf '%x\n' $at; done
} >addresses

# all FOLDER [OPTION...]: all locations that have a line, to FOLDER.txt.
all() {
	"$CPPROF" inspect locations "${@:2}" "$1/program" <addresses >all.txt 2>err.log || fail "inspect locations $1/program"
	grep '"line":[1-9]' all.txt >"$1.txt"
}
all whole --no-cache
grep -q '"inlined":true' whole.txt || fail "the program has no inlined calls"
libdwarf=yes
"$CPPROF" inspect locations --reader libdwarf whole/program <addresses >/dev/null 2>err.log || libdwarf=no

# damage KIND FOLDER: a copy of the program with debug information that our reader does not support.
damage() {
	readelf --debug-dump=info whole/program 2>/dev/null >info.txt
	readelf -SW whole/program >sections.txt
	python3 - "$1" "$2" <<-'END' || fail "cannot damage the program"
		import re, sys
		kind, name = sys.argv[1:]
		data = bytearray(open('whole/program', 'rb').read())
		info = int(re.search(r' \.debug_info +PROGBITS +\w+ (\w+)', open('sections.txt').read())[1], 16)
		if kind == 'abbreviation':  # of the first structure member: an undefined code
		    at = int(re.search(r'<([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_member\)', open('info.txt').read())[1], 16)
		    data[info + at] = 0x7f
		elif kind == 'version':  # of the unit: one that does not exist
		    data[info + 4] = 9
		open(name + '/program', 'wb').write(data)
	END
}

damage abbreviation broken
all broken --no-cache
if [ $libdwarf = yes ]; then
	warns "warning: cpprof cannot read all debug information of 'broken/program': [1-9][0-9]* functions\? named by libdwarf"
	cmp -s whole.txt broken.txt || { diff whole.txt broken.txt >difference.log; fail "locations differ from the whole file's"; }
	# libdwarf's results are not stored: they are only for these addresses.
	sed -n 20p addresses | "$CPPROF" inspect locations broken/program >/dev/null 2>err.log || fail "inspect locations with a store"
	all broken
	cmp -s whole.txt broken.txt || fail "libdwarf's results were stored"
	# The profile contains a note.
	chmod +x broken/program
	code=0
	"$CPPROF" record -q -o p.data -- broken/program $(seq 4000) >record.log 2>&1 || code=$?
	case $code in
	0 | 5)
		"$CPPROF" report p.data --view quality >quality.log 2>&1 || fail "report --view quality"
		grep -q "note: 'program' has debug information that cpprof cannot read: [1-9][0-9]* of its functions were named by libdwarf" \
			quality.log || fail "the profile does not say that libdwarf named the functions"
		;;
	*) echo "not checked, perf_event is not available here: the note in the profile" ;;
	esac
else
	grep -q '"inlined":true' broken.txt && fail "inlined calls without debug information"
	echo "not checked, cpprof was built without libdwarf: the warning about a refused unit"
fi

# Neither reader supports the version: the functions keep their symbol names.
damage version unknown
all unknown --no-cache
grep -q '"function":"main"' all.txt || fail "main has lost its name"
grep -q '"inlined":true' all.txt && fail "inlined calls without debug information"
exit 0
