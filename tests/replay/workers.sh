#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The profile and its JSON export do not depend on the number of unwinding workers.
# usage: workers.sh SAME_PROFILE
. "$(dirname "$0")/lib.sh"
same=$1

# Without the fields that say how it was made.
plain() {
	"$CPPROF" export -f json -o - "$1" |
		sed -E 's/"command":"[^"]*"//; s/"id":"[^"]*"//; s/"overhead":\{[^}]*\}//; s/"cpprof import [^"]*"//'
}

for file in "$data"/*.data "$jit"/*.data; do
	name=$(basename "$file" .data)
	for n in 1 2 5; do
		"$CPPROF" import -q --no-resolve --workers $n --symfs "$(root_of "$name")" "$file" -o "$name.$n" || fail "$name: import with $n workers"
		plain "$name.$n" >"$name.$n.json"
	done
	"$same" "$name.1" "$name.2" "$name.5" || fail "$name: not the same profile"
	cmp "$name.1.json" "$name.2.json" && cmp "$name.1.json" "$name.5.json" || fail "$name: not the same json"
	[ -s "$name.1.json" ] || fail "$name: no json"
done

# All workers know code that is in no file: all stacks through it are complete.
for name in jit_aarch64 jit_x86_64; do
	for n in 1 2 5; do
		"$CPPROF" check "$name.$n" | grep -q ' 40 samples' || fail "$name, $n workers: not 40 samples"
		"$CPPROF" report --min-quality 100 "$name.$n" >said 2>&1 || fail "$name, $n workers: $(tail -1 said)"
	done
done
diff "$jit/jit_x86_64.truth" <("$CPPROF" inspect stacks --symfs "$(root_of jit_x86_64)" "$jit/jit_x86_64.data" |
	sed 's/.*"pcs":\[\([^]]*\)\].*/\1/; s/"//g; s/0x//g; s/,/ /g') || fail "jit_x86_64: not the true stacks"

# The comparison itself can fail.
"$same" dwarf.1 zstd.1 >said
[ $? = 1 ] || fail "same_profile accepts profiles of two different recordings"
# It compares the text of strings, not their numbers.
"$CPPROF" import -q --symfs "$(root_of dwarf)" "$data/dwarf.data" -o named || fail "import with names"
"$same" --reorder named reordered || fail "same_profile --reorder failed"
cmp -s named reordered && fail "same_profile --reorder did not change the order"
"$same" named reordered || fail "same_profile rejects a different order of strings"
"$same" named dwarf.1 >said
[ $? = 1 ] || fail "same_profile accepts a profile without names"

# Invalid numbers of workers: too many, or zero.
for n in 0 65 x; do
	"$CPPROF" import -q --workers $n "$data/dwarf.data" -o out 2>said
	[ $? = 2 ] || fail "--workers $n is not a usage error"
done
exit 0
