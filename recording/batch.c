/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/batch.h"

#include <string.h>

#define KEEP_BYTES (4u << 20) /* of room, from one filling to the next; deep stacks may have taken more */

static size_t aligned(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static void put(struct parcel *parcel, const void *from, size_t len)
{
	size_t n = parcel->bytes.n;

	if (!len)
		return;
	vec_reserve(&parcel->bytes, n + aligned(len));
	memcpy(parcel->bytes.at + n, from, len);
	parcel->bytes.n = n + aligned(len);
}

static void *take(struct parcel *parcel, size_t len)
{
	void *at = parcel->bytes.at + parcel->next_byte;

	if (!len)
		return NULL;
	parcel->next_byte += aligned(len);
	return at;
}

static void put_sample(struct parcel *parcel, const struct sample *sample)
{
	put(parcel, sample->stack.at, sample->stack.len);
	put(parcel, sample->kernel_pc, sample->n_kernel_pc * sizeof(*sample->kernel_pc));
	put(parcel, sample->user_pc, sample->n_user_pc * sizeof(*sample->user_pc));
	put(parcel, sample->deep, sample->n_deep * sizeof(*sample->deep));
	for (uint32_t i = 0; i < sample->n_deep; i++)
		if (sample->deep[i].at)
			put(parcel, sample->deep[i].at, STACK_PAGE);
}

/* In the same order. */
static void take_sample(struct parcel *parcel, struct sample *sample)
{
	sample->stack.at = take(parcel, sample->stack.len);
	sample->kernel_pc = take(parcel, sample->n_kernel_pc * sizeof(*sample->kernel_pc));
	sample->user_pc = take(parcel, sample->n_user_pc * sizeof(*sample->user_pc));
	struct stack_page *pages = take(parcel, sample->n_deep * sizeof(*sample->deep));
	for (uint32_t i = 0; i < sample->n_deep; i++)
		pages[i].at = pages[i].at ? take(parcel, STACK_PAGE) : NULL;
	sample->deep = pages;
}

void parcel_add(struct parcel *parcel, const struct event *event, uint64_t number, uint32_t thread)
{
	vec_push(&parcel->items, (struct parcel_item){ .event = *event, .number = number, .thread = thread });

	struct event *copy = &parcel->items.at[parcel->items.n - 1].event;
	switch (event->kind) {
	case EVENT_SAMPLE:
		put_sample(parcel, &event->sample);
		break;
	case EVENT_CODE:
		put(parcel, event->code.bytes.at, event->code.bytes.len);
		break;
	case EVENT_MAPPING:
		copy->mapping.path = NULL;
		break;
	case EVENT_EXEC:
	case EVENT_COMM:
		copy->comm = NULL;
		break;
	default:
		break;
	}
}

struct parcel_item *parcel_next(struct parcel *parcel)
{
	if (parcel->next == parcel->items.n)
		return NULL;

	struct parcel_item *item = &parcel->items.at[parcel->next++];
	if (item->event.kind == EVENT_SAMPLE)
		take_sample(parcel, &item->event.sample);
	if (item->event.kind == EVENT_CODE)
		item->event.code.bytes.at = take(parcel, item->event.code.bytes.len);
	return item;
}

void parcel_clear(struct parcel *parcel)
{
	if (parcel->bytes.cap > KEEP_BYTES)
		vec_done(&parcel->bytes);
	vec_clear(&parcel->items);
	vec_clear(&parcel->bytes);
	parcel->next = parcel->next_byte = 0;
}

void parcel_done(struct parcel *parcel)
{
	vec_done(&parcel->items);
	vec_done(&parcel->bytes);
}
