/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/workers.h"

#include "base/cleanup.h"
#include "base/pool.h"
#include "recording/worker.h"

#define FEW_CPUS 16 /* one worker keeps up with what these can run */
#define CPUS_PER_WORKER 8
#define DEFAULT_MAX 8

struct crew {
	struct images *images; /* borrowed */
	struct crew_options options;
	struct builder *builder;
	VEC(struct worker *) workers;
	bool is_alone; /* one worker, on our own thread */
	bool is_holding;
	bool has_images, has_kernel; /* the pseudo-images */
	uint64_t n_samples;
};

static unsigned default_workers(void)
{
	unsigned n_cpus = pool_threads(0), n = n_cpus / CPUS_PER_WORKER;

	return n_cpus <= FEW_CPUS ? 1 : n < DEFAULT_MAX ? n : DEFAULT_MAX;
}

struct crew *crew_new(struct images *images, const struct source_info *info,
		      const struct crew_options *options)
{
	struct crew *crew = alloc_zero(1, sizeof(*crew));
	unsigned wanted = options->n_workers ? options->n_workers : default_workers();

	crew->images = images;
	crew->options = *options;
	crew->builder = builder_new(images, info);
	wanted = wanted < CREW_MAX ? wanted : CREW_MAX;
	for (bool goes_on = true; goes_on;) {
		struct worker *worker = worker_new(images, info->isa, &options->unwinding, info->events.n);
		bool is_started = wanted > 1 && worker_start(worker) == 0;

		crew->is_alone = !is_started && crew->workers.n == 0;
		if (is_started || crew->is_alone)
			vec_push(&crew->workers, worker);
		else
			worker_free(worker);
		goes_on = is_started && crew->workers.n < wanted;
	}
	return crew;
}

void crew_free(struct crew *crew)
{
	if (!crew)
		return;
	for (size_t i = 0; i < crew->workers.n; i++)
		worker_free(crew->workers.at[i]);
	vec_done(&crew->workers);
	builder_free(crew->builder);
	free(crew);
}

/* ---- events ------------------------------------------------------------------------------------- */

/*
 * What walks call by these names gets its number here, where events come in order: workers would come to it
 * in any order.
 */
static void add_pseudo_images(struct crew *crew, const struct sample *sample)
{
	if (!crew->has_images)
		images_add_pseudo(crew->images, IMAGE_UNKNOWN, "[unknown]", NULL);
	if (!crew->has_kernel && sample->n_kernel_pc)
		images_add_pseudo(crew->images, IMAGE_KERNEL, "[kernel]", NULL);
	crew->has_images = true;
	crew->has_kernel |= sample->n_kernel_pc > 0;
}

static void tell_walked(void *context, const struct parcel_item *item)
{
	const struct crew *crew = context;

	if (crew->options.walked && !builder_has_exited(crew->builder, item->thread))
		crew->options.walked(crew->options.walked_context, &item->event, &item->use);
}

/* Not while an event is on its way to several workers: what is told may make the source read on. */
static void reap_all(struct crew *crew)
{
	for (size_t i = 0; !crew->is_alone && i < crew->workers.n; i++)
		worker_reap(crew->workers.at[i], tell_walked, crew);
}

static void take_sample(struct crew *crew, const struct event *event)
{
	const struct stack *stack = worker_walk(crew->workers.at[0], event);

	struct stack_use use = { stack->end, stack->reach, stack->elsewhere, stack->has_jit };
	builder_sample(crew->builder, event, stack);
	if (crew->options.walked)
		crew->options.walked(crew->options.walked_context, event, &use);
}

/* Threads get their rows as they come, so this deals them out evenly. */
static bool send_sample(struct crew *crew, const struct event *event)
{
	uint32_t thread = builder_count(crew->builder, event);

	crew->is_holding = true;
	return worker_send(crew->workers.at[thread % crew->workers.n], event, ++crew->n_samples, thread);
}

/* To all; unwinders do not care for other kinds. */
static bool send_other(struct crew *crew, const struct event *event)
{
	bool is_sent = false;

	if (event->kind != EVENT_MAPPING && event->kind != EVENT_FORK && event->kind != EVENT_EXEC &&
	    event->kind != EVENT_EXIT)
		return false;
	for (size_t i = 0; i < crew->workers.n; i++)
		is_sent |= worker_send(crew->workers.at[i], event, 0, 0);
	return is_sent;
}

void crew_event(struct crew *crew, const struct event *event)
{
	bool is_sample = event->kind == EVENT_SAMPLE;

	if (is_sample)
		add_pseudo_images(crew, &event->sample);
	else
		builder_event(crew->builder, event);
	if (crew->is_alone && is_sample)
		take_sample(crew, event);
	else if (crew->is_alone)
		unwinder_event(worker_unwinder(crew->workers.at[0]), event);
	else if (is_sample ? send_sample(crew, event) : send_other(crew, event))
		reap_all(crew);
}

/* Workers on threads of their own see what they get next. */
void crew_expect(struct crew *crew, struct sample_place next)
{
	if (crew->is_alone)
		unwinder_expect(worker_unwinder(crew->workers.at[0]), next);
}

bool crew_is_holding(const struct crew *crew)
{
	return crew->is_holding;
}

void crew_flush(struct crew *crew)
{
	crew->is_holding = false;
	for (size_t i = 0; !crew->is_alone && i < crew->workers.n; i++)
		worker_flush(crew->workers.at[i]);
	reap_all(crew);
}

struct builder *crew_builder(struct crew *crew)
{
	return crew->builder;
}

/* ---- the profile -------------------------------------------------------------------------------- */

static void await_all(struct crew *crew)
{
	for (size_t i = 0; !crew->is_alone && i < crew->workers.n; i++)
		worker_wait(crew->workers.at[i]);
	reap_all(crew);
}

static struct unwinder_stats sum_stats(const struct crew *crew)
{
	struct unwinder_stats sum = { 0 };

	for (size_t i = 0; i < crew->workers.n; i++) {
		const struct unwinder_stats *stats = unwinder_stats(worker_unwinder(crew->workers.at[i]));
		for (size_t j = 0; j < WITNESS_N; j++)
			sum.steps_by_witness[j] += stats->steps_by_witness[j];
	}
	return sum;
}

static void sum_ends(const struct crew *crew, struct profile_quality *quality)
{
	for (size_t i = 0; !crew->is_alone && i < crew->workers.n; i++)
		for (size_t j = 0; j < STACK_END_N; j++)
			quality->by_end[j] += worker_ends(crew->workers.at[i])[j];
}

/* The tree that is there may be that of the last time. */
static void weave_tree(const struct crew *crew, struct cct *ret)
{
	CLEANUP(freep) struct strand *strands = alloc_zero(crew->workers.n, sizeof(*strands));

	for (size_t i = 0; i < crew->workers.n; i++)
		strands[i] = worker_strand(crew->workers.at[i]);
	cct_done(ret);
	cct_init(ret);
	weave(strands, crew->workers.n, ret);
}

static struct profile *complete(struct crew *crew, struct profile *profile)
{
	sum_ends(crew, &profile->quality); /* the builder has set them to none */
	if (!crew->is_alone)
		weave_tree(crew, &profile->cct);
	return profile;
}

struct profile *crew_profile(struct crew *crew)
{
	await_all(crew);

	struct unwinder_stats stats = sum_stats(crew);
	return complete(crew, builder_profile(crew->builder, &stats));
}

struct profile *crew_finish(struct crew *crew)
{
	await_all(crew);

	struct unwinder_stats stats = sum_stats(crew);
	return complete(crew, builder_finish(crew->builder, &stats));
}

struct profile_quality crew_quality(struct crew *crew)
{
	await_all(crew);

	struct profile_quality quality = builder_profile(crew->builder, NULL)->quality;
	sum_ends(crew, &quality);
	return quality;
}

struct functions *crew_functions(struct crew *crew, image_id image)
{
	struct functions *found = NULL;

	for (size_t i = 0; i < crew->workers.n && !found; i++)
		found = unwinder_functions(worker_unwinder(crew->workers.at[i]), image);
	return found;
}

/* One by one: those that come later find most of what they have found there already. */
void crew_save(struct crew *crew)
{
	for (size_t i = 0; i < crew->workers.n; i++)
		unwinder_save(worker_unwinder(crew->workers.at[i]));
}
