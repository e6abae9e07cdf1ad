/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sanitizer.h"

#define MORE_MEMORY (8ull << 30)
/* The symbols of a compiler of 30 MB take half a second (cc1plus in docs/benchmarks.md). */
#define LEAST_S 60
#define S_PER_MB 1
#define MOST_S 1200

uint64_t resolve_memory_limit(void)
{
#if HAS_ADDRESS_SANITIZER
	return 0; /* a sanitizer reserves memory without limit */
#else
	CLEANUP(close_fd) int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	uint64_t pages = strtoull(text, NULL, 10);
	return pages ? pages * (uint64_t)sysconf(_SC_PAGESIZE) + MORE_MEMORY : 0;
#endif
}

static struct patience_with *patience_find(const struct patience *patience, uint64_t who)
{
	for (size_t i = 0; i < patience->all.n; i++)
		if (patience->all.at[i].who == who)
			return &patience->all.at[i];
	return NULL;
}

void patience_done(struct patience *patience)
{
	vec_done(&patience->all);
}

uint64_t patience_cpu_s(const struct patience *patience, uint64_t who, uint64_t bytes)
{
	const struct patience_with *with = patience_find(patience, who);
	uint64_t seconds = LEAST_S + (bytes >> 20) * S_PER_MB;

	if (!who || seconds > MOST_S)
		seconds = MOST_S;
	if (with)
		seconds = with->n_failed < 64 ? seconds >> with->n_failed : 0;
	return seconds ? seconds : 1;
}

void patience_lose(struct patience *patience, uint64_t who)
{
	struct patience_with *with = patience_find(patience, who);

	if (with)
		with->n_failed++;
	else
		vec_push(&patience->all, ((struct patience_with){ who, 1 }));
}
