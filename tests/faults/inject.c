/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject: an LD_PRELOAD library that makes one libc call of cpprof fail.
 *
 *     FAULT_SITES=FILE   writes each place with such a call to FILE, as "KIND PLACE" lines
 *     FAULT_AT=PLACE     the first call from that place fails, in each process
 *
 * A place is a call path inside the program: a hash of its return addresses, as offsets. So all calls in a
 * loop are one place, and two callers of a helper function are two. Only calls of cpprof itself fail, not
 * those of its children, and not those that libraries make on their own, such as a sanitizer when a thread
 * starts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DEPTH 10   /* frames that are hashed */
#define FURTHER 64 /* frames that are searched for one of the program */
#define SLOTS (1u << 16)

static bool is_active;
static int sites = -1;
static uint64_t wanted;
static uintptr_t low, high, base;
static uint64_t seen[SLOTS];
static __thread bool is_inside;

/* The first module listed is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	base = info->dlpi_addr;
	low = UINTPTR_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		low = base + p->p_vaddr < low ? base + p->p_vaddr : low;
		high = base + p->p_vaddr + p->p_memsz > high ? base + p->p_vaddr + p->p_memsz : high;
	}
	return 1;
}

__attribute__((constructor)) static void begin(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	const char *file = getenv("FAULT_SITES"), *at = getenv("FAULT_AT");
	void *warm[2];

	path[n > 0 ? n : 0] = '\0';
	if (n <= 0 || strcmp(strrchr(path, '/') + 1, "cpprof") != 0)
		return;
	dl_iterate_phdr(note_program, NULL);
	backtrace(warm, 2); /* loads libgcc, before calls are intercepted */
	if (file)
		sites = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (at)
		wanted = strtoull(at, NULL, 16);
	is_active = sites >= 0 || wanted;
}

static bool is_new(uint64_t place)
{
	for (uint32_t i = (uint32_t)place % SLOTS;; i = (i + 1) % SLOTS) {
		uint64_t there = __atomic_load_n(&seen[i], __ATOMIC_RELAXED);

		if (there == place)
			return false;
		if (there == 0 && __atomic_compare_exchange_n(&seen[i], &there, place, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
}

static bool fails(const char *kind, int error)
{
	void *frames[FURTHER];
	uint64_t place = 14695981039346656037u;
	bool is_ours = false;
	char line[64];

	if (!is_active || is_inside)
		return false;
	is_inside = true;
	for (int i = 0, n = backtrace(frames, FURTHER); i < n; i++)
		if ((uintptr_t)frames[i] >= low && (uintptr_t)frames[i] < high) {
			is_ours = true;
			if (i < DEPTH)
				place = (place ^ ((uintptr_t)frames[i] - base)) * 1099511628211u;
		}
	for (const char *k = kind; *k; k++)
		place = (place ^ (unsigned char)*k) * 1099511628211u;
	is_inside = false;
	if (!is_ours || !is_new(place | 1))
		return false;
	if (sites >= 0)
		(void)!syscall(SYS_write, sites, line,
			       (size_t)snprintf(line, sizeof line, "%s %016llx\n", kind,
						(unsigned long long)(place | 1)));
	if ((place | 1) != wanted)
		return false;
	errno = error;
	return true;
}

/* The original function, which is next in the symbol search order. */
#define NEXT(type, name, ...)             \
	static type (*next)(__VA_ARGS__); \
	if (!next)                        \
	*(void **)&next = dlsym(RTLD_NEXT, #name)

void *malloc(size_t size)
{
	NEXT(void *, malloc, size_t);
	return fails("malloc", ENOMEM) ? NULL : next(size);
}

void *realloc(void *old, size_t size)
{
	NEXT(void *, realloc, void *, size_t);
	return fails("realloc", ENOMEM) ? NULL : next(old, size);
}

/* dlsym itself may call calloc, so a static buffer serves until the original is known. */
void *calloc(size_t n, size_t size)
{
	static char early[4096];
	static size_t used;
	static bool is_asking;
	static void *(*next)(size_t, size_t);

	if (!next && is_asking) {
		size_t at = used;

		used += (n * size + 15) & ~(size_t)15;
		return used <= sizeof early ? early + at : NULL;
	}
	if (!next) {
		is_asking = true;
		*(void **)&next = dlsym(RTLD_NEXT, "calloc");
		is_asking = false;
	}
	return fails("calloc", ENOMEM) ? NULL : next(n, size);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	NEXT(void *, mmap, void *, size_t, int, int, int, off_t);
	return fails("mmap", ENOMEM) ? MAP_FAILED : next(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	return mmap(at, size, protection, flags, fd, offset);
}

ssize_t read(int fd, void *to, size_t size)
{
	NEXT(ssize_t, read, int, void *, size_t);
	return fails("read", EIO) ? -1 : next(fd, to, size);
}

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	NEXT(ssize_t, pread, int, void *, size_t, off_t);
	return fails("pread", EIO) ? -1 : next(fd, to, size, offset);
}

ssize_t pread64(int fd, void *to, size_t size, off_t offset)
{
	return pread(fd, to, size, offset);
}

ssize_t write(int fd, const void *from, size_t size)
{
	NEXT(ssize_t, write, int, const void *, size_t);
	return fails("write", ENOSPC) ? -1 : next(fd, from, size);
}

ssize_t pwrite(int fd, const void *from, size_t size, off_t offset)
{
	NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
	return fails("pwrite", ENOSPC) ? -1 : next(fd, from, size, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	NEXT(ssize_t, writev, int, const struct iovec *, int);
	return fails("writev", ENOSPC) ? -1 : next(fd, parts, n);
}

int openat(int folder, const char *path, int flags, ...)
{
	NEXT(int, openat, int, const char *, int, ...);
	va_list more;
	unsigned mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
	va_end(more);
	return fails("open", EMFILE) ? -1 : next(folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list more;
	unsigned mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
	va_end(more);
	return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list more;
	unsigned mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, unsigned) : 0;
	va_end(more);
	return openat(AT_FDCWD, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	NEXT(FILE *, fopen, const char *, const char *);
	return fails("fopen", EMFILE) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

pid_t fork(void)
{
	NEXT(pid_t, fork, void);
	return fails("fork", EAGAIN) ? -1 : next();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	NEXT(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	return fails("pthread_create", EAGAIN) ? EAGAIN : next(thread, attributes, run, argument);
}

/* libc has no wrappers for bpf and perf_event_open. */
long syscall(long number, ...)
{
	NEXT(long, syscall, long, ...);
	va_list more;
	long a[6];

	va_start(more, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(more, long);
	va_end(more);
	if (number == SYS_bpf && fails("bpf", EPERM))
		return -1;
	if (number == SYS_perf_event_open && fails("perf_event_open", EMFILE))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
