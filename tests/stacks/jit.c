/* SPDX-License-Identifier: Apache-2.0 */
/* JIT code: a function without a frame pointer that calls back, and that is moved now and then. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spin.h"

#if defined(__aarch64__)
/* sub sp, sp, #48; str x30, [sp, #24]; mov x1, #64; 1: subs x1, x1, #1; b.ne 1b; blr x0; ldr x30, [sp, #24];
 * add; ret */
static const uint32_t code[] = { 0xd100c3ff, 0xf9000ffe, 0xd2800801, 0xf1000421, 0x54ffffe1,
				 0xd63f0000, 0xf9400ffe, 0x9100c3ff, 0xd65f03c0 };
#else
/* sub $0x28, %rsp; call *%rdi; add $0x28, %rsp; ret */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x28, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x28, 0xc3 };
#endif

#ifdef MAPPED_TWICE /* once to be written, once to be run, as the JIT compilers of Erlang and .NET do */
static char *map_code(size_t size, ptrdiff_t *ret_to_run)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	char *written = fd >= 0 && ftruncate(fd, (off_t)size) == 0
				? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
				: MAP_FAILED;
	char *run = fd >= 0 ? mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) : MAP_FAILED;

	*ret_to_run = run - written;
	return run == MAP_FAILED ? MAP_FAILED : written;
}
#else
static char *map_code(size_t size, ptrdiff_t *ret_to_run)
{
	*ret_to_run = 0;
	return mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
#endif

int main(void)
{
	const size_t size = 1 << 16;
	ptrdiff_t to_run;
	char *memory = map_code(size, &to_run);

	if (memory == MAP_FAILED)
		return 77;
	double until = cpu_seconds() + work_seconds(); /* starting takes longer on an emulated machine */
	for (size_t at = 64; cpu_seconds() < until; at = (at + 4160) % (size - 64)) {
		at &= ~(size_t)63;
		memcpy(memory + at, code, sizeof(code));
		char *run = memory + at + to_run;
		__builtin___clear_cache(run, run + sizeof(code));
		double end = cpu_seconds() + 0.02;
		while (cpu_seconds() < end)
			((void (*)(void (*)(void)))(void *)run)(work);
	}
	/* cpprof reads the code from the process's memory shortly after it starts, so the process must not
	 * exit too early. SLOW: for an emulated machine, where this takes seconds. */
	bool is_slow = getenv("SLOW") != NULL;
	nanosleep(&(struct timespec){ .tv_sec = is_slow ? 4 : 0, .tv_nsec = is_slow ? 0 : 400000000 }, NULL);
	return 0;
}
