#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java: importing a raw recording gives the same stacks, also with several workers; stacks of a loop that was compiled while
# it ran (on-stack replacement) are complete.
. "$(dirname "$0")/lib.sh"
command -v javac >/dev/null && command -v java >/dev/null || skip "no Java compiler"
javac -d . "$SOURCE/tests/bench/src/Bench.java" 2>javac.log || fail "cannot compile Bench.java"

ends_of() { "$CPPROF" report "$1" --view quality --format json | tr -d ' \n' | grep -o '"by_end":{[^}]*}'; }
complete_of() { ends_of "$1" | grep -o '"complete":[0-9]*' | cut -d: -f2; }

run 0 "$CPPROF" record -o j.data --no-resolve --raw j.raw -- java -cp . Bench 30
run 0 "$CPPROF" import -o i.data --no-resolve j.raw
[ "$(ends_of j.data)" = "$(ends_of i.data)" ] || fail "stacks end differently after import: $(ends_of j.data), $(ends_of i.data)"

# With several workers, each reads JIT code on its own, at different times: the result is nearly the same.
run 0 "$CPPROF" record -o j.data --no-resolve --workers 2 --raw j.raw -- java -cp . Bench 30
run 0 "$CPPROF" import -o i.data --no-resolve j.raw
facts j.data
before=$(complete_of j.data) after=$(complete_of i.data)
difference=$((before > after ? before - after : after - before))
[ $((difference * 200)) -le "$(number samples)" ] || fail "with 2 workers, $before stacks are complete, $after after import"

# A loop that is compiled while it runs and never returns. After 3 s, nothing but the compiled code runs.
cat >Loop.java <<'END'
public class Loop
{
	static int[] data = new int[4096];
	public static void main(String[] arguments)
	{
		long sum = 0;
		for (long i = 0; i >= 0; i++) {
			int at = (int)i * 31 + (int)sum;
			data[at >>> 3 & 4095] += at;
			for (int j = 0; j < 64; j++)
				sum += data[at + j & 4095] ^ sum >>> 7;
		}
		System.out.println(sum);
	}
}
END
javac -d . Loop.java 2>javac.log || fail "cannot compile Loop.java"
start java -cp . Loop
sleep 3
run 0 "$CPPROF" attach -p "$pid" -d 2 -o l.data --no-resolve --raw l.raw
run 0 "$CPPROF" import -o i.data --no-resolve l.raw
facts l.data
[ "$(number samples)" -gt 100 ] || skip "only $(number samples) samples of a busy loop (the rest passed)"
[ $(($(complete_of l.data) * 100)) -ge $(($(number samples) * 99)) ] || fail "stacks of a loop compiled while it ran are not complete: $(ends_of l.data)"
[ "$(ends_of l.data)" = "$(ends_of i.data)" ] || fail "they end differently after import: $(ends_of l.data), $(ends_of i.data)"
exit 0
