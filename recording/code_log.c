/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/code_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define MAX_SEEN (1u << 18) /* pages; then all is written once more */

struct code_piece {
	uint64_t addr;
	size_t offset, len; /* in bytes */
	pid_t pid;
};

struct code_log {
	struct code_log_options options;
	pthread_mutex_t lock;
	struct map seen; /* process and address -> part of a hash of what was there */
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
	map_done(&log->seen);
	vec_done(&log->pieces);
	vec_done(&log->bytes);
	free(log);
}

static void code_log_keep(struct code_log *log, pid_t pid, uint64_t addr, const void *code, size_t len)
{
	uint64_t key = hash_u64(addr) ^ (uint64_t)(uint32_t)pid;
	uint32_t value = (uint32_t)hash_bytes((struct bytes){ code, len }) >> 1; /* not MAP_NONE */

	if (map_find(&log->seen, key) == value)
		return;
	if (log->seen.n >= MAX_SEEN) {
		map_done(&log->seen);
		log->seen = (struct map){ 0 };
	}
	map_put(&log->seen, key, value);
	struct code_piece piece = { .addr = addr, .offset = log->bytes.n, .len = len, .pid = pid };
	vec_reserve(&log->bytes, log->bytes.n + len);
	memcpy(log->bytes.at + log->bytes.n, code, len);
	log->bytes.n += len;
	vec_push(&log->pieces, piece);
}

ssize_t code_log_read(void *context, pid_t pid, pid_t tid, uint64_t addr, void *to, size_t len)
{
	struct code_log *log = context;
	ssize_t n = log->options.read(log->options.read_context, tid, addr, to, len);

	if (n <= 0 || !log->options.write)
		return n;
	pthread_mutex_lock(&log->lock);
	code_log_keep(log, pid, addr, to, (size_t)n);
	pthread_mutex_unlock(&log->lock);
	return n;
}

void code_log_write(struct code_log *log, uint64_t time_ns)
{
	if (!log->options.write)
		return;
	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < log->pieces.n; i++) {
		const struct code_piece *piece = &log->pieces.at[i];
		struct event event = { .kind = EVENT_CODE,
				       .time_ns = time_ns - (time_ns > 0),
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
