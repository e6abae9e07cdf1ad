/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_types: where members of the running kernel's structures are, by its own type information (BTF).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct kernel_member {
	const char *structure, *name;
	uint32_t offset; /* in bytes */
	bool is_found;
};

/* Looks for all of them at once. True if every one was found. */
bool kernel_types_find(struct kernel_member *members, size_t n);
/* The same in type information that was read from elsewhere. */
bool kernel_types_search(struct bytes btf, struct kernel_member *members, size_t n);
