/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops: matches loops of several profiles: by their order among the loops inside the same function, inlined
 * calls and loops.
 */
#pragma once

#include "report/diff/functions.h"
#include "report/diff/order.h"

/* A known loop among its siblings. */
struct loop_known {
	struct order_place place;
	uint32_t loop;
};

struct loops {
	struct functions *functions;
	VEC(struct scope_frame) all;                      /* as in the first profile */
	struct numbering paths;                           /* the scopes around a loop */
	VEC(struct { VEC(struct loop_known) at; }) lists; /* by path: the loops directly inside */
	struct numbering places;                          /* loops without known structure */
	VEC(uint32_t) at_place;
};

void loops_init(struct loops *loops, struct functions *functions);
void loops_done(struct loops *loops);
/* functions: by frame, from functions_add; ret: by frame the loop, UINT32_MAX for others. */
void loops_add(struct loops *loops, const struct functions_from *from, const struct scope_tree *tree,
	       const uint32_t *functions, uint32_t *ret);
