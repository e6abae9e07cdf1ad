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

/* Everything that each step reads is in the first 64 bytes. */
struct pc_entry {
	_Alignas(64) uint64_t pc;
	uint64_t generation; /* of the address space for which the rest is valid; 0 = nothing is known */
	uint64_t bias;
	image_id image;
	bool is_return;
	bool is_mapped; /* as executable */
	bool is_jit;    /* its code is in no file */
	uint8_t leads;  /* enum leads: where the call before it leads, if it is direct */
	struct place place;
	uint64_t epoch;   /* of JIT code; 0 for code in files, which does not change */
	uint64_t version; /* of its page, likewise */
	pid_t pid;
	image_id asked_for_image; /* and function: the last callee for which it was checked whether a stub's
				     name leads there */
	uint64_t asked_for;
	bool has_name;  /* the result of that check */
	bool is_stated; /* the second recipe is from its runtime's description of the frame, not a guess */
	struct pc_entry
		*caller; /* the last return address to which a frame here was unwound; NULL = none yet */
};

#define PC_TABLE_MAX 65536 /* entries; large programs have tens of thousands of hot addresses */
#define PC_TABLE_FEW \
	16384 /* 3 MB; for recordings in which most entries belong to processes that have ended */

struct pc_table {
	VEC(struct pc_entry *) blocks;
	size_t n, max;   /* max: at most PC_TABLE_MAX; 0 = PC_TABLE_MAX */
	uint32_t *slots; /* number of the entry + 1, with some bits of its hash above; 0 = free */
	size_t n_slots;  /* a power of two */
};

/* The entry of an address, added if necessary. */
struct pc_entry *pc_table_entry(struct pc_table *table, pid_t pid, uint64_t pc, bool is_return);
/*
 * Prefetch an entry that will be needed soon: first its slot, and some time later the entry itself. Neither
 * waits.
 */
void pc_table_fetch_slot(const struct pc_table *table, pid_t pid, uint64_t pc);
void pc_table_fetch_entry(const struct pc_table *table, pid_t pid, uint64_t pc);
/* To be called from time to time: drops all entries if there are more than max. */
void pc_table_limit(struct pc_table *table);
/* Not during a walk. */
void pc_table_clear(struct pc_table *table);
void pc_table_done(struct pc_table *table);
