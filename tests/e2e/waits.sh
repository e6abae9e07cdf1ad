#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits: where threads wait, for what and how long, is what they measure themselves; with and without unwind
# tables and frame pointers.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ]; then
	echo "skipped: only root sees threads wait"
	exit 77
fi

# judge PROFILE TRUTH: the shares of each path against what the program printed.
judge() {
	for metric in off-cpu wall waits; do
		"$CPPROF" report --view tree --percent-limit 0 --metric $metric --format json "$1" >"$metric.json" ||
			fail "no report by $metric"
	done
	"$CPPROF" report --view waits --percent-limit 0 --format json "$1" >kinds.json || fail "no report of waits"
	python3 "$SOURCE/tests/e2e/waits.py" "$2" || fail "$1 is not what the program has measured"
}

for program in waits waits_fp waits_bare; do
	run 0 "$CPPROF" record --wall --raw $program.raw -o $program.data -- "$BUILD/tests/e2e/$program" 1200
	grep _here run.log >$program.truth
	judge $program.data $program.truth
done

# Without BPF the kernel may skip one of few waits. Then its path is not known, but none is said to have waited for longer than it did.
for _ in 1 2 3; do
	run 0 "$CPPROF" record --off-cpu --switch-records -o records.data -- "$BUILD/tests/e2e/waits" 1200
	grep _here run.log >records.truth
	"$CPPROF" report --view waits --percent-limit 0 --limit 0 --format json records.data >records.json || fail "no report"
	python3 - <<-'PYTHON' || fail "a path has waited for longer than it did"
		import json, sys
		truth = {name: float(ms) for name, ms, _ in (line.split() for line in open("records.truth"))}
		got = dict.fromkeys(truth, 0)
		for row in json.load(open("records.json"))["rows"]:
		    for name in truth:
		        got[name] += row["off_cpu_ns"] / 1e6 * (name in row["path"] and "runnable" != row["kind"])
		print({name: (got[name], truth[name]) for name in truth})
		sys.exit(any(got[name] > 1.05 * truth[name] + 5 for name in truth if name != "run_here"))
	PYTHON
done
run 0 "$CPPROF" record --off-cpu -o one.data -- "$BUILD/tests/e2e/waits" 1200 one
grep _here run.log >one.truth
"$CPPROF" report one.data >one.log || fail "no report"
grep -q 'of off-cpu' one.log || fail "waits are not what it goes by"

# Of a flood only few waits are sampled, and almost all of them are short ones: they must not stand for the long ones, too.
run 0 "$CPPROF" record --off-cpu -o mixed.data -- "$BUILD/tests/e2e/mixed" 2
grep _wait run.log >mixed.truth
"$CPPROF" report --view tree --percent-limit 0 --limit 0 --metric off-cpu --format json mixed.data >mixed.json || fail "no report"
if ! grep -q 'waits are not timed in the kernel' run.log; then
	python3 - <<-'PYTHON' || fail "a long wait among short ones is shown as one of those"
		import json, sys
		truth = {name: float(ms) for name, ms in (line.split() for line in open("mixed.truth"))}
		got = dict.fromkeys(truth, 0)
		for row in json.load(open("mixed.json"))["rows"]:
		    if row["name"] in got:
		        got[row["name"]] += row["total"] / 1e6
		print({name: (got[name], truth[name]) for name in truth})
		sys.exit(abs(got["long_wait"] - truth["long_wait"]) > 0.05 * truth["long_wait"] + 10 or got["short_wait"] > 1.02 * truth["short_wait"] + 10)
	PYTHON
fi

# A lock that is handed on while others wait for it: who held it longest is not who let go of it last. The same from the raw records.
run 0 "$CPPROF" record -q --off-cpu --raw queue.raw -o queue.data -- "$BUILD/tests/e2e/waits" 1200 queue
grep queue_here run.log >queue.truth
run 0 "$CPPROF" import -q -o queue.again.data queue.raw
for profile in queue queue.again; do
	"$CPPROF" report --view waits --percent-limit 0 --format json $profile.data >queue.json || fail "no report"
	"$CPPROF" report --view waits $profile.data >queue.log || fail "no report"
	python3 - <<-'PYTHON' || fail "$profile.data does not say who held the lock"
		import json
		waited = float(open("queue.truth").read().split()[1])
		rows = [row for row in json.load(open("queue.json"))["rows"] if "queue_here" in row["path"] and row["kind"] == "futex"]
		print(f"queue_here waited {waited} ms:", rows)
		if any("woken_by" in row for row in rows): # else waits are not timed in the kernel here
		    row = rows[0]
		    assert row["woken_by"] == "second" and "run_second" in row["woken_in"] and row["woken_by_ns"] >= 0.9e6 * waited
		    assert row["held_by"] == "first" and 0.5e6 * waited <= row["held_by_ns"] <= 0.95e6 * waited
		    assert "held longest by first" in open("queue.log").read()
	PYTHON
done
"$CPPROF" check queue.data one.data || fail "profiles of waits are not consistent"
run 0 "$CPPROF" merge -o merged.data queue.data one.data

# As many as perf counts in the same run, within 1 %. perf counts from exec on, we have those few that came before, too: so there are many.
if command -v perf >/dev/null; then
	run 0 "$CPPROF" record -q --off-cpu --no-resolve -o stat.data -- \
		perf stat -x, -e context-switches -o stat.log "$BUILD/tests/e2e/waits" 600 crowd
	theirs=$(awk -F, '$3 == "context-switches" { print $1 }' stat.log)
	ours=$("$CPPROF" report --process waits --group-by process --metric waits --format json stat.data |
		python3 -c 'import json, sys; print(sum(row["total"] for row in json.load(sys.stdin)["rows"]))')
	echo "perf stat: $theirs switches, we: $ours"
	[ "$theirs" -gt 5000 ] && [ $((100 * (ours > theirs ? ours - theirs : theirs - ours))) -le "$theirs" ] ||
		fail "perf counts $theirs switches, we $ours"
fi

# Attached: threads that wait already count from then on; all of a thread's time is on a CPU or off.
start "$BUILD/tests/e2e/waits" 6000
sleep "$(slow 0.5)"
run 0 "$CPPROF" attach --wall -p "$pid" -d 1.5 -o attached.data
facts attached.data
"$CPPROF" report --group-by thread --metric wall --format json attached.data >attached.json || fail "no report by thread"
"$CPPROF" report --view waits attached.data >attached.log || fail "no waits"
grep -q 'waiting when the recording began' attached.log || fail "nothing says that threads were waiting"
! grep -q 'other .*\[incomplete stacks\]' attached.log || fail "waits whose place is not known are of a kind"
python3 - "$(number duration_ms)" <<-'PYTHON' || fail "threads x elapsed is not CPU and waits"
	import json, sys
	elapsed = float(sys.argv[1])
	rows = json.load(open("attached.json"))["rows"]
	print(f"{elapsed} ms:", [round(row["total"] / 1e6, 1) for row in rows])
	assert len(rows) >= 7
	total = sum(row["total"] for row in rows) / 1e6
	assert abs(total - elapsed * len(rows)) <= 0.02 * elapsed * len(rows) + 30, (total, elapsed * len(rows))
PYTHON

# Samples begin later than the recording: so do waits, also those that go on then, and those of children. That nothing counts from before
# is exact. How much counts is not: samples begin when cpprof is next on a CPU after the delay, which on a busy machine is some time later, and
# nothing but cpprof knows when. So the least is far below the 1500 ms that an idle machine shows.
for how in "" --switch-records; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how --delay 0.5 --no-resolve -o later.data -- sh -c 'sleep 2; sleep 0.1; true'
	"$CPPROF" report --group-by thread --metric off-cpu --format json later.data >later.json || fail "no report"
	facts later.data
	python3 - "$(number duration_ms)" <<-'PYTHON' || fail "waits that had begun are missing, or count from before --delay $how"
		import json, sys
		elapsed = float(sys.argv[1])
		rows = sorted(row["total"] / 1e6 for row in json.load(open("later.json"))["rows"])
		print(f"waited after the first 500 of {elapsed} ms: {rows}")
		assert len(rows) == 3 and all(300 <= row <= elapsed - 490 for row in rows[1:])
	PYTHON
done

# The same from the raw records.
run 0 "$CPPROF" import -q -o again.data waits.raw
judge again.data waits.truth
# The program that takes the samples runs inside the switch: its own frames are not the thread's.
for profile in waits again; do
	"$CPPROF" report --view tree --percent-limit 0 --metric off-cpu --format json $profile.data >frames.json || fail "no report"
	python3 - <<-'PYTHON' || fail "$profile.data has frames of the program that samples"
		import json
		names = {row["name"] for row in json.load(open("frames.json"))["rows"]}
		assert "__schedule" in names, names
		assert not [name for name in names if "bpf" in name or "traceiter" in name or "cpprof" in name], names
	PYTHON
done

# A wait that goes on is cut where the recording ends, and the profile says so.
run 0 "$CPPROF" record --off-cpu -d 0.5 -o cut.data -- sleep 3
"$CPPROF" report --view waits cut.data >cut.log || fail "no report"
grep -q 'sleep' cut.log || fail "the sleep is not there"
grep -q 'had not ended when the recording ended' cut.log || fail "nothing says that it was cut"

# A process that forks, and one that execs, while threads of it wait: no wait is lost, or counted twice.
cat >change.py <<-'PYTHON'
	import os, threading, time
	threading.Thread(target=threading.Event().wait, daemon=True).start()
	time.sleep(0.2)
	if os.fork() == 0:
	    time.sleep(0.3)
	    os._exit(0)
	time.sleep(0.1)
	os.execvp("sleep", ["sleep", "0.4"])
PYTHON
for how in "" --switch-records; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how --no-resolve -o change.data -- python3 change.py
	facts change.data
	"$CPPROF" report --group-by thread --metric off-cpu --format json change.data >change.json || fail "no report"
	python3 - "$(number duration_ms)" <<-'PYTHON' || fail "waits amid fork and exec are wrong $how"
		import json, sys
		elapsed = float(sys.argv[1])
		rows = sorted(row["total"] / 1e6 for row in json.load(open("change.json"))["rows"])
		print(f"waited amid fork and exec, in {elapsed} ms: {rows}")
		assert all(row <= elapsed + 10 for row in rows)
		# The child, the waiter, the first thread; what starts python3 may have others.
		assert all(row >= least for row, least in zip(rows[-3:], [295, 295, 695]))
	PYTHON
done

# Without the program nothing tells when a thread was woken; how long it was kept from running is known by thread. Threads that share a CPU
# and never wait are off it for no other reason.
run 0 "$CPPROF" record -q --wall --switch-records --no-resolve -o kept.data -- taskset -c 0 "$SPIN" 2 threads=2
for metric in off-cpu kept-from-running; do
	"$CPPROF" report --group-by thread --metric $metric --format json kept.data >kept.$metric.json || fail "no report by $metric"
done
python3 - <<-'PYTHON' || fail "threads that share a CPU were not kept from running"
	import json
	off, kept = ({row["tid"]: row["total"] for row in json.load(open(f"kept.{metric}.json"))["rows"]} for metric in ("off-cpu", "kept-from-running"))
	for tid in off:
	    print(f"{tid}: {off[tid] / 1e6:.1f} ms off the CPU, {kept.get(tid, 0) / 1e6:.1f} of them kept from running")
	assert len(off) == 3 and all(off[tid] / 2 <= kept[tid] <= 1.05 * off[tid] + 1e7 for tid in off)
PYTHON

# So no row claims that a thread was blocked, but for the time after it was woken; with the program, each is one or the other.
# Without the program the kernel may leave out waits of a thread that has just started: the rate asks for all.
for how in "" "--switch-records --max-switches 1000000"; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how -o either.data -- sh -c 'sleep 0.3; true'
	"$CPPROF" report --view waits --percent-limit 0 either.data >either.log || fail "no report of waits"
	"$CPPROF" report --view waits --percent-limit 0 --format json either.data >either.json || fail "no report of waits"
	grep -q 'sleep' either.log || fail "the sleep is not there $how"
	"$CPPROF" report either.data >summary.log || fail "no report"
	tr '\n' ' ' <summary.log | grep -q 'By kind:.*The heaviest wait is' || fail "the report does not begin with waits $how"
	grep -q '^heaviest waits' summary.log || fail "the report has no waits $how"
	! grep -q 'hottest function' summary.log || fail "the report of waits names a hottest function $how"
	if [ -n "$how" ] || ! grep -q '"runnable"' either.json; then
		grep -q 'sleep or runnable' either.log || fail "nothing says that it may have been runnable $how"
		grep -q '"or_runnable": *true' either.json || fail "nothing says in JSON that it may have been runnable $how"
	else
		! grep -q 'or runnable' either.log || fail "waits that are split say that they may have been runnable"
	fi
done

# However many threads there are: few waits are sampled, all are counted; also where switches are recorded instead.
for how in "" --switch-records; do
	# shellcheck disable=SC2086
	run 0 "$CPPROF" record -q --off-cpu $how --max-switches 20 --no-resolve -o crowd.data -- "$BUILD/tests/e2e/waits" 1500 crowd
	sleeps=$(grep -x '[0-9]*' run.log)
	"$CPPROF" report --group-by process --metric waits --format json crowd.data >crowd.json || fail "no report"
	facts crowd.data
	python3 - "$sleeps" "$(number samples)" <<-'PYTHON' || fail "--max-switches does not hold, or waits are missing $how"
		import json, sys
		sleeps, samples = int(sys.argv[1]), int(sys.argv[2])
		waits = sum(row["total"] for row in json.load(open("crowd.json"))["rows"])
		print(f"{sleeps} sleeps, {waits} waits, {samples} samples")
		assert sleeps <= waits and samples - 200 <= waits / 100 # one of each thread, to begin with
	PYTHON
done

# What cannot be, and what it says.
run 2 "$CPPROF" record --off-cpu -u -- true
run 2 "$CPPROF" record --off-cpu -e cycles -- true
run 2 "$CPPROF" report --view waits --format csv waits.data

# Without rights: how long is known, where is approximate, and nothing claims otherwise.
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$level" -ge 2 ] && command -v setpriv >/dev/null; then
	mkdir nobody
	cp "$CPPROF" "$BUILD/tests/e2e/waits" nobody
	chmod 755 nobody/*
	chown 65534:65534 nobody
	as_nobody() { (cd nobody && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"); }
	run 0 as_nobody ./cpprof record --wall --no-cache -o near.data -- ./waits 600
	grep _here run.log >near.truth
	says "its place is approximate"
	"$CPPROF" report --view waits --percent-limit 0 --format json nobody/near.data >near.json || fail "no report"
	python3 - <<-'PYTHON' || fail "the waits of an own process are wrong"
		import json
		rows = json.load(open("near.json"))["rows"]
		waited = sum(float(line.split()[1]) for line in open("near.truth"))
		total = sum(row["off_cpu_ns"] for row in rows) / 1e6
		print(f"approximate: {total:.0f} ms in all, {waited:.0f} of them in the threads that measure")
		assert rows and all(row["kind"] == "approximate" for row in rows)
		assert waited < total < 4 * waited
	PYTHON
	"$CPPROF" report --metric off-cpu nobody/near.data >metric.log 2>&1 && fail "approximate waits pass for exact ones"
	run 3 as_nobody ./cpprof record --off-cpu --no-cache -o not.data -- ./waits 10
	says "cannot record where threads wait"
fi
