/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order: puts the records of many rings into one time order.
 *
 * The rule. Rings are read in rounds. A record is handed out once a whole further round has been read that
 * began after the record's time: whatever was stamped before the start of round k-1 has been written, and
 * therefore read, by the end of round k. Records of one time come in the order they were read. Where the
 * writers are known not to be held up for long (order_trust), a record that is older than that when a round
 * begins goes out in that round. A record that arrives behind one that was already handed out (its writer was
 * held up for longer) goes out at once and is counted as late.
 *
 * No side effects: it uses no ring and no clock. It holds copies, or records that are lent to it in place.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct order;
struct order *order_new(void);
void order_free(struct order *order);
/* No writer takes longer than this from stamping a record to having written it. */
void order_trust(struct order *order, uint64_t delay_ns);

/* A round begins now; add the contents of the rings, then end it. */
void order_round_begin(struct order *order, uint64_t now_ns);
/* Copies the record. */
void order_add(struct order *order, uint64_t time_ns, struct bytes record);
/* Leaves the record in place: increments *loan now, and decrements it when the record is no longer needed. */
void order_lend(struct order *order, uint64_t time_ns, struct bytes record, size_t *loan);
void order_round_end(struct order *order);
/* The last record that was returned is no longer needed. */
void order_let_go(struct order *order);
/* Copies all records that were lent, so that their memory can be reused, except the last one that was
 * returned. */
void order_copy_lent(struct order *order);
/* There will be no more records: all may be returned. */
void order_finish(struct order *order);

/* The earliest record that may be returned; false if there is none. Its bytes (aligned for u64) are valid
 * until the next call. */
bool order_next(struct order *order, uint64_t *ret_time_ns, struct bytes *ret);

/* What order_next would return now; valid until that is called. */
bool order_peek(const struct order *order, struct bytes *ret);

size_t order_held(const struct order *order);   /* bytes */
uint64_t order_late(const struct order *order); /* records so far */
