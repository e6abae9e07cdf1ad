/* SPDX-License-Identifier: Apache-2.0 */
#include "base/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_SLOTS 1024

static void slots_clear(struct slots *slots, size_t n)
{
	slots->n = n;
	slots->at = alloc_resize(slots->at, n, sizeof(*slots->at));
	memset(slots->at, 0xff, n * sizeof(*slots->at));
}

void slots_init(struct slots *slots)
{
	*slots = (struct slots){ 0 };
	slots_clear(slots, FIRST_SLOTS);
}

void slots_done(struct slots *slots)
{
	free(slots->at);
	*slots = (struct slots){ 0 };
}

void slots_double(struct slots *slots)
{
	slots_clear(slots, slots->n * 2);
}

void slots_reserve(struct slots *slots, size_t n_entries)
{
	size_t n = slots->n;

	while (n / 2 < n_entries)
		n *= 2;
	if (n > slots->n)
		slots_clear(slots, n);
}
