/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena: allocation of objects with the same lifetime. Objects are not freed individually; arena_reset keeps
 * one block, so that a scratch arena allocates nothing in the steady state.
 */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used;                /* in the newest block */
};

/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t len);
void arena_reset(struct arena *arena);
void arena_done(struct arena *arena);
