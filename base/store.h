/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: a cache on disk that keeps results between runs.
 *
 * It is a directory of the user ($XDG_CACHE_HOME/cpprof, or ~/.cache/cpprof) with one file per entry. A
 * directory or file that belongs to another user, or that others can write to, is not used. Entries are
 * written atomically, so any number of processes may use the store at once; an entry that is damaged, of
 * another version or of another key is treated as absent. The least recently used entries are removed when
 * the store exceeds its size. Losing the store costs only time, so nothing here returns an error.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"

#define STORE_LIMIT (1ull << 30) /* total size in bytes, unless another limit is given */

struct store;
/* NULL if there is no trustworthy directory. directory NULL: the user's cache. limit 0: STORE_LIMIT. */
struct store *store_open(const char *directory, uint64_t limit);
/* For a fenced child: its parent owns the directory and serves its requests, in that realm (below). */
struct channel;
struct store *store_open_channel(struct channel *channel, uint64_t realm);
void store_close(struct store *store);
/* The open directory; negative if it is not used. */
int store_directory(const struct store *store);

/* Identifies an entry: its kind (short, letters and dashes), the version of its format, and its subject. */
struct store_key {
	const char *kind;
	uint32_t version;
	uint64_t id[2];
};

/* The bytes are valid until store_release; empty if there is no such entry. */
struct bytes store_get(struct store *store, const struct store_key *key);
void store_release(struct bytes bytes);
/*
 * The parent's part: serves CHANNEL_GET and CHANNEL_PUT requests of a child, which are foreign input. Returns
 * an open file or a negative errno.
 *
 * realm: 0 for a child that reads only files that nobody but us can write to. Any other number is a separate
 * realm: a compromised child can read and write only the entries of its realm, whatever keys it sends.
 */
int store_serve_get(struct store *store, uint64_t realm, struct bytes request);
void store_serve_put(struct store *store, uint64_t realm, struct bytes request);
/* Writes or replaces the entry, if possible. */
void store_put(struct store *store, const struct store_key *key, struct bytes bytes);
