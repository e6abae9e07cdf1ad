/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_types: offsets of members in the structures of the running kernel, and of per-CPU variables, from
 * its type information (BTF).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define KERNEL_PER_CPU ".data..percpu"

/* A section of variables, such as KERNEL_PER_CPU, is a structure with the variables as members. */
struct kernel_member {
	const char *structure, *name;
	uint32_t offset; /* in bytes */
	bool is_found;
};

/* Finds all members in one pass. True if every one was found. */
bool kernel_types_find(struct kernel_member *members, size_t n);
/* The same in given type information. */
bool kernel_types_search(struct bytes btf, struct kernel_member *members, size_t n);
