/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_store: names of the kernel's own functions, cached until the next boot.
 *
 * The kernel takes 10 ms or more to generate /proc/kallsyms, every time. Its built-in functions do not move
 * until the next boot, whose id is the key; modules and BPF programs come and go and are not cached.
 */
#pragma once

#include "base/store.h"
#include "symbolize/kernel/kallsyms.h"

struct store_key kernel_store_key(const char *boot);
/* False if the store does not have the names for all of the addresses (sorted); kallsyms must then be read.
 */
bool kernel_store_get(struct store *store, const char *boot, const uint64_t *vaddrs, size_t n,
		      struct kallsyms *ret);
void kernel_store_put(struct store *store, const char *boot, const struct kallsyms *kallsyms);
/* An identifier of the current boot; "" if it is unknown. free() it. */
char *kernel_boot(void);
