/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites: calls of one function from another, told apart by the line of the call. Lines change from build to
 * build: calls are matched by their order.
 */
#pragma once

#include "report/diff/order.h"
#include "report/tree/numbering.h"

/* A call that was seen: which scope calls which, in which build of the code, where. */
struct site {
	uint32_t caller, callee; /* joint frames */
	uint32_t build;
	struct order_place place;
};

struct sites;
struct sites *sites_new(void);
void sites_free(struct sites *sites);
/* All calls of a profile: which one of its caller and callee each is, from 1 on. The same for the same call.
 */
void sites_add(struct sites *sites, const struct site *seen, size_t n, uint32_t *ret);
