/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_tape.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/live/perf_source.h"

#define MAX_SEEN (1u << 18) /* pages; then all is written once more */

struct piece {
	uint64_t addr;
	size_t offset, len; /* in bytes */
	pid_t pid;
};

struct code_tape {
	struct source *source;
	bool is_kept;
	pthread_mutex_t lock;
	struct map seen; /* process and address -> part of a hash of what was there */
	VEC(struct piece) pieces;
	VEC(uint8_t) bytes;
};

struct code_tape *code_tape_new(struct source *source, bool is_kept)
{
	struct code_tape *tape = alloc_zero(1, sizeof(*tape));

	tape->source = source;
	tape->is_kept = is_kept;
	pthread_mutex_init(&tape->lock, NULL);
	return tape;
}

void code_tape_free(struct code_tape *tape)
{
	if (!tape)
		return;
	pthread_mutex_destroy(&tape->lock);
	map_done(&tape->seen);
	vec_done(&tape->pieces);
	vec_done(&tape->bytes);
	free(tape);
}

static void keep(struct code_tape *tape, pid_t pid, uint64_t addr, const void *code, size_t len)
{
	uint64_t key = hash_u64(addr) ^ (uint64_t)(uint32_t)pid;
	uint32_t value = (uint32_t)hash_bytes((struct bytes){ code, len }) >> 1; /* not MAP_NONE */

	if (map_find(&tape->seen, key) == value)
		return;
	if (tape->seen.n >= MAX_SEEN) {
		map_done(&tape->seen);
		tape->seen = (struct map){ 0 };
	}
	map_put(&tape->seen, key, value);
	struct piece piece = { .addr = addr, .offset = tape->bytes.n, .len = len, .pid = pid };
	vec_reserve(&tape->bytes, tape->bytes.n + len);
	memcpy(tape->bytes.at + tape->bytes.n, code, len);
	tape->bytes.n += len;
	vec_push(&tape->pieces, piece);
}

ssize_t code_tape_read(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct code_tape *tape = context;
	ssize_t n = tape->source->ops->read_memory(tape->source, pid, addr, to, len);

	if (n <= 0 || !tape->is_kept)
		return n;
	pthread_mutex_lock(&tape->lock);
	keep(tape, pid, addr, to, (size_t)n);
	pthread_mutex_unlock(&tape->lock);
	return n;
}

void code_tape_write(struct code_tape *tape, uint64_t time_ns)
{
	if (!tape->is_kept)
		return;
	pthread_mutex_lock(&tape->lock);
	for (size_t i = 0; i < tape->pieces.n; i++) {
		const struct piece *piece = &tape->pieces.at[i];
		struct event event = { .kind = EVENT_CODE,
				       .time_ns = time_ns - (time_ns > 0),
				       .pid = piece->pid,
				       .tid = piece->pid,
				       .code = { piece->addr,
						 { tape->bytes.at + piece->offset, piece->len } } };
		perf_source_raw_event(tape->source, &event);
	}
	vec_clear(&tape->pieces);
	vec_clear(&tape->bytes);
	pthread_mutex_unlock(&tape->lock);
}
