/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sites: calls of one function from another, distinguished by the line of the call. Lines change from build
 * to build, so calls are matched by their order.
 */
#pragma once

#include "report/diff/order.h"
#include "report/tree/numbering.h"

/* A call in a profile: caller, callee, build of the code, position. */
struct site {
	uint32_t caller, callee; /* joint frames */
	uint32_t build;
	struct order_place place;
};

struct sites;
struct sites *sites_new(void);
void sites_free(struct sites *sites);
/* Numbers all calls of a profile per caller and callee, from 1 on; matching calls get the same number. */
void sites_add(struct sites *sites, const struct site *seen, size_t n, uint32_t *ret);
