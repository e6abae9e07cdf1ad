#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_kinds: what a thread waits for is told from where it is in the kernel: a program that waits once in each way.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root sees threads wait"
# Without BPF the kernel chooses which waits are sampled, unless all are wanted.
for how in "" "--switch-records --max-switches 1000000"; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how -o kinds.data -- "$BUILD/tests/e2e/kinds"
	cp run.log kinds.log
	"$CPPROF" report --view waits --percent-limit 0 --format json kinds.data >kinds.json || fail "no report of waits"
	python3 - <<-'PYTHON' || fail "what the program waited for is not what the profile says $how"
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
		    # It may have had to wait for a CPU, too, at each of many short waits even for most of the time.
		    least = 1 if kind == "disk" else 40 # how long that takes is not for the program to say
		    is_right = found.get(kind, 0) >= least and found[kind] >= 0.5 * sum(found[k] for k in found if k != "runnable")
		    print("right:" if is_right else "wrong:", name, kind, {k: round(v, 1) for k, v in found.items()})
		    n += 1
		    n_wrong += not is_right
		assert n >= 10 and not n_wrong
	PYTHON
done
