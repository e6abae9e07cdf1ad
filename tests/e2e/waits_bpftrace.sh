#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_bpftrace: waits timed in the kernel, compared with bpftrace on the same context switches.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root may use BPF"
need bpftrace
# Keeps all CPUs busy, as in waits_perf.sh: the tracepoint misses switches from some threads, such as the idle threads.
for _ in $(seq "$(nproc)"); do
	start nice -n 19 "$SPIN" 15
done
need_tracing
cat >waits.bt <<-'END'
	BEGIN { printf("ready\n"); }
	tracepoint:sched:sched_switch
	{
		if (@left[args->next_pid]) {
			@ns[args->next_pid] = @ns[args->next_pid] + nsecs - @left[args->next_pid];
			@n[args->next_pid] = @n[args->next_pid] + 1;
			delete(@left[args->next_pid]);
		}
		if (!@over[args->prev_pid] && (args->prev_comm == "waits" || args->prev_comm == "helper")) {
			if (@left[args->prev_pid]) {
				@dropped[args->prev_pid] = 1;
			}
			@left[args->prev_pid] = nsecs;
		}
	}
	// An exiting thread may be switched out once more, but then has no stack.
	tracepoint:sched:sched_process_exit
	{
		if (@left[args->pid]) {
			@dropped[args->pid] = 1;
		}
		@over[args->pid] = 1;
	}
	END { clear(@left); clear(@over); }
END
start "${tracing[@]}" bpftrace waits.bt >bpftrace.log 2>bpftrace.err
tracer=$pid
for _ in $(seq $((200 * SLOW))); do
	grep -q ready bpftrace.log && break
	kill -0 "$tracer" 2>/dev/null || skip "bpftrace cannot trace here: $(tail -1 bpftrace.err)"
	sleep 0.05
done
run 0 "$CPPROF" record -q --off-cpu -o same.data -- "$BUILD/tests/e2e/waits" 900
for _ in 1 2 3; do # bpftrace may miss a signal
	kill -INT "$tracer" 2>/dev/null || break
	timeout 5 tail --pid="$tracer" -f /dev/null
done
wait "$tracer"
for metric in off-cpu waits; do
	"$CPPROF" report --group-by thread --metric $metric --process waits --format json same.data >same.$metric.json || fail "no report"
done
python3 - <<-'PYTHON'
	import json, re, sys
	def by_thread(metric):
	    rows = json.load(open(f"same.{metric}.json"))["rows"]
	    return {row["tid"]: row["total"] for row in rows if row["tid"] != row["pid"]} # the main thread had another name, too
	ours, n_ours = by_thread("off-cpu"), by_thread("waits")
	told = {"ns": {}, "n": {}, "dropped": {}}
	for line in open("bpftrace.log"):
	    found = re.match(r"@(ns|n|dropped)\[(\d+)\]: (\d+)", line)
	    if found:
	        told[found[1]][int(found[2])] = int(found[3])
	theirs, n_theirs = told["ns"], told["n"]
	assert len(ours) >= 6, ours
	whole = [tid for tid in ours if tid not in told["dropped"]]
	for tid in ours:
	    print(f"{tid}: {ours[tid] / 1e6:.2f} ms in {n_ours[tid]} waits; bpftrace {theirs.get(tid, 0) / 1e6:.2f} in {n_theirs.get(tid, 0)}")
	for tid in whole:
	    # At each switch, one of the two programs reads the clock only after the other has run. That takes microseconds, which matters for very short waits.
	    assert abs(ours[tid] - theirs[tid]) <= 0.02 * theirs[tid] + 2e4 * n_theirs[tid]
	    assert abs(n_ours[tid] - n_theirs[tid]) <= 0.01 * n_theirs[tid]
	if len(whole) < 3:
	    sys.exit(77)
PYTHON
case $? in
0) exit 0 ;;
77) skip "bpftrace dropped switches of nearly every thread" ;;
*) fail "bpftrace measured different waits in the same run" ;;
esac
