#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the live tests inside the emulated machine, as its init process, then powers it off. Lines that start with
# "machine: " are for run.sh. /cpprof/wanted has the names of the tests to run; empty: all.
export PATH=/usr/bin:/usr/sbin HOME=/root TMPDIR=/tmp LC_ALL=C.UTF-8
export SLOW=4 # factor by which test programs run longer and scripts wait longer
export SOURCE=/cpprof/source BUILD=/cpprof/build CPPROF=/cpprof/build/cmd/cpprof
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /tmp
mount -t tmpfs none /run
mkdir -p /dev/shm /dev/pts
mount -t tmpfs none /dev/shm
mount -t devpts none /dev/pts
mount -t cgroup2 none /sys/fs/cgroup
echo +pids >/sys/fs/cgroup/cgroup.subtree_control # until any is enabled, new groups lack the controller of perf events, too
ln -sf /proc/self/fd /dev/fd
ldconfig
echo 2 >/proc/sys/kernel/perf_event_paranoid # the upstream default; Debian's is 3: only root may record
echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent # samples take long here: the kernel would take fewer and fewer
echo "machine: kernel $(uname -srvm)"
wanted=$(cat /cpprof/wanted)

limit=1200 # seconds per test
# case_of NAME COMMAND...
case_of() {
	local name=$1 code=0 begun=$SECONDS
	shift
	case " ${wanted:-$name} " in *" $name "*) ;; *) return ;; esac
	echo "machine: begin $name"
	: >/tmp/output
	(cd /tmp && exec timeout -k 20 "$limit" "$@") >/tmp/output 2>&1 </dev/null &
	tail -f -n +1 --pid=$! /tmp/output # shown while it runs, so that the log of a hanging test is not lost
	wait $! || code=$?
	case $code in
	0) echo "machine: passed $name ($((SECONDS - begun)) s)" ;;
	77) echo "machine: skipped $name: $(sed -n 's/^skipped: //p' /tmp/output | head -1)" ;;
	124 | 137) echo "machine: failed $name: not done within $limit s" ;;
	*) echo "machine: failed $name: exit code $code" ;;
	esac
}

# The kernel's verifier accepts the BPF programs: deep stacks are not cut off, waits are timed, calls and paths are counted.
verified_programs() {
	local log=/tmp/deep.log
	"$CPPROF" record -v -o /tmp/deep.data -- "$BUILD/tests/e2e/paths" 0.5 2500 100000 >$log 2>&1 || { cat $log; return 1; }
	cat $log
	! grep -q 'stacks deeper than --stack-size are cut off' $log || return 1
	"$BUILD/tests/e2e/facts" /tmp/deep.data | awk '$1 == "outer" && $2 > 0 { found = 1 } END { exit !found }' || return 1
	"$CPPROF" record -v --off-cpu -o /tmp/wait.data -- sleep 0.5 >$log 2>&1 || { cat $log; return 1; }
	cat $log
	! grep -q 'waits are not timed in the kernel' $log || return 1
	"$CPPROF" report --view waits /tmp/wait.data | grep -w sleep || return 1
	# Traced functions with and without counters, allocations, and paths.
	for command in "trace -f main" "trace -f main -e minor-faults,task-clock" "trace --alloc --held --every 1" "paths -f main"; do
		# shellcheck disable=SC2086
		"$CPPROF" $command -o "/tmp/${command// /_}.data" -- "$BUILD/tests/e2e/blocks" 500 >$log 2>&1 || { cat $log; return 1; }
		cat $log
	done
	"$CPPROF" report --metric minor-faults "/tmp/trace_-f_main_-e_minor-faults,task-clock.data" | grep -w main
}
export -f verified_programs

# cpprof reads JIT code when it unwinds the first stacks. The analysis of the runtimes themselves takes so long here that
# the code would be gone by then, so a first recording fills the store with that analysis.
compiled_stacks() {
	(cd /tmp && javac -d . "$SOURCE/tests/bench/src/Bench.java") || return 1
	"$CPPROF" record -q --no-resolve -o /tmp/first.data -- java -Xmx512m -cp /tmp Bench 2
	"$CPPROF" record -q --no-resolve -o /tmp/first.data -- node "$SOURCE/tests/bench/src/node.js" 2
	python3 "$SOURCE/tests/stacks/run.py" java node
}
export -f compiled_stacks

switch_off() {
	sync
	echo o >/proc/sysrq-trigger
	sleep 60
}

if [ -e /cpprof/script ]; then
	bash /cpprof/script
	switch_off
fi

# The loopback interface up and running, without a program for it.
python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH22s", b"lo", 0x41, b""))'

# The first use of a program costs its analysis, here half a minute: it is done before anything is timed.
# shellcheck disable=SC2016
"$CPPROF" record -q -o /tmp/first.data -- bash -c '"$0" 0.1; "$1" 0.1 50 2000; exec python3 -c pass' \
	"$BUILD/tests/e2e/spin" "$BUILD/tests/e2e/paths"

e2e=$SOURCE/tests/e2e stacks=$SOURCE/tests/stacks
case_of bpf.verifier bash -c verified_programs
case_of e2e.record "$e2e/record.sh"
case_of e2e.attach "$e2e/attach.sh"
case_of e2e.trace python3 "$e2e/trace.py"
case_of e2e.trace_bad python3 "$e2e/trace_bad.py"
case_of e2e.alloc python3 "$e2e/alloc.py"
case_of e2e.deep "$e2e/deep.sh"
case_of e2e.raw "$e2e/raw.sh"
case_of e2e.steps "$e2e/steps.sh" 300
case_of e2e.steps_programs "$e2e/steps_programs.sh" 300
case_of e2e.exit_codes "$e2e/exit_codes.sh"
case_of e2e.nothing_lost "$e2e/nothing_lost.sh"
case_of e2e.races "$e2e/races.sh"
case_of e2e.users "$e2e/users.sh"
case_of e2e.workers "$e2e/workers.sh"
case_of e2e.crowd "$e2e/crowd.sh"
case_of e2e.prefetch "$e2e/prefetch.sh"
case_of e2e.perf_shares python3 "$e2e/perf_shares.py"
case_of e2e.creators python3 "$e2e/creators.py"
case_of e2e.waits "$e2e/waits.sh"
case_of e2e.waits_before "$e2e/waits_before.sh"
case_of e2e.waits_kinds "$e2e/waits_kinds.sh"
case_of e2e.daemon "$e2e/daemon.sh"
case_of e2e.daemon_bad "$e2e/daemon_bad.sh"
case_of stacks.quick python3 "$stacks/run.py"
case_of stacks.go python3 "$stacks/run.py" go go-stripped go-deep go-clock
case_of stacks.runtimes python3 "$stacks/runtimes.py" luajit luajit-joff ocaml ruby php
case_of stacks.compiled bash -c compiled_stacks
case_of stacks.witness python3 "$stacks/witness.py" node-alone
case_of stacks.steps "$stacks/steps.sh" 300
case_of names.live "$SOURCE/tests/names/live.sh"
# The emulated machine's clock may be set.
case_of faults.clock env FAULTS_MACHINE=1 python3 "$SOURCE/tests/faults/machine.py" "the clock"
case_of unit.collector "$BUILD/tests/test_collector"
# Filters of system calls and Landlock, which user-mode emulators do not have.
case_of unit.base "$BUILD/tests/test_base"
case_of unit.cmd "$BUILD/tests/test_cmd"
case_of attacks.confined "$SOURCE/tests/attacks/confined.sh"
case_of attacks.database "$SOURCE/tests/attacks/database.sh"
case_of attacks.dense "$SOURCE/tests/attacks/dense.sh"
case_of attacks.links "$SOURCE/tests/attacks/links.sh"
case_of attacks.overlaps "$SOURCE/tests/attacks/overlaps.sh"
case_of attacks.pids "$SOURCE/tests/attacks/pids.sh"
# The packaged program, if builds.package_cross has built one.
[ ! -x "$BUILD/packaged" ] || case_of builds.installed "$SOURCE/tests/builds/installed.sh" "$BUILD/packaged" /tmp/installed
echo "machine: done"
switch_off
