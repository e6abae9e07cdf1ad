/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pc_table: a cache of what is known about the addresses of processes, in front of knowledge.
 *
 * Entries are stored in the order of first use, so that those of a program's hot addresses share few pages:
 * on a virtual machine a TLB miss costs more than a cache miss. Entries do not move until the table is
 * cleared.
 */
#pragma once

#include <sys/types.h>

#include "recipes/knowledge.h"

/* What every step looks at stands in the first 64 bytes. */
struct pc_entry {
	_Alignas(64) uint64_t pc;
	uint64_t generation; /* of the address space that the rest was found in; 0 = nothing was */
	uint64_t bias;
	image_id image;
	bool is_return;
	bool is_mapped; /* executable, that is */
	bool is_jit;    /* its code is in no file */
	uint8_t leads;  /* enum leads: of the call before it, if that is direct */
	struct place place;
	uint64_t epoch;   /* of the code's pages, if it is in no file; else 0: it does not change */
	uint64_t version; /* of its page, then */
	pid_t pid;
	image_id asked_for_image; /* and function: the last callee of which it was found out whether a stub's
				     name leads there */
	uint64_t asked_for;
	bool has_name;  /* whether it does */
	bool is_stated; /* the second recipe is what its runtime says of its frame, no guess */
	struct pc_entry
		*caller; /* the last return address that a frame here was left to; NULL = none was, yet */
};

#define PC_TABLE_MAX 65536 /* entries; large programs have tens of thousands of hot addresses */
#define PC_TABLE_FEW 16384 /* 3 MB; where most entries are of processes that have ended */

struct pc_table {
	VEC(struct pc_entry *) blocks;
	size_t n, max;   /* max: PC_TABLE_MAX at most; 0 = that */
	uint32_t *slots; /* number of the entry + 1, and a few bits of its hash above that; 0 = free */
	size_t n_slots;  /* a power of two */
};

/* The entry of an address, added if need be. */
struct pc_entry *pc_table_entry(struct pc_table *table, pid_t pid, uint64_t pc, bool is_return);
/*
 * An entry that will be asked for soon: first its slot is fetched from memory, and when that has had time to
 * come, the entry. Neither waits.
 */
void pc_table_fetch_slot(const struct pc_table *table, pid_t pid, uint64_t pc);
void pc_table_fetch_entry(const struct pc_table *table, pid_t pid, uint64_t pc);
/* To be called now and then: forgets all entries if there are more than max. */
void pc_table_limit(struct pc_table *table);
void pc_table_done(struct pc_table *table);
