/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "recording/batch.h"
#include "recording/shard.h"
#include "recording/workers.h"
#include "tests/test.h"

/* ---- shards -------------------------------------------------------------------------------------- */

/* A tree, and what each sample added. */
struct plant {
	struct cct cct;
	VEC(uint64_t) node_since;
	VEC(uint64_t) value_since;
};

static void plant_init(struct plant *plant)
{
	*plant = (struct plant){ 0 };
	cct_init(&plant->cct);
	vec_push(&plant->node_since, 0);
	vec_push(&plant->node_since, 0);
}

static void plant_done(struct plant *plant)
{
	cct_done(&plant->cct);
	vec_done(&plant->node_since);
	vec_done(&plant->value_since);
}

static void plant_add(struct plant *plant, uint64_t number, uint32_t thread, const char *path)
{
	uint32_t node = CCT_ROOT;

	for (; *path; path++)
		node = cct_child(&plant->cct, node, 0, (uint8_t)*path, 0);
	cct_add_value(&plant->cct, node, thread, 0, 1);
	while (plant->node_since.n < plant->cct.nodes.n)
		vec_push(&plant->node_since, number);
	while (plant->value_since.n < plant->cct.values.n)
		vec_push(&plant->value_since, number);
}

static struct shard shard_of(const struct plant *plant)
{
	return (struct shard){ &plant->cct, plant->node_since.at, plant->value_since.at };
}

static void check_same(const struct cct *a, const struct cct *b)
{
	CHECK_EQ(a->nodes.n, b->nodes.n);
	CHECK_EQ(a->values.n, b->values.n);
	for (size_t i = 0; i < a->nodes.n; i++) {
		CHECK_EQ(a->nodes.at[i].parent, b->nodes.at[i].parent);
		CHECK_EQ(a->nodes.at[i].vaddr, b->nodes.at[i].vaddr);
	}
	for (size_t i = 0; i < a->values.n; i++) {
		CHECK_EQ(a->values.at[i].node, b->values.at[i].node);
		CHECK_EQ(a->values.at[i].thread, b->values.at[i].thread);
		CHECK_EQ(a->values.at[i].value, b->values.at[i].value);
	}
}

TEST(merged_shards_are_the_tree_of_all_samples)
{
	/* Both threads reach nodes that the other has reached before, and after. */
	static const char *const paths[] = { "abc",  "abd", "x", "abde", "abc", "xy",
					     "abdf", "xyz", "",  "abde", "q" };
	struct plant all, own[3];
	struct shard shards[3];
	struct cct merged;

	plant_init(&all);
	for (size_t i = 0; i < 3; i++)
		plant_init(&own[i]);
	for (uint32_t i = 0; i < ARRAY_LEN(paths) * 4; i++) {
		uint32_t thread = i * i % 7 % 2; /* the third shard stays empty */
		plant_add(&all, i + 1, thread, paths[i % ARRAY_LEN(paths)]);
		plant_add(&own[thread], i + 1, thread, paths[i % ARRAY_LEN(paths)]);
	}
	for (size_t i = 0; i < 3; i++)
		shards[i] = shard_of(&own[i]);
	CHECK(own[0].cct.nodes.n > 4 && own[1].cct.nodes.n > 4);
	cct_init(&merged);
	shards_merge(shards, 3, &merged);
	check_same(&all.cct, &merged);
	cct_done(&merged);
	plant_done(&all);
	for (size_t i = 0; i < 3; i++)
		plant_done(&own[i]);
}

/* ---- batches ------------------------------------------------------------------------------------ */

TEST(a_batch_copies_everything_that_events_refer_to)
{
	struct batch batch = { 0 };
	uint8_t stack[13], pages[2][STACK_PAGE];
	uint64_t kernel[3] = { 1, 2, 3 }, user[1] = { 4 };
	struct stack_page deep[3] = { { pages[0], 50 }, { NULL, 0 }, { pages[1], 51 } };
	struct event sample = { .kind = EVENT_SAMPLE, .time_ns = 9, .pid = 1, .tid = 2 };

	sample.sample = (struct sample){ .weight = 7,
					 .stack = { stack, sizeof(stack) },
					 .deep = deep,
					 .n_deep = 3,
					 .kernel_pc = kernel,
					 .n_kernel_pc = 3,
					 .user_pc = user,
					 .n_user_pc = 1 };
	for (int round = 0; round < 100; round++) {
		memset(stack, round, sizeof(stack));
		memset(pages[0], round + 1, STACK_PAGE);
		memset(pages[1], round + 2, STACK_PAGE);
		batch_add(&batch, &sample, (uint64_t)round, 5);
		batch_add(&batch, &(struct event){ .kind = EVENT_EXEC, .pid = round, .comm = "gone" }, 0, 0);
	}
	memset(stack, 0xee, sizeof(stack)); /* the batch must have copied all of it */
	memset(pages, 0xee, sizeof(pages));
	memset(deep, 0xee, sizeof(deep));
	memset(kernel, 0xee, sizeof(kernel));

	for (int round = 0; round < 100; round++) {
		const struct batch_item *item = batch_next(&batch);
		const struct sample *s = &item->event.sample;
		CHECK_EQ(item->number, round);
		CHECK_EQ(item->thread, 5);
		CHECK_EQ(s->stack.at[0], round);
		CHECK_EQ(s->stack.at[12], round);
		CHECK_EQ(s->kernel_pc[2], 3);
		CHECK_EQ(s->user_pc[0], 4);
		CHECK_EQ(s->deep[2].hash, 51);
		CHECK(s->deep[1].at == NULL);
		CHECK_EQ(s->deep[0].at[STACK_PAGE - 1], round + 1);
		CHECK_EQ(s->deep[2].at[0], round + 2);
		item = batch_next(&batch);
		CHECK_EQ(item->event.kind, EVENT_EXEC);
		CHECK_EQ(item->event.pid, round);
		CHECK(item->event.comm == NULL);
	}
	CHECK(batch_next(&batch) == NULL);
	batch_clear(&batch);
	CHECK(batch_next(&batch) == NULL);
	batch_done(&batch);
}

/* ---- workers -------------------------------------------------------------------------------------- */

/* Threads that come and go, without code: their stacks end at once, but each in its own place. */
static void run_workers(struct workers *workers, unsigned first, unsigned n)
{
	uint8_t stack[512] = { 0 };

	for (unsigned i = first; i < first + n; i++) {
		pid_t tid = 100 + (pid_t)(i % 11);
		struct event event = { .kind = EVENT_SAMPLE, .time_ns = 1000 + i, .pid = 100, .tid = tid };
		const struct isa *isa = &isa_x86_64;
		event.sample.weight = 3;
		event.sample.stack = (struct bytes){ stack, sizeof(stack) };
		event.sample.regs.known = 1ull << isa->pc | 1ull << isa->sp;
		event.sample.regs.value[isa->pc] = 0x1000 + i * 7 % 97;
		event.sample.regs.value[isa->sp] = 0x7000000;
		if (i % 50 == 0)
			workers_event(workers, &(struct event){ .kind = EVENT_FORK,
								.time_ns = 1000 + i,
								.pid = 200 + (pid_t)i,
								.tid = 200 + (pid_t)i,
								.fork = { 100, 100 } });
		workers_event(workers, &event);
	}
}

/* The reports of unwinds: each sample once, those of one thread in order. */
struct echo {
	uint64_t n, last_ns[11];
};

static void hear(void *context, const struct event *event, const struct stack_use *use)
{
	struct echo *echo = context;
	uint64_t *last_ns = &echo->last_ns[event->tid - 100];

	CHECK_EQ(use->end, STACK_NO_IMAGE);
	CHECK_EQ(use->reach, 0);
	CHECK_EQ(event->sample.stack.len, 512);
	CHECK(event->time_ns > *last_ns);
	*last_ns = event->time_ns;
	echo->n++;
}

static struct profile *profile_by(unsigned n_workers, struct images *images, const struct source_info *info)
{
	struct echo echo = { 0 };
	struct workers_options options = { .n_workers = n_workers, .walked = hear, .walked_context = &echo };
	struct workers *workers = workers_new(images, info, &options);

	run_workers(workers, 0, 700);
	CHECK_EQ(workers_are_idle(workers), n_workers == 1); /* some samples are still buffered */
	CHECK_EQ(workers_quality(workers).samples, 700);
	CHECK(workers_are_idle(workers));
	CHECK_EQ(workers_quality(workers).by_end[STACK_NO_IMAGE], 700);
	CHECK_EQ(workers_profile(workers)->quality.by_end[STACK_NO_IMAGE], 700); /* as for a checkpoint */
	run_workers(workers, 700, 800);
	struct profile *profile = workers_finish(workers);
	CHECK_EQ(echo.n, 1500);
	workers_free(workers);
	return profile;
}

TEST(the_profile_does_not_depend_on_the_number_of_workers)
{
	struct source_event clock = { .name = "cpu-clock", .unit = "ns" };
	struct source_info info = { .isa = &isa_x86_64 };
	struct profile *alone;
	struct images *images[3];

	vec_push(&info.events, clock);
	images[0] = images_new();
	alone = profile_by(1, images[0], &info);
	CHECK_EQ(alone->quality.samples, 1500);
	CHECK_EQ(alone->threads.n, 11 + 30);
	CHECK(alone->cct.values.n > 200);
	for (unsigned i = 1; i < 3; i++) {
		images[i] = images_new();
		struct profile *many = profile_by(i * 3, images[i], &info);
		check_same(&alone->cct, &many->cct);
		CHECK_EQ(many->threads.n, alone->threads.n);
		CHECK_EQ(many->quality.by_end[STACK_NO_IMAGE], 1500);
		profile_free(many);
		images_free(images[i]);
	}
	profile_free(alone);
	images_free(images[0]);
	vec_done(&info.events);
}
