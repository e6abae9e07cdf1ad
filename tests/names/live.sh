#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests names of code that is in no file: JIT code, by a perf map in the target's own root and under its own pid, and by a
# jitdump; the vdso; the kernel.
. "$(dirname "$0")/lib.sh"
need gcc unshare mount pgrep
need_perf

cat >jit.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* A leaf without relocations, so that it can be copied to any address. */
__attribute__((noinline, section("copied"))) unsigned leaf(unsigned x)
{
	for (unsigned i = 0; i < 1000000; i++)
		x = x * 1103515245u + 12345u;
	return x;
}
extern const char __start_copied[], __stop_copied[];
static void put(FILE *to, const void *bytes, size_t n)
{
	fwrite(bytes, 1, n, to);
}
/* A header and one "code loaded" record, as perf's jitdump-specification has them. */
static void write_dump(uint64_t code, uint64_t size, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", (int)getpid());
	FILE *to = fopen(path, "w+");
	uint32_t header[10] = { 0x4a695444, 1, 40, MACHINE, 0, (uint32_t)getpid() };
	uint32_t prefix[4] = { 0, (uint32_t)(16 + 40 + strlen(name) + 1 + size) };
	uint32_t ids[2] = { (uint32_t)getpid(), (uint32_t)getpid() };
	uint64_t body[4] = { code, code, size, 1 };
	put(to, header, sizeof(header));
	put(to, prefix, sizeof(prefix));
	put(to, ids, sizeof(ids));
	put(to, body, sizeof(body));
	put(to, name, strlen(name) + 1);
	put(to, (const void *)code, size);
	fflush(to);
	/* perf's own convention: the mapping tells a profiler where the dump is. */
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(to), 0);
}
int main(int argc, char **argv)
{
	size_t size = (size_t)(__stop_copied - __start_copied);
	char *code = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	if (code == MAP_FAILED)
		return 77;
	memcpy(code, __start_copied, size);
	__builtin___clear_cache(code, code + size);
	if (argc > 2 && strcmp(argv[2], "dump") == 0) {
		write_dump((uint64_t)code, size, "dumped_function");
	} else {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
		FILE *map = fopen(path, "w");
		fprintf(map, "%s%llx %zx made_by_the_jit(int)\n", getpid() % 2 ? "0x" : "", (unsigned long long)code, size);
		fclose(map);
	}
	FILE *ready = fopen(argv[1], "w");
	fclose(ready);
	unsigned x = 1;
	for (time_t end = time(NULL) + 20; time(NULL) < end;)
		x = ((unsigned (*)(unsigned))code)(x);
	return x == 42;
}
C
case $(uname -m) in
aarch64) machine=183 ;;
*) machine=62 ;;
esac
mkdir private
gcc -O1 -DMACHINE=$machine -o private/jit jit.c || fail "cannot compile"

# waited FILE: waits until it exists, at most ten seconds
waited() {
	for _ in $(seq 200); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	fail "$1 did not appear"
}

# attached PID FILE: on a busy machine the first sample may be late
attached() {
	for seconds in 0.3 1 4; do
		"$CPPROF" attach -q -p "$1" -d $seconds -o "$2" >out.log 2>&1 && return
	done
	fail "attach"
}

# In a separate pid and mount namespace, /tmp is another folder and the pid another number.
if unshare -mpf bash -c 'mount --make-rprivate / && mount --bind "$0/private" /tmp' "$HERE" 2>probe.log; then
	unshare -mpf bash -c 'mount --make-rprivate / && mount --bind "$0/private" /tmp && exec /tmp/jit /tmp/ready' "$HERE" &
	outer=$!
	started+=($outer)
	waited private/ready
	inner=$(pgrep -P $outer)
	started+=("$inner")
	ls private/perf-*.map >/dev/null || fail "the program wrote no perf map"
	[ ! -e "/tmp/perf-$inner.map" ] || fail "the perf map is in the host's /tmp"
	attached "$inner" jit.data
	kill -9 "$inner" "$outer" 2>/dev/null
	wait 2>/dev/null
	"$CPPROF" report --no-pager --view flat jit.data >out.log
	grep -q "made_by_the_jit(int)" out.log || fail "the perf map in the target's root was not used"
fi

# A jitdump, found by the target's mapping of it.
./private/jit "$HERE/ready" dump &
pid=$!
started+=($pid)
waited ready
attached $pid dump.data
kill -9 $pid
rm -f /tmp/jit-$pid.dump
wait 2>/dev/null
"$CPPROF" report --no-pager --view flat dump.data >out.log
grep -q "dumped_function" out.log || fail "the jitdump was not used"

# The vdso and the kernel.
cat >clock.c <<'C'
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec now, end;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 1;
	do {
		for (int i = 0; i < 1000; i++)
			clock_gettime(CLOCK_MONOTONIC, &now);
		for (int i = 0; i < 100; i++)
			getppid();
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	return 0;
}
C
gcc -O1 -o clock clock.c || fail "cannot compile"
"$CPPROF" record -q -o clock.data -- ./clock || fail "record"
"$CPPROF" report --no-pager --view flat --percent-limit 0 clock.data >out.log
if grep -q "\[vdso\]" out.log; then
	grep -E "\[vdso\]" out.log | grep -Eq "clock_gettime|vdso_" || fail "functions of the vdso have no names"
else
	echo "not checked: on this machine the clock is not read in the vdso"
fi
if [ "$(awk '{ print $1; exit }' /proc/kallsyms)" != 0000000000000000 ] && grep -q "\[kernel\]" out.log; then
	grep "\[kernel\]" out.log | grep -qv "kernel\] *\[kernel\]" || fail "functions of the kernel have no names"
	# Names looked up later, with the same kernel running.
	"$CPPROF" record -q --no-resolve -o later.data -- ./clock || fail "record"
	"$CPPROF" resolve -q later.data || fail "resolve"
	"$CPPROF" report --no-pager --view flat --percent-limit 0 later.data >out.log
	! grep -q "\[kernel\]" out.log || grep "\[kernel\]" out.log | grep -qv "kernel\] *\[kernel\]" ||
		fail "functions of the kernel have no names when resolved later"
fi
exit 0
