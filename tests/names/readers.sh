#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our reader of debug information, libdwarf and libdw agree on programs built in many ways, and a crash in a library does
# not crash cpprof.
. "$(dirname "$0")/lib.sh"
need gcc g++ python3 readelf objcopy

cp "$TESTS/../oracle/programs/lists.c" "$TESTS/../oracle/programs/shapes.cc" .
gcc -O2 -g -gdwarf-5 -o c lists.c || fail "cannot compile"
g++ -std=c++17 -DQUICK -O1 -g -gdwarf-5 -o cxx shapes.cc || fail "cannot compile"
"$CPPROF" verify names --json c >json.log 2>err.log || fail "verify names"
built=()
for reader in libdwarf libdw; do
	grep -q "\"$reader\":" json.log && built+=($reader)
	grep -q "\"$reader\":" json.log || echo "not checked, cpprof was built without it: $reader"
done
[ ${#built[@]} -gt 0 ] || skip "cpprof was built with neither libdwarf nor libdw"

# agrees FILE: most addresses are compared, and all differences are known errors of the library.
agrees() {
	"$CPPROF" verify names --every 3 --json "$1" >json.log 2>err.log || fail "verify names $1"
	"$CPPROF" verify names --every 3 --limit 3 "$1" >text.log 2>err.log || fail "verify names $1"
	python3 - "$1" "${built[@]}" <<-'END' || fail "the readers differ on $1"
		import json, sys
		said = json.load(open('json.log'))
		for reader in sys.argv[2:]:
		    r = said[reader]
		    good = r['agree'] + r['known_errors'] == r['compared'] and r['agree'] > 0.9 * r['compared']
		    good = good and r['compared'] > 0.7 * said['addresses'] and r['stopped'] is None and r['version']
		    if said['addresses'] < 50 or not good:
		        sys.exit(f'{sys.argv[1]}: {reader}: {r}')
	END
}

# Without the startup code, which has no debug information and is a large part of such a small program: where the compiler ends a
# line table with an empty row, as on x86-64, libdw 0.188 gives all of it the line of that row.
for version in 2 3 4 5; do
	gcc -O2 -g -gdwarf-$version -nostartfiles -Wl,-e,main -o c-$version lists.c && agrees c-$version
done
agrees cxx
g++ -std=c++17 -DQUICK -O1 -g -gdwarf-5 -gdwarf64 -o cxx-64 shapes.cc && agrees cxx-64
g++ -std=c++17 -DQUICK -O1 -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section -o cxx-split shapes.cc && agrees cxx-split

# One address, read by all three.
vaddr=$(nm cxx | awk '$3 == "main" { print $1 }')
for reader in own "${built[@]}"; do
	echo "$vaddr" | "$CPPROF" inspect locations --no-cache --reader $reader cxx >$reader.txt 2>err.log || fail "--reader $reader"
	grep -q '"function":"main","file":"'"$HERE"'/shapes.cc"' $reader.txt || fail "--reader $reader does not know main"
	cmp -s own.txt $reader.txt || fail "--reader $reader gives a different result"
done

# Damaged files: whatever the library does, cpprof reports it.
python3 - <<-'END' || fail "cannot damage the program"
	import random
	rng = random.Random(1)
	whole = open('c', 'rb').read()
	start = whole.find(b'lists.c') // 2
	for i in range(40):
	    data = bytearray(whole)
	    for _ in range(30):
	        data[rng.randrange(start, len(data) - 3000)] = rng.randrange(256)
	    open(f'damaged-{i}', 'wb').write(data)
END
for i in {0..39}; do
	code=0
	"$CPPROF" verify names --every 1 damaged-$i >text.log 2>err.log || code=$?
	[ $code -lt 8 ] || fail "verify names of damaged-$i ended with $code"
done
exit 0
