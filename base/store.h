/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: what was worked out once and may be needed again, kept on disk between runs.
 *
 * One directory of the user's own ($XDG_CACHE_HOME/cpprof, else ~/.cache/cpprof), one file an entry.
 * Nothing is taken from a directory or file that belongs to, or can be written by, anybody else.
 * Entries appear whole or not at all, so any number of processes may use it at once; one that is
 * damaged, of another version or of another key counts as absent. The oldest used go when it grows
 * over its size. Losing all of it costs time and nothing else, so nothing here is a fault.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"

#define STORE_LIMIT (1ull << 30) /* bytes in all, unless another limit is given */

struct store;
/* NULL if there is no directory that can be trusted. directory NULL: the user's cache. limit 0: STORE_LIMIT.
 */
struct store *store_open(const char *directory, uint64_t limit);
/* A fenced child's: its parent has the directory, and serves what is asked for, in that realm (below). */
struct channel;
struct store *store_open_channel(struct channel *channel, uint64_t realm);
void store_close(struct store *store);
/* An open folder; negative if it is not ours. */
int store_directory(const struct store *store);

/* Names an entry: what kind of thing (short, letters and dashes), its format's version, and of what. */
struct store_key {
	const char *kind;
	uint32_t version;
	uint64_t id[2];
};

/* The bytes are valid until store_release; empty if there is no such entry. */
struct bytes store_get(struct store *store, const struct store_key *key);
void store_release(struct bytes bytes);
/*
 * The parent's part: what the child asked for, by CHANNEL_GET and CHANNEL_PUT, which is foreign input. An
 * open file or a negative errno.
 *
 * realm: 0 for a child that has read only what nobody but us can write. Any other number is a realm of its
 * own: a child that somebody took over finds there only what was put there, and changes nothing elsewhere,
 * whatever keys it states.
 */
int store_serve_get(struct store *store, uint64_t realm, struct bytes request);
void store_serve_put(struct store *store, uint64_t realm, struct bytes request);
/* Replaces the entry, if it can. */
void store_put(struct store *store, const struct store_key *key, struct bytes bytes);
