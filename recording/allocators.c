/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/allocators.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"

#define NONE TRACE_GRANT_NONE

/* operator new and the like call malloc. If a function has several names, it is found only once. */
static const struct {
	const char *name;
	struct trace_grant grant;
} known[] = {
	{ "malloc", { 0, NONE, NONE, NONE } },      { "calloc", { 0, 1, NONE, NONE } },
	{ "realloc", { 1, NONE, 0, NONE } },        { "reallocarray", { 1, 2, 0, NONE } },
	{ "posix_memalign", { 2, NONE, NONE, 0 } }, { "aligned_alloc", { 1, NONE, NONE, NONE } },
	{ "memalign", { 1, NONE, NONE, NONE } },    { "valloc", { 0, NONE, NONE, NONE } },
	{ "pvalloc", { 0, NONE, NONE, NONE } },     { "mmap", { 1, NONE, NONE, NONE } },
	{ "mmap64", { 1, NONE, NONE, NONE } },      { "free", { NONE, NONE, 0, NONE } },
	{ "cfree", { NONE, NONE, 0, NONE } },       { "munmap", { NONE, NONE, 0, NONE } },
};

static void allocators_add(struct allocators *allocators, char *pattern, struct trace_grant grant)
{
	vec_push(&allocators->patterns, pattern);
	vec_push(&allocators->grants, grant);
}

static void allocators_add_named(struct allocators *allocators, const char *text)
{
	size_t len = strlen(text);
	bool has_number = len > 2 && text[len - 2] == ':' && text[len - 1] >= '1' && text[len - 1] <= '6';
	uint8_t size = has_number ? (uint8_t)(text[len - 1] - '1') : 0;

	allocators_add(allocators, alloc_text_n(text, has_number ? len - 2 : len),
		       (struct trace_grant){ size, NONE, NONE, NONE });
}

void allocators_init(struct allocators *allocators, char *const *more, size_t n_more)
{
	*allocators = (struct allocators){ 0 };
	for (size_t i = 0; i < n_more; i++)
		allocators_add_named(allocators, more[i]);
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		allocators_add(allocators, alloc_text(known[i].name), known[i].grant);
}

void allocators_done(struct allocators *allocators)
{
	for (size_t i = 0; i < allocators->patterns.n; i++)
		free(allocators->patterns.at[i]);
	vec_done(&allocators->patterns);
	vec_done(&allocators->grants);
}
