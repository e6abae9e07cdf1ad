#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_kinds: the kind of a wait is derived from the kernel stack; checked on a program that waits once in each way.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root can record waits"
# Without BPF the kernel samples only some of the waits, unless --max-switches is high enough.
for how in "" "--switch-records --max-switches 1000000"; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how -o kinds.data -- "$BUILD/tests/e2e/kinds"
	cp run.log kinds.log
	"$CPPROF" report --view waits --percent-limit 0 --format json kinds.data >kinds.json || fail "no report of waits"
	python3 - <<-'PYTHON' || fail "the kinds of waits in the profile are wrong $how"
		import json
		rows = json.load(open("kinds.json"))["rows"]
		n_wrong = n = 0
		for line in open("kinds.log"):
		    name, kind = line.rstrip("\n").split(" ", 1)
		    if name == "skipped":
		        print("skipped:", kind)
		        continue
		    found = {}
		    for row in rows:
		        if name in row["path"]:
		            found[row["kind"]] = found.get(row["kind"], 0) + row["off_cpu_ns"] / 1e6
		    # It may also have waited for a CPU; with many short waits, even for most of the time.
		    least = 1 if kind == "disk" else 40 # the program cannot determine how long disk access takes
		    is_right = found.get(kind, 0) >= least and found[kind] >= 0.5 * sum(found[k] for k in found if k != "runnable")
		    print("right:" if is_right else "wrong:", name, kind, {k: round(v, 1) for k, v in found.items()})
		    n += 1
		    n_wrong += not is_right
		assert n >= 10 and not n_wrong
	PYTHON
done
