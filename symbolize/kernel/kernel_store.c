/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/kernel/kernel_store.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/writer.h"

#define ENTRY_VERSION 2

/* An entry: how many, their starts, where their names begin, the names. */
#define STARTS 8

struct store_key kernel_store_key(const char *boot)
{
	uint64_t hash = hash_bytes((struct bytes){ (const uint8_t *)boot, strlen(boot) });

	return (struct store_key){ "kernel", ENTRY_VERSION, { hash, hash_u64(hash + 1) } };
}

char *kernel_boot(void)
{
	CLEANUP(close_fd) int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char text[64];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	return alloc_text_n(text, n > 0 ? (size_t)n : 0);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The names are used in place. False if the entry is not valid. */
static bool kernel_store_unpack(struct bytes entry, struct kallsyms *ret)
{
	struct reader r = reader_of(entry);
	uint64_t n = read_u64(&r), last = 0;

	if (n == 0 || n > entry.len / 12 || entry.at[entry.len - 1] != 0)
		return false;
	struct reader starts = reader_of(bytes_slice(entry, STARTS, 8 * n));
	struct reader offsets = reader_of(bytes_slice(entry, STARTS + 8 * n, 4 * n));
	struct bytes names = bytes_from(entry, STARTS + 12 * n);
	vec_reserve(&ret->symbols, n);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t start = read_u64(&starts);
		uint32_t offset = read_u32(&offsets);
		if (start <= last || offset >= names.len)
			return false;
		vec_push(&ret->symbols, (struct kernel_symbol){ start, (const char *)names.at + offset });
		last = start;
	}
	return true;
}

/* The last one's end is not known. */
static bool kernel_store_has_all(const struct kallsyms *kallsyms, const uint64_t *vaddrs, size_t n)
{
	const struct kernel_symbol *at = kallsyms->symbols.at;

	return n == 0 || (vaddrs[0] >= at[0].start && vaddrs[n - 1] < at[kallsyms->symbols.n - 1].start);
}

bool kernel_store_get(struct store *store, const char *boot, const uint64_t *vaddrs, size_t n,
		      struct kallsyms *ret)
{
	struct store_key key = kernel_store_key(boot);
	struct kallsyms found = { 0 };

	if (boot[0])
		found.entry = store_get(store, &key);
	if (!found.entry.len || !kernel_store_unpack(found.entry, &found) ||
	    !kernel_store_has_all(&found, vaddrs, n)) {
		kallsyms_done(&found);
		return false;
	}
	*ret = found;
	return true;
}

/* ---- writing ------------------------------------------------------------------------------- */

static bool is_stranger(const struct kernel_symbol *symbol)
{
	return strchr(symbol->name, '['); /* "name [module]" */
}

/* A built-in function; the origin of data is not shown. */
static bool is_own(const struct kernel_symbol *symbol)
{
	return symbol->name[0] && !is_stranger(symbol);
}

/* Those without symbols of modules between them; none if there are some. */
static size_t own_symbols(const struct kallsyms *kallsyms, size_t *ret_first)
{
	size_t first = 0, end = kallsyms->symbols.n;

	while (first < end && !is_own(&kallsyms->symbols.at[first]))
		first++;
	while (end > first && !is_own(&kallsyms->symbols.at[end - 1]))
		end--;
	*ret_first = first;
	for (size_t i = first; i < end; i++)
		if (is_stranger(&kallsyms->symbols.at[i]))
			return 0;
	return end - first;
}

void kernel_store_put(struct store *store, const char *boot, const struct kallsyms *kallsyms)
{
	struct store_key key = kernel_store_key(boot);
	struct writer entry = { 0 };
	size_t first, n = own_symbols(kallsyms, &first), n_names = 0;

	if (!store || !boot[0] || n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		n_names += strlen(kallsyms->symbols.at[first + i].name) + 1;
	uint8_t *starts = write_space(&entry, STARTS + 12 * n + n_names) + STARTS;
	uint8_t *offsets = starts + 8 * n, *names = offsets + 4 * n;
	uint64_t count = n;
	memcpy(entry.at, &count, sizeof(count));
	for (size_t i = 0; i < n; i++) {
		const struct kernel_symbol *symbol = &kallsyms->symbols.at[first + i];
		uint32_t offset = (uint32_t)((size_t)(names - offsets) - 4 * n);
		size_t len = strlen(symbol->name) + 1;
		memcpy(starts + 8 * i, &symbol->start, sizeof(symbol->start));
		memcpy(offsets + 4 * i, &offset, sizeof(offset));
		memcpy(names, symbol->name, len);
		names += len;
	}
	store_put(store, &key, writer_bytes(&entry));
	writer_done(&entry);
}
