/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kallsyms: names of kernel functions, modules included, from /proc/kallsyms. The kernel shows its addresses
 * to privileged readers only; for others every address is zero, and there are no names. If an address has
 * several names, the kernel lists the one that it uses itself first, and so do we.
 */
#pragma once

#include "base/bytes.h"
#include "base/vec.h"

struct kernel_symbol {
	uint64_t start;   /* it ends where the next one starts */
	const char *name; /* "nf_hook_slow [nf_tables]" for one of a module; "" if there is no function */
};

struct kallsyms {
	VEC(struct kernel_symbol) symbols; /* sorted, one per address */
	char *text;                        /* contains the names */
	struct bytes entry;                /* of the store, if the names are there */
};

/* Malformed lines are skipped. */
void kallsyms_parse(struct bytes text, struct kallsyms *ret);
/* 0, or a negative errno: -EPERM if the addresses are hidden. */
int kallsyms_open(const char *path, struct kallsyms *ret);
void kallsyms_done(struct kallsyms *kallsyms);
/* NULL if no function is there. ret_end: where the next one starts. */
const struct kernel_symbol *kallsyms_find(const struct kallsyms *kallsyms, uint64_t vaddr, uint64_t *ret_end);
