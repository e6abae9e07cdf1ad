/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define BLOCK_SIZE (64 * 1024) /* large enough that blocks are rare, small enough to waste one */
#define ALIGNMENT 16

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(ALIGNMENT) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);

	if (!arena->blocks || arena->blocks->size - arena->used < size) {
		size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
		struct arena_block *block = alloc_resize(NULL, 1, sizeof(*block) + room);
		block->older = arena->blocks;
		block->size = room;
		arena->blocks = block;
		arena->used = 0;
	}

	void *memory = arena->blocks->bytes + arena->used;
	arena->used += size;
	return memset(memory, 0, size);
}

char *arena_text(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	memcpy(copy, text, len);
	return copy;
}

static void free_older(struct arena_block *block)
{
	while (block) {
		struct arena_block *older = block->older;
		free(block);
		block = older;
	}
}

void arena_reset(struct arena *arena)
{
	if (!arena->blocks)
		return;
	free_older(arena->blocks->older);
	arena->blocks->older = NULL;
	arena->used = 0;
}

void arena_done(struct arena *arena)
{
	free_older(arena->blocks);
	*arena = (struct arena){ 0 };
}
