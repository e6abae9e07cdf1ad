/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vec: a typed growable array.
 *
 *     VEC(struct row) rows = { 0 };
 *     vec_push(&rows, ((struct row){ 1, 2 }));
 *     for (size_t i = 0; i < rows.n; i++) use(&rows.at[i]);
 *     vec_done(&rows);
 */
#pragma once

#include <stdlib.h>

#include "base/alloc.h"

#define VEC(type)              \
	struct {               \
		type *at;      \
		size_t n, cap; \
	}

/* Makes room for at least `count` elements in total. */
#define vec_reserve(v, count)                                                        \
	do {                                                                         \
		size_t want_ = (count);                                              \
		if (want_ > (v)->cap) {                                              \
			(v)->cap = want_ > (v)->cap * 2 ? want_ : (v)->cap * 2;      \
			(v)->at = alloc_resize((v)->at, (v)->cap, sizeof(*(v)->at)); \
		}                                                                    \
	} while (0)

#define vec_push(v, ...)                                               \
	do {                                                           \
		if ((v)->n == (v)->cap)                                \
			vec_reserve((v), (v)->cap ? (v)->cap * 2 : 8); \
		(v)->at[(v)->n] = (__VA_ARGS__);                       \
		(v)->n++; /* after: the value may depend on it */      \
	} while (0)

#define vec_clear(v) ((void)((v)->n = 0))

#define vec_done(v)                    \
	do {                           \
		free((v)->at);         \
		(v)->at = NULL;        \
		(v)->n = (v)->cap = 0; \
	} while (0)
