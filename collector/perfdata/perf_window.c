/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_window: only the part of the mapping between the oldest record still needed and the read position is
 * kept in memory. Dropping a piece too early costs time, nothing else: it is mapped again.
 */
#include "collector/perfdata/perf_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file_map.h"

#define PIECE_SIZE (2u << 20) /* what one page of the page table maps, with pages of 4 KiB */

static void window_map_file(struct perf_window *window, uint64_t size)
{
	if (size == 0 || size > SIZE_MAX / 2 ||
	    file_map(window->fd, (size_t)size, &window->is_changed, &window->map) < 0)
		return;
	madvise(window->map, (size_t)size, MADV_SEQUENTIAL);
	window->map_len = (size_t)size;
	window->loans = alloc_zero(window->map_len / PIECE_SIZE + 1, sizeof(*window->loans));
}

int perf_window_open(struct perf_window *window, int fd)
{
	struct stat st;

	*window = (struct perf_window){ .fd = fd, .limit = UINT64_MAX };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	window->is_seekable = S_ISREG(st.st_mode) || S_ISBLK(st.st_mode);
	if (S_ISREG(st.st_mode))
		window_map_file(window, (uint64_t)st.st_size);
	perf_window_go(window, 0, UINT64_MAX);
	return 0;
}

void perf_window_close(struct perf_window *window)
{
	file_unmap(window->map, window->map_len);
	free(window->loans);
	free(window->buffer);
	close_fd(&window->fd);
}

static bool window_is_mapped(const struct perf_window *window)
{
	return window->map && window->bytes == window->map;
}

uint64_t perf_window_offset(const struct perf_window *window)
{
	return window->read_at - (window->end - window->start);
}

static void window_read_from(struct perf_window *window, uint64_t offset)
{
	if (!window->buffer)
		window->buffer = alloc_resize(NULL, WINDOW_SIZE, 1);
	window->bytes = window->buffer;
	window->start = window->end = 0;
	window->read_at = offset;
}

void perf_window_go(struct perf_window *window, uint64_t offset, uint64_t limit)
{
	window->limit = limit;
	window->is_at_eof = false;
	if (window->is_changed || offset >= window->map_len) {
		window_read_from(window, offset);
		return;
	}
	window->bytes = window->map;
	window->start = (size_t)offset;
	window->end = limit < window->map_len ? (size_t)limit : window->map_len;
	window->read_at = window->end;
}

static uint64_t window_file_size(const struct perf_window *window)
{
	struct stat st;

	return fstat(window->fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

bool perf_window_distrust(struct perf_window *window)
{
	if (!window_is_mapped(window))
		return false;
	window->is_changed |= window_file_size(window) < window->map_len;
	window_read_from(window, perf_window_offset(window));
	return true;
}

static ssize_t window_read_some(struct perf_window *window, void *to, size_t len)
{
	for (;;) {
		ssize_t n = window->is_seekable ? pread(window->fd, to, len, (off_t)window->read_at)
						: read(window->fd, to, len);
		if (n >= 0 || errno != EINTR)
			return n < 0 ? -errno : n;
	}
}

static int window_read_until(struct perf_window *window, size_t want)
{
	while (window->end - window->start < want && !window->is_at_eof) {
		if (window->start + want > WINDOW_SIZE || window->start == window->end) {
			memmove(window->buffer, window->buffer + window->start, window->end - window->start);
			window->end -= window->start;
			window->start = 0;
		}
		uint64_t left = window->limit - window->read_at;
		size_t room = WINDOW_SIZE - window->end;
		ssize_t n = window_read_some(window, window->buffer + window->end,
					     room < left ? room : (size_t)left);
		if (n < 0)
			return (int)n;
		window->is_at_eof = n == 0;
		window->end += (size_t)n;
		window->read_at += (uint64_t)n;
	}
	return 0;
}

int perf_window_fill(struct perf_window *window, size_t want)
{
	if (window->end - window->start >= want && !window->is_changed)
		return 0;
	perf_window_distrust(window);
	return window_read_until(window, want);
}

/*
 * Drops pieces that have been read and are no longer needed. A record that continues in the next piece counts
 * in its first one; the record being handed out has not been lent yet.
 */
static void window_drop_behind(struct perf_window *window, size_t piece)
{
	size_t first = window->n_dropped;

	while (window->n_dropped < piece && !window->loans[window->n_dropped])
		window->n_dropped++;
	if (window->n_dropped > first)
		madvise((uint8_t *)window->map + first * PIECE_SIZE, (window->n_dropped - first) * PIECE_SIZE,
			MADV_DONTNEED);
}

void perf_window_use(struct perf_window *window, size_t len)
{
	if (window_is_mapped(window) && window->start / PIECE_SIZE > window->n_dropped)
		window_drop_behind(window, window->start / PIECE_SIZE);
	window->start += len;
}

/* Skips bytes that need not be read; 1 if the file ends first. */
static int window_jump(struct perf_window *window, uint64_t len)
{
	uint64_t left = window->limit - window->read_at;

	window->read_at += len < left ? len : left;
	return len > left;
}

int perf_window_skip(struct perf_window *window, uint64_t len)
{
	for (;;) {
		size_t have = window->end - window->start;
		size_t step = len < have ? (size_t)len : have;
		perf_window_use(window, step);
		len -= step;
		if (len == 0)
			return 0;
		if (window->is_seekable)
			return window_jump(window, len);
		int error = perf_window_fill(window, 1);
		if (error < 0)
			return error;
		if (window->start == window->end)
			return 1;
	}
}

static bool window_is_in_map(const struct perf_window *window, const uint8_t *at)
{
	return (uintptr_t)at - (uintptr_t)window->map < window->map_len;
}

size_t *perf_window_loan(struct perf_window *window, struct bytes bytes)
{
	if (!window_is_in_map(window, bytes.at) || (uintptr_t)bytes.at % 8 != 0)
		return NULL;
	return &window->loans[(size_t)(bytes.at - (const uint8_t *)window->map) / PIECE_SIZE];
}

/* Can each of its pages be read? */
static bool window_is_readable(const struct perf_window *window, uint64_t start, uint64_t end)
{
	uint8_t byte;

	for (; start < end; start += 4096)
		if (pread(window->fd, &byte, 1, (off_t)start) != 1)
			return false;
	return true;
}

bool perf_window_is_gone(const struct perf_window *window, struct bytes bytes)
{
	if (!window_is_in_map(window, bytes.at))
		return false;
	uint64_t start = (uint64_t)(bytes.at - (const uint8_t *)window->map), end = start + bytes.len;
	return end > window_file_size(window) ||
	       (window->is_changed && !window_is_readable(window, start & ~(uint64_t)4095, end));
}
