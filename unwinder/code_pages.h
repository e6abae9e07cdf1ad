/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_pages: code that is in no file (JIT code), read from the process page by page.
 *
 * A JIT compiler overwrites its code at any time without notice. So a page is compared with the process's
 * memory at intervals of a fraction of a second; its version changes when its contents have changed. Results
 * about code are valid as long as the versions of its pages are the same.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "unwinder/memory.h"

struct code_pages;
/* read may be NULL: then the only code is that given to code_pages_put. */
struct code_pages *code_pages_new(memory_reader read, void *context);
void code_pages_free(struct code_pages *pages);

/* For recordings that run for weeks: drops the pages that were not requested since the last call. If they are
 * requested again, they are read again and get a new version. */
void code_pages_forget(struct code_pages *pages);
size_t code_pages_count(const struct code_pages *pages); /* pages in memory */

/* To be called for each sample. Starts a new epoch if the last one is over. */
void code_pages_tick(struct code_pages *pages, uint64_t time_ns);
/* The current epoch; never 0. */
uint64_t code_pages_epoch(const struct code_pages *pages);

#define CODE_AT_LEAST \
	16 /* bytes that code_pages_at returns unless memory ends before; the longest instruction */

/* Sets the contents of memory at addr, for a process that cannot be read: a page, or the beginning of one.
 * Anything else is ignored. */
void code_pages_put(struct code_pages *pages, pid_t pid, uint64_t addr, struct bytes code);

/* Code at a run-time address, to the end of a page or at least CODE_AT_LEAST bytes. Valid until the next
 * call. */
struct bytes code_pages_at(struct code_pages *pages, pid_t pid, uint64_t pc);
/* Reads the page now, but at most once per sample. True if it has changed. */
bool code_pages_renew(struct code_pages *pages, pid_t pid, uint64_t pc);
/* 0 if the page cannot be read. */
uint64_t code_pages_version(struct code_pages *pages, pid_t pid, uint64_t pc);
