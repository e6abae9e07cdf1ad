#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Without privileges: a user can profile their own processes in user mode, but not those of others, and a message says why.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to switch to another user"
command -v setpriv >/dev/null || skip "setpriv is not installed"
level=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$level" -le 2 ] || skip "kernel.perf_event_paranoid is $level"

mkdir nobody
chown 65534:65534 nobody
cp "$CPPROF" "$SPIN" nobody # other users may have no access to the build tree
chmod 755 nobody/*
as_nobody() {
	(cd nobody && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@")
}

run 0 as_nobody ./cpprof record -v -o a.data -- ./spin 0.5 threads=2
says "stacks deeper than --stack-size are cut off: .*CAP_BPF"
[ "$level" -lt 2 ] || says "no permission to sample the kernel"
facts nobody/a.data
[ "$(number samples)" -ge 1 ] || fail "no samples of the user's own process"
[ "$level" -lt 2 ] || fact "excludes_kernel=1"

# What somebody else has opened for us can be written, though it could not be opened again.
for name in /dev/stdout /dev/fd/1; do
	as_nobody ./cpprof record -q -o $name -- ./spin 0.2 >written.data 2>run.log || fail "$name is a file of root's: $(cat run.log)"
	facts written.data
	as_nobody ./cpprof record -q -o $name -- ./spin 0.2 2>run.log | cat >written.data
	facts written.data
done
run 1 as_nobody ./cpprof record -q -o /dev/fd/7 -- touch ran 7<"$SPIN"
says "cannot write '/dev/fd/7'"
[ ! -e nobody/ran ] || fail "the command was run although there is nowhere to write the profile"

# Ring buffers use all the memory that may be locked (up to the hard limit); the command keeps its own limit.
ring_kb() { sed -n 's/.*with a ring buffer of \([0-9]*\) KiB each.*/\1/p' run.log; }
(
	ulimit -S -l 64
	run 0 as_nobody ./cpprof record -v -o m.data -- sh -c 'ulimit -S -l; ./spin 0.2'
	says '^64$'
	soft=$(ring_kb)
	ulimit -l 64
	run 0 as_nobody ./cpprof record -v -o m.data -- ./spin 0.2
	[ "$soft" -ge "$(ring_kb)" ] || fail "ring buffers of $soft KiB although $(ring_kb) are possible"
) || exit 1

start setpriv --reuid=65534 --regid=65534 --clear-groups "$HERE/nobody/spin" 300 threads=40
own=$pid
sleep "$(slow 0.3)"
run 0 as_nobody ./cpprof attach -p "$own" -d 0.3 -o b.data
facts nobody/b.data

# Descriptors are needed for threads x CPUs; if there are too few, some threads are left out, with a message.
(
	ulimit -n $((40 + 10 * $(nproc)))
	run 0 as_nobody ./cpprof attach -p "$own" -d 0.3 -o l.data
	says "threads of process $own are not profiled: only"
) || exit 1
facts nobody/l.data
fact "note .* are not profiled"
kill -9 "$own"

start "$SPIN" 300
sleep "$(slow 0.1)"
run 3 as_nobody ./cpprof attach -p "$pid" -d 0.3 -o c.data
says "permission denied"
says "it belongs to another user; try: sudo cpprof attach -p $pid"
kill -0 "$pid" || fail "the target did not survive"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	run 3 as_nobody ./cpprof record --clock cpu -o c.data -- true
	says "cannot sample each CPU (--clock cpu): permission denied"
	says "try: sudo cpprof"
fi

# A set-user-ID or unreadable program cannot be profiled, and a message says so.
cp "$SPIN" nobody/other
cp "$(command -v id)" nobody/id
chmod 4755 nobody/other nobody/id
if [ "$(as_nobody ./id -u)" = 0 ]; then # not with nosuid or no_new_privs
	run 5 as_nobody ./cpprof record -o o.data -- ./other 0.2
	says "'./other' runs with privileges other than cpprof's"
fi
chmod 711 nobody/other
run 5 as_nobody ./cpprof record -o o.data -- ./other 0.2
says "'./other' runs with privileges other than cpprof's"
run 0 "$CPPROF" record -o o.data -- nobody/other 0.2
! grep -q "privileges other than" run.log || fail "the message appears for root, too"

# Under sudo the profile belongs to the user who ran sudo.
run 0 env SUDO_UID=65534 SUDO_GID=65534 "$CPPROF" record -o s.data -- "$SPIN" 0.1
[ "$(stat -c %u:%g s.data)" = 65534:65534 ] || fail "the profile belongs to $(stat -c %u:%g s.data)"

# If perf_event_open is forbidden altogether, the command is not run, and a message says what to do.
cp "$BUILD/tests/e2e/forbid" nobody
nobody/forbid 1 true || skip "system calls cannot be filtered here"
for error in 1 13; do # EPERM: docker; EACCES: Debian's paranoid level 3
	run 3 nobody/forbid $error "$CPPROF" record -o f.data -- touch ran
	says "forbids perf_event even to root; with docker, podman: --cap-add PERFMON"
	run 3 as_nobody ./forbid $error ./cpprof record -o f.data -- touch ran
	says "forbids perf_event; with docker"
done
run 1 nobody/forbid 38 "$CPPROF" attach -p $$ -o f.data
says "this kernel has no perf events"
[ ! -e ran ] && [ ! -e nobody/ran ] || fail "the command was run although it cannot be profiled"
exit 0
