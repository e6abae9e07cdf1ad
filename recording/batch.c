/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/batch.h"

#include <string.h>

#define KEEP_BYTES (4u << 20) /* kept from one batch to the next; deep stacks may need more */

static size_t batch_aligned(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static void batch_put(struct batch *batch, const void *from, size_t len)
{
	size_t n = batch->bytes.n;

	if (!len)
		return;
	vec_reserve(&batch->bytes, n + batch_aligned(len));
	memcpy(batch->bytes.at + n, from, len);
	batch->bytes.n = n + batch_aligned(len);
}

static void *batch_take(struct batch *batch, size_t len)
{
	void *at = batch->bytes.at + batch->next_byte;

	if (!len)
		return NULL;
	batch->next_byte += batch_aligned(len);
	return at;
}

static void batch_put_sample(struct batch *batch, const struct sample *sample)
{
	batch_put(batch, sample->stack.at, sample->stack.len);
	batch_put(batch, sample->below.at, sample->below.len);
	batch_put(batch, sample->kernel_pc, sample->n_kernel_pc * sizeof(*sample->kernel_pc));
	batch_put(batch, sample->user_pc, sample->n_user_pc * sizeof(*sample->user_pc));
	batch_put(batch, sample->hidden, sample->n_hidden * sizeof(*sample->hidden));
	batch_put(batch, sample->deep, sample->n_deep * sizeof(*sample->deep));
	for (uint32_t i = 0; i < sample->n_deep; i++)
		if (sample->deep[i].at)
			batch_put(batch, sample->deep[i].at, STACK_PAGE);
}

/* Reads back in the order in which it was written. */
static void batch_take_sample(struct batch *batch, struct sample *sample)
{
	sample->stack.at = batch_take(batch, sample->stack.len);
	sample->below.at = batch_take(batch, sample->below.len);
	sample->kernel_pc = batch_take(batch, sample->n_kernel_pc * sizeof(*sample->kernel_pc));
	sample->user_pc = batch_take(batch, sample->n_user_pc * sizeof(*sample->user_pc));
	sample->hidden = batch_take(batch, sample->n_hidden * sizeof(*sample->hidden));
	struct stack_page *pages = batch_take(batch, sample->n_deep * sizeof(*sample->deep));
	for (uint32_t i = 0; i < sample->n_deep; i++)
		pages[i].at = pages[i].at ? batch_take(batch, STACK_PAGE) : NULL;
	sample->deep = pages;
}

void batch_add(struct batch *batch, const struct event *event, uint64_t number, uint32_t thread)
{
	vec_push(&batch->items, (struct batch_item){ .event = *event, .number = number, .thread = thread });

	struct event *copy = &batch->items.at[batch->items.n - 1].event;
	switch (event_route(event->kind)->borrowed) {
	case EVENT_BORROWED_NOTHING:
		break;
	case EVENT_BORROWED_SAMPLE:
		batch_put_sample(batch, &event->sample);
		break;
	case EVENT_BORROWED_CODE:
		batch_put(batch, event->code.bytes.at, event->code.bytes.len);
		break;
	case EVENT_BORROWED_NAME:
		copy->comm = NULL;
		break;
	case EVENT_BORROWED_PATH:
		copy->mapping.path = NULL;
		break;
	}
}

struct batch_item *batch_next(struct batch *batch)
{
	if (batch->next == batch->items.n)
		return NULL;

	struct batch_item *item = &batch->items.at[batch->next++];
	switch (event_route(item->event.kind)->borrowed) {
	case EVENT_BORROWED_SAMPLE:
		batch_take_sample(batch, &item->event.sample);
		break;
	case EVENT_BORROWED_CODE:
		item->event.code.bytes.at = batch_take(batch, item->event.code.bytes.len);
		break;
	case EVENT_BORROWED_NOTHING:
	case EVENT_BORROWED_NAME:
	case EVENT_BORROWED_PATH:
		break;
	}
	return item;
}

void batch_clear(struct batch *batch)
{
	if (batch->bytes.cap > KEEP_BYTES)
		vec_done(&batch->bytes);
	vec_clear(&batch->items);
	vec_clear(&batch->bytes);
	batch->next = batch->next_byte = 0;
}

void batch_done(struct batch *batch)
{
	vec_done(&batch->items);
	vec_done(&batch->bytes);
}
