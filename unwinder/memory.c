/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/memory.h"

#include <string.h>

void memory_begin(struct memory *memory, pid_t pid, uint64_t start, const struct sample *sample)
{
	memory->pid = pid;
	memory->start = start;
	memory->snapshot = sample->stack;
	memory->below = sample->below;
	memory->is_cut_off = sample->stack_was_full;
	memory->deep = sample->deep;
	memory->n_deep = sample->n_deep;
	memory->deep_start = sample->deep_start;
	memory->window_len = 0;
	memory->reach = 0;
}

static bool memory_get_from(const uint8_t *bytes, uint64_t start, size_t len, uint64_t addr, unsigned size,
			    uint64_t *ret)
{
	uint64_t offset = addr - start;

	if (addr < start || len < size || offset > len - size)
		return false;
	*ret = 0;
	memcpy(ret, bytes + offset, size);
	return true;
}

/* A slot may begin in one page and end in the next, or begin in the snapshot. */
static bool memory_get_bytes(const struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++) {
		uint64_t at = addr + i, byte, offset = at - memory->deep_start;
		if (at >= memory->deep_start && offset / STACK_PAGE < memory->n_deep &&
		    memory->deep[offset / STACK_PAGE].at)
			byte = memory->deep[offset / STACK_PAGE].at[offset % STACK_PAGE];
		else if (!memory_get_from(memory->snapshot.at, memory->start, memory->snapshot.len, at, 1,
					  &byte))
			return false;
		value |= byte << 8 * i;
	}
	*ret = value;
	return true;
}

static bool memory_get_beyond(const struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret)
{
	uint64_t offset = addr - memory->deep_start, page = offset / STACK_PAGE;

	if (!memory->n_deep)
		return false;
	if (addr < memory->deep_start || page >= memory->n_deep || offset % STACK_PAGE > STACK_PAGE - size)
		return memory_get_bytes(memory, addr, size, ret);
	if (!memory->deep[page].at)
		return false;
	*ret = 0;
	memcpy(ret, memory->deep[page].at + offset % STACK_PAGE, size);
	return true;
}

/* Refills the window from addr on; it is shorter if the next page is not mapped. */
static void memory_move_window(struct memory *memory, uint64_t addr)
{
	size_t to_page_end = MEMORY_WINDOW - (addr & (MEMORY_WINDOW - 1));
	ssize_t n = memory->read(memory->context, memory->pid, addr, memory->window, MEMORY_WINDOW);

	if (n < 0)
		n = memory->read(memory->context, memory->pid, addr, memory->window, to_page_end);
	memory->window_start = addr;
	memory->window_len = n < 0 ? 0 : (size_t)n;
}

enum memory_status memory_peek(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret)
{
	const uint8_t *word = size == 8 ? memory_piece(memory, addr, 8) : NULL;

	if (word) {
		memcpy(ret, word, 8);
		return MEMORY_OK;
	}
	if (memory_get_from(memory->snapshot.at, memory->start, memory->snapshot.len, addr, size, ret))
		return MEMORY_OK;
	if (memory_get_beyond(memory, addr, size, ret) ||
	    memory_get_from(memory->below.at, memory->start - memory->below.len, memory->below.len, addr,
			    size, ret))
		return MEMORY_OK;

	bool is_behind = addr >= memory->start && memory->is_cut_off;
	if (memory->read) {
		if (memory_get_from(memory->window, memory->window_start, memory->window_len, addr, size,
				    ret))
			return MEMORY_OK;
		memory_move_window(memory, addr);
		if (memory_get_from(memory->window, memory->window_start, memory->window_len, addr, size,
				    ret))
			return MEMORY_OK;
	}
	return is_behind ? MEMORY_BEYOND : MEMORY_BAD;
}

enum memory_status memory_get(struct memory *memory, uint64_t addr, unsigned size, uint64_t *ret)
{
	enum memory_status status = memory_peek(memory, addr, size, ret);

	if (status == MEMORY_OK && addr + size > memory->reach)
		memory->reach = addr + size;
	return status;
}
