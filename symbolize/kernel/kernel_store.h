/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_store: names of the kernel's own functions, kept for as long as it runs.
 *
 * The kernel takes 10 ms and more to make the text of /proc/kallsyms, every time. What it was built with
 * stays where it is until the next boot, whose number is the key; modules and programs of BPF come and go and
 * are not kept.
 */
#pragma once

#include "base/store.h"
#include "symbolize/kernel/kallsyms.h"

struct store_key kernel_store_key(const char *boot);
/* False if the store has no names for all of the addresses, sorted; kallsyms must then be read. */
bool kernel_store_get(struct store *store, const char *boot, const uint64_t *vaddrs, size_t n,
		      struct kallsyms *ret);
void kernel_store_put(struct store *store, const char *boot, const struct kallsyms *kallsyms);
/* What tells this boot from every other; "" if that is unknown. free() it. */
char *kernel_boot(void);
