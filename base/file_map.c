/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_map.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"

/* Searched by a signal handler, which cannot be given an argument: hence static. A slot is in use while start
 * is not 0. */
static struct guarded {
	atomic_uintptr_t start;
	_Atomic size_t len;
	volatile bool *_Atomic is_changed;
} guarded[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards taking slots and the signal's action */
static struct sigaction old_action;

/* The flag of the mapping that contains the address; NULL if none does. The reader keeps that mapping alive.
 */
static volatile bool *file_map_find(uintptr_t addr)
{
	for (size_t i = 0; i < ARRAY_LEN(guarded); i++) {
		struct guarded *slot = &guarded[i];
		uintptr_t start = atomic_load(&slot->start);
		if (!start || addr < start || addr - start >= atomic_load(&slot->len))
			continue;
		volatile bool *is_changed = atomic_load(&slot->is_changed);
		if (atomic_load(&slot->start) == start) /* otherwise the slot has been reused meanwhile */
			return is_changed;
	}
	return NULL;
}

/* Maps an empty page where there is none, so that the read yields zeroes. */
static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	uintptr_t addr = (uintptr_t)info->si_addr;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	volatile bool *is_changed = file_map_find(addr);

	(void)context;
	if (is_changed) {
		*is_changed = true;
		if (mmap((void *)(addr & ~(page - 1)), page, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			return;
	}
	sigaction(signal, &old_action, NULL); /* not ours: let it happen again */
}

static void handle_sigbus(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO }, present;

	sigaction(SIGBUS, NULL, &present);
	if (present.sa_sigaction == on_sigbus)
		return;
	old_action = present; /* the first file, or another handler has been installed since */
	sigaction(SIGBUS, &action, NULL);
}

static bool guard(void *at, size_t len, volatile bool *is_changed)
{
	struct guarded *slot = NULL;

	pthread_mutex_lock(&lock);
	handle_sigbus();
	for (size_t i = 0; i < ARRAY_LEN(guarded) && !slot; i++)
		slot = atomic_load(&guarded[i].start) ? NULL : &guarded[i];
	if (slot) {
		atomic_store(&slot->len, len);
		atomic_store(&slot->is_changed, is_changed);
		atomic_store(&slot->start, (uintptr_t)at);
	}
	pthread_mutex_unlock(&lock);
	return slot != NULL;
}

static void unguard(void *at)
{
	struct guarded *slot = guarded;

	pthread_mutex_lock(&lock);
	while (atomic_load(&slot->start) != (uintptr_t)at)
		slot++; /* always found: file_map took it */
	atomic_store(&slot->start, 0);
	pthread_mutex_unlock(&lock);
}

int file_map(int fd, size_t len, volatile bool *is_changed, void **ret)
{
	/* The kernel puts the breakpoints of uprobes into every private mapping of a file, including ours: we
	 * would mistake them for the file's code. Some file systems do not support shared mappings. */
	void *at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	if (!guard(at, len, is_changed)) {
		munmap(at, len);
		return -ENFILE;
	}
	*ret = at;
	return 0;
}

void file_map_rest(void *at, size_t len)
{
	madvise(at, len, MADV_DONTNEED);
}

void file_unmap(void *at, size_t len)
{
	if (!at)
		return;
	unguard(at);
	munmap(at, len);
}
