/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_fixture: a small profile with all features: two threads, two metrics, an inlined call, a loop,
 * lines, recursion, an incomplete stack, and hostile names.
 */
#pragma once

#include "report/export/exporter.h"

#define HOSTILE "evil;\"</script>\n\\\xff__proto__"

struct fixture {
	struct profile *profile;
	struct scope_tree tree;
};

void fixture_init(struct fixture *fixture);
void fixture_done(struct fixture *fixture);
/* The output of an exporter; free() it. */
char *fixture_export(struct fixture *fixture, const char *format, const struct export_options *options,
		     size_t *ret_len);
