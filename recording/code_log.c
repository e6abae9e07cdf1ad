/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/code_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define MAX_SEEN (1u << 18) /* pages; after that, everything is written once more */

struct code_piece {
	uint64_t addr, time_ns;
	size_t offset, len; /* in bytes */
	pid_t pid;
};

/* What an address held when it was last read, and since when. */
struct code_seen {
	uint64_t hash, since_ns;
};

struct code_log {
	struct code_log_options options;
	pthread_mutex_t lock;
	struct map by_place; /* process and address -> seen */
	VEC(struct code_seen) seen;
	VEC(struct code_piece) pieces;
	VEC(uint8_t) bytes;
};

struct code_log *code_log_new(const struct code_log_options *options)
{
	struct code_log *log = alloc_zero(1, sizeof(*log));

	log->options = *options;
	pthread_mutex_init(&log->lock, NULL);
	return log;
}

void code_log_free(struct code_log *log)
{
	if (!log)
		return;
	pthread_mutex_destroy(&log->lock);
	map_done(&log->by_place);
	vec_done(&log->seen);
	vec_done(&log->pieces);
	vec_done(&log->bytes);
	free(log);
}

/*
 * Is it new? The threads that walk stacks do not advance in step. What a thread reads for a sample older than
 * the last reading is always kept; the last reading stays the one that is valid from its time on.
 */
static bool code_log_is_new(struct code_log *log, const struct code_wanted *wanted, uint64_t addr,
			    struct bytes code)
{
	uint64_t key = hash_u64(addr) ^ (uint64_t)(uint32_t)wanted->pid;
	struct code_seen now = { hash_bytes(code), wanted->time_ns };
	uint32_t index = map_find(&log->by_place, key);

	if (index == MAP_NONE) {
		if (log->seen.n >= MAX_SEEN) {
			map_done(&log->by_place);
			log->by_place = (struct map){ 0 };
			vec_clear(&log->seen);
		}
		map_put(&log->by_place, key, (uint32_t)log->seen.n);
		vec_push(&log->seen, now);
		return true;
	}
	struct code_seen *last = &log->seen.at[index];
	if (now.since_ns < last->since_ns)
		return true;
	if (now.hash == last->hash)
		return false;
	*last = now;
	return true;
}

static void code_log_keep(struct code_log *log, const struct code_wanted *wanted, uint64_t addr,
			  struct bytes code)
{
	if (!code_log_is_new(log, wanted, addr, code))
		return;
	struct code_piece piece = { .addr = addr,
				    .time_ns = wanted->time_ns,
				    .offset = log->bytes.n,
				    .len = code.len,
				    .pid = wanted->pid };
	vec_reserve(&log->bytes, log->bytes.n + code.len);
	memcpy(log->bytes.at + log->bytes.n, code.at, code.len);
	log->bytes.n += code.len;
	vec_push(&log->pieces, piece);
}

ssize_t code_log_read(void *context, const struct code_wanted *wanted, uint64_t addr, void *to, size_t len)
{
	struct code_log *log = context;
	ssize_t n = log->options.read(log->options.read_context, wanted->tid, addr, to, len);

	if (n <= 0 || !log->options.write)
		return n;
	pthread_mutex_lock(&log->lock);
	code_log_keep(log, wanted, addr, (struct bytes){ to, (size_t)n });
	pthread_mutex_unlock(&log->lock);
	return n;
}

void code_log_write(struct code_log *log)
{
	if (!log->options.write)
		return;
	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < log->pieces.n; i++) {
		const struct code_piece *piece = &log->pieces.at[i];
		struct event event = { .kind = EVENT_CODE,
				       .time_ns = piece->time_ns - (piece->time_ns > 0),
				       .pid = piece->pid,
				       .tid = piece->pid,
				       .code = { piece->addr,
						 { log->bytes.at + piece->offset, piece->len } } };
		log->options.write(log->options.write_context, &event);
	}
	vec_clear(&log->pieces);
	vec_clear(&log->bytes);
	pthread_mutex_unlock(&log->lock);
}
