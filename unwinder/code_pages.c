/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/code_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define EPOCH_NS 250000000ull
#define PAGE_SIZE_LOG2 12 /* ours: any power of two up to the machine's own page size */
#define PAGE_BYTES (1u << PAGE_SIZE_LOG2)
#define MAX_PAGES 16384 /* 64 MiB; beyond that all pages are dropped and read again */

struct code_page {
	uint8_t bytes[PAGE_BYTES];
	size_t len;
	uint64_t epoch, version; /* version 0: not readable */
	uint64_t sample;         /* the sample for which it was last read */
	uint64_t key;            /* in by_page */
	bool is_wanted;          /* since code_pages_forget was last called */
};

struct code_pages {
	memory_reader read;
	void *context;
	struct map by_page; /* pid and page number -> pages */
	VEC(struct code_page *) pages;
	uint64_t epoch, epoch_end_ns, version, sample;
	uint8_t bridge[2 * CODE_AT_LEAST]; /* holds an instruction that crosses into the next page */
};

struct code_pages *code_pages_new(memory_reader read, void *context)
{
	struct code_pages *pages = alloc_zero(1, sizeof(*pages));

	pages->read = read;
	pages->context = context;
	pages->epoch = 1;
	return pages;
}

static void code_pages_clear(struct code_pages *pages)
{
	for (size_t i = 0; i < pages->pages.n; i++)
		free(pages->pages.at[i]);
	pages->pages.n = 0;
	map_done(&pages->by_page);
	pages->by_page = (struct map){ 0 };
}

void code_pages_forget(struct code_pages *pages)
{
	size_t n = 0;

	map_done(&pages->by_page);
	pages->by_page = (struct map){ 0 };
	for (size_t i = 0; i < pages->pages.n; i++) {
		struct code_page *page = pages->pages.at[i];
		if (!page->is_wanted) {
			free(page);
			continue;
		}
		page->is_wanted = false;
		map_put(&pages->by_page, page->key, (uint32_t)n);
		pages->pages.at[n++] = page;
	}
	pages->pages.n = n;
}

size_t code_pages_count(const struct code_pages *pages)
{
	return pages->pages.n;
}

void code_pages_free(struct code_pages *pages)
{
	if (!pages)
		return;
	code_pages_clear(pages);
	vec_done(&pages->pages);
	free(pages);
}

void code_pages_tick(struct code_pages *pages, uint64_t time_ns)
{
	pages->sample++;
	if (time_ns < pages->epoch_end_ns && pages->epoch_end_ns - time_ns <= EPOCH_NS)
		return;
	pages->epoch++;
	pages->epoch_end_ns = time_ns + EPOCH_NS;
}

uint64_t code_pages_epoch(const struct code_pages *pages)
{
	return pages->epoch;
}

/* The pages of a process that has ended stay as they were last read. */
static void code_page_refresh(struct code_pages *pages, struct code_page *page, pid_t pid, uint64_t start)
{
	uint8_t bytes[PAGE_BYTES];
	ssize_t n = pages->read ? pages->read(pages->context, pid, start, bytes, sizeof(bytes)) : -1;

	page->epoch = pages->epoch;
	page->sample = pages->sample;
	if (n <= 0 || ((size_t)n == page->len && memcmp(bytes, page->bytes, page->len) == 0))
		return;
	memcpy(page->bytes, bytes, (size_t)n);
	page->len = (size_t)n;
	page->version = ++pages->version;
}

static struct code_page *code_page_find(struct code_pages *pages, pid_t pid, uint64_t pc)
{
	uint64_t number = pc >> PAGE_SIZE_LOG2;
	uint64_t key = number ^ (uint64_t)(uint32_t)pid << 40; /* addresses have 52 bits at most, pids 22 */
	uint32_t index = map_find(&pages->by_page, key);

	if (index == MAP_NONE) {
		if (pages->pages.n >= MAX_PAGES)
			code_pages_clear(pages);
		index = (uint32_t)pages->pages.n;
		vec_push(&pages->pages, alloc_zero(1, sizeof(struct code_page)));
		pages->pages.at[index]->key = key;
		map_put(&pages->by_page, key, index);
	}
	struct code_page *page = pages->pages.at[index];
	page->is_wanted = true;
	if (page->epoch != pages->epoch)
		code_page_refresh(pages, page, pid, number << PAGE_SIZE_LOG2);
	return page;
}

void code_pages_put(struct code_pages *pages, pid_t pid, uint64_t addr, struct bytes code)
{
	if (addr % PAGE_BYTES || !code.len || code.len > PAGE_BYTES)
		return;
	struct code_page *page = code_page_find(pages, pid, addr);
	memcpy(page->bytes, code.at, code.len);
	page->len = code.len;
	page->version = ++pages->version;
	page->epoch = ++pages->epoch; /* everything is looked up again */
}

bool code_pages_renew(struct code_pages *pages, pid_t pid, uint64_t pc)
{
	struct code_page *page = code_page_find(pages, pid, pc);
	uint64_t version = page->version;

	if (page->sample != pages->sample)
		code_page_refresh(pages, page, pid, pc & ~(uint64_t)(PAGE_BYTES - 1));
	return page->version != version;
}

uint64_t code_pages_version(struct code_pages *pages, pid_t pid, uint64_t pc)
{
	return code_page_find(pages, pid, pc)->version;
}

struct bytes code_pages_at(struct code_pages *pages, pid_t pid, uint64_t pc)
{
	const struct code_page *page = code_page_find(pages, pid, pc);
	size_t offset = pc & (PAGE_BYTES - 1), left = page->len > offset ? page->len - offset : 0;

	if (left >= CODE_AT_LEAST || left == 0 || page->len < PAGE_BYTES)
		return (struct bytes){ page->bytes + offset, left };
	memcpy(pages->bridge, page->bytes + offset, left);
	page = code_page_find(pages, pid, pc + left);
	size_t more = page->len < CODE_AT_LEAST ? page->len : CODE_AT_LEAST;
	memcpy(pages->bridge + left, page->bytes, more);
	return (struct bytes){ pages->bridge, left + more };
}
