#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --raw writes the same samples as the profile has, in a perf.data file that both cpprof and perf can read.
. "$(dirname "$0")/lib.sh"
ln -s "$SPIN" spin_child

samples_in() {
	"$CPPROF" inspect events "$1" 2>inspect.log | awk '$2 == "sample"' | wc -l
}

run 0 "$CPPROF" record -o a.data --raw a.raw -- "$SPIN" 0.8 threads=2 child="$HERE/spin_child"
facts a.data
[ "$(samples_in a.raw)" = "$(number samples)" ] || fail "$(samples_in a.raw) raw samples, $(number samples) in the profile"
"$CPPROF" inspect events a.raw | grep -q 'exec .*spin_child' || fail "the child's exec is not in the raw file"

# attach: existing mappings are recorded as well.
start "$SPIN" 300 threads=1
sleep "$(slow 0.3)"
run 0 "$CPPROF" attach -p "$pid" -d 0.5 -o b.data --raw b.raw
facts b.data
[ "$(samples_in b.raw)" = "$(number samples)" ] || fail "$(samples_in b.raw) raw samples, $(number samples) in the profile"
"$CPPROF" inspect events b.raw | grep -q 'mapping .*/spin$' || fail "the target's mapping is not in the raw file"

# JIT code (not in any file) is stored in the raw recording, so importing it gives the same stacks.
cc -O2 -I"$SOURCE/tests/stacks" "$SOURCE/tests/stacks/jit.c" -o jit 2>cc.log || skip "no C compiler (the rest passed)"
# The same if another thread than the main thread runs it.
cat >thread.c <<'END'
#include <pthread.h>
int jit_main(void);
static void *run(void *nothing) { return jit_main() ? &run : nothing; }
int main(void) { pthread_t thread; void *got = &thread; return pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, &got) || got; }
END
cc -O2 -I"$SOURCE/tests/stacks" -Dmain=jit_main -c "$SOURCE/tests/stacks/jit.c" -o jit.o 2>cc.log && cc -O2 thread.c jit.o -o jit_thread -lpthread 2>cc.log ||
	fail "cannot build jit_thread"
# The same if its memory is mapped twice, from an unnamed file.
cc -O2 -DMAPPED_TWICE -I"$SOURCE/tests/stacks" "$SOURCE/tests/stacks/jit.c" -o jit_twice 2>cc.log || fail "cannot build jit_twice"
ends_of() { "$CPPROF" report "$1" --view quality --format json | tr -d ' \n' | grep -o '"by_end":{[^}]*}'; }
for program in jit jit_thread jit_twice; do
	for workers in 1 2; do
		run 0 "$CPPROF" record -o j.data --no-resolve --workers $workers --raw j.raw -- ./$program
		run 0 "$CPPROF" import -o i.data j.raw
		[ "$(ends_of j.data)" = "$(ends_of i.data)" ] ||
			fail "stacks of $program, with $workers workers, end differently after import: $(ends_of j.data), $(ends_of i.data)"
		"$CPPROF" inspect events j.raw | grep -q ' code .* bytes$' || fail "no code of $program is in the raw recording"
	done
done

run 1 "$CPPROF" record -o c.data --raw /no/such/folder/c.raw -- "$SPIN" 0.1
says "cannot write '/no/such/folder/c.raw'"

# Deep stacks: what was copied beyond the snapshot is a separate event in the raw file, not a sample.
run 0 "$CPPROF" record -o d.data --raw d.raw -- "$BUILD/tests/e2e/paths" 0.5 500 2000
facts d.data
[ "$(samples_in d.raw)" = "$(number samples)" ] || fail "$(samples_in d.raw) raw samples of deep stacks, $(number samples) in the profile"

command -v perf >/dev/null || skip "perf is not installed, to read the raw files (the rest passed)"
for file in a b d; do
	facts $file.data
	perf script -i $file.raw -F comm,tid,ip,sym >script.log 2>&1 || fail "perf script cannot read $file.raw"
	[ $file = d ] || grep -q burn script.log || fail "perf script does not show burn in $file.raw"
	perf script -i $file.raw --ns -G -F time,event,ip 2>/dev/null |
		awk '$2 != "deep-stack:" { gsub(/[.:]/, "", $1); print $1, $3 }' | sort >perf.txt
	n=$(wc -l <perf.txt)
	[ "$n" = "$(number samples)" ] || fail "perf sees $n samples, not $(number samples)"
	"$CPPROF" inspect stacks $file.raw | sed -E 's/.*"time":([0-9]+).*"pcs":\["0x([0-9a-f]+)".*/\1 \2/' | sort >ours.txt
	diff perf.txt ours.txt >diff.log || fail "perf and cpprof show different leaf addresses"
done
exit 0
