/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/workers.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/pool.h"
#include "collector/waits.h"
#include "recording/holders.h"
#include "recording/worker.h"

#define FEW_CPUS 16 /* one worker keeps up with this many */
#define CPUS_PER_WORKER 8
#define DEFAULT_MAX 8

struct workers {
	struct images *images; /* borrowed */
	struct workers_options options;
	struct builder *builder;
	VEC(struct worker *) all;
	bool is_alone; /* one worker, on our own thread */
	bool is_holding;
	bool has_images, has_kernel; /* the pseudo-images */
	uint64_t n_samples;
	uint32_t off_cpu; /* the event of waits; UINT32_MAX = none */
	bool has_near_waits, has_timed_waits;
	struct waits waits;
	struct holders holders;
	uint64_t n_cut;    /* waits that were reported as not ended */
	uint64_t n_before; /* waits that began before the recording */
};

static unsigned workers_default(void)
{
	unsigned n_cpus = pool_threads(0), n = n_cpus / CPUS_PER_WORKER;

	return n_cpus <= FEW_CPUS ? 1 : n < DEFAULT_MAX ? n : DEFAULT_MAX;
}

struct workers *workers_new(struct images *images, const struct source_info *info,
			    const struct workers_options *options)
{
	struct workers *workers = alloc_zero(1, sizeof(*workers));
	unsigned wanted = options->n_workers ? options->n_workers : workers_default();

	workers->images = images;
	workers->options = *options;
	workers->builder = builder_new(images, info, options->max_memory);
	if (options->notes_writers)
		builder_note_writers(workers->builder);
	workers->off_cpu = source_info_find(info, SOURCE_OFF_CPU);
	workers->has_near_waits = info->has_near_waits;
	workers->has_timed_waits = info->has_timed_waits;
	struct growth_events events = growth_events_of(info);
	wanted = wanted < WORKERS_MAX ? wanted : WORKERS_MAX;
	uint64_t max_bytes =
		options->max_memory / (2 * wanted); /* the merged tree is as large as all of them */
	for (bool goes_on = true; goes_on;) {
		events.worker = (uint32_t)workers->all.n;
		events.n_workers = wanted;
		struct worker *worker =
			worker_new(images, info->isa, &options->unwinding, options->code, &events, max_bytes);
		bool is_started = wanted > 1 && worker_start(worker) == 0;

		workers->is_alone = !is_started && workers->all.n == 0;
		if (is_started || workers->is_alone)
			vec_push(&workers->all, worker);
		else
			worker_free(worker);
		goes_on = is_started && workers->all.n < wanted;
	}
	return workers;
}

void workers_free(struct workers *workers)
{
	if (!workers)
		return;
	for (size_t i = 0; i < workers->all.n; i++)
		worker_free(workers->all.at[i]);
	vec_done(&workers->all);
	waits_done(&workers->waits);
	holders_done(&workers->holders);
	builder_free(workers->builder);
	free(workers);
}

/* ---- events ------------------------------------------------------------------------------------- */

/*
 * Gives the images that walks refer to by these names their numbers here, where events come in order: workers
 * would meet them in any order.
 */
static void workers_add_images(struct workers *workers, const struct sample *sample)
{
	if (!workers->has_images)
		images_add_pseudo(workers->images, IMAGE_UNKNOWN, "[unknown]", NULL);
	if (!workers->has_kernel && sample->n_kernel_pc)
		images_add_pseudo(workers->images, IMAGE_KERNEL, "[kernel]", NULL);
	workers->has_images = true;
	workers->has_kernel |= sample->n_kernel_pc > 0;
}

static void workers_tell(void *context, const struct batch_item *item)
{
	const struct workers *workers = context;

	if (workers->options.walked && !builder_has_exited(workers->builder, item->thread))
		workers->options.walked(workers->options.walked_context, &item->event, &item->use);
}

/* Not while an event is being sent to several workers: what is reported may make the source read more. */
static void workers_reap(struct workers *workers)
{
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		worker_reap(workers->all.at[i], workers_tell, workers);
}

static void workers_walk(struct workers *workers, const struct event *event)
{
	const struct stack *stack = worker_walk(workers->all.at[0], event);

	struct stack_use use = { stack->end, stack->reach, stack->elsewhere, stack->has_jit };
	builder_sample(workers->builder, event, stack);
	if (workers->options.placed)
		workers->options.placed(workers->options.placed_context, event,
					builder_last(workers->builder),
					unwinder_depend(worker_unwinder(workers->all.at[0])));
	if (workers->options.walked)
		workers->options.walked(workers->options.walked_context, event, &use);
}

/* Threads get their rows in order of appearance, so this distributes them evenly. */
static bool workers_send_sample(struct workers *workers, const struct event *event)
{
	uint32_t thread = builder_count(workers->builder, event);

	workers->is_holding = true;
	return worker_send(workers->all.at[thread % workers->all.n], event, ++workers->n_samples, thread);
}

/* ---- waits -------------------------------------------------------------------------------------- */

/* Whoever wakes a thread is counted where that thread waits: by the same worker. */
static bool workers_take_waker(struct workers *workers, const struct event *event)
{
	struct event told = *event;

	told.sample.woken.image = images_add_pseudo(workers->images, IMAGE_UNKNOWN, WOKEN_BY, NULL);
	if (workers->is_alone) {
		builder_waker(workers->builder, &told, worker_walk(workers->all.at[0], &told));
		return false;
	}
	struct event woken = { .pid = event->sample.woken.pid,
			       .tid = event->sample.woken.tid,
			       .time_ns = event->time_ns };
	uint32_t thread = builder_find(workers->builder, &woken);
	workers->is_holding = true;
	return worker_send(workers->all.at[thread % workers->all.n], &told, ++workers->n_samples, thread);
}

/* The thread is running again; it waited where it was last sampled, by the same worker. */
static bool workers_give_wait(struct workers *workers, const struct event *event)
{
	if (workers->is_alone) {
		builder_wait(workers->builder, event);
		return false;
	}
	uint32_t thread = builder_find(workers->builder, event);
	workers->is_holding = true;
	return worker_send(workers->all.at[thread % workers->all.n], event, ++workers->n_samples, thread);
}

static bool workers_end_wait(struct workers *workers, const struct wait *wait)
{
	return workers_give_wait(workers,
				 &(struct event){ .kind = EVENT_SWITCH,
						  .time_ns = builder_last_ns(workers->builder),
						  .pid = wait->pid,
						  .tid = wait->tid,
						  .sw = { .waited_ns = wait->sum.ns,
							  .own_ns = wait->own_ns,
							  .n = wait->sum.n,
							  .longest_ns = wait->sum.longest_ns,
							  .is_rest = !wait->is_sampled,
							  .sort = wait->sort,
							  .is_lost = (wait->is_before && !wait->is_placed) ||
								     wait->is_unlike } });
}

/* A wait timed in the kernel. */
static bool workers_take_measured(struct workers *workers, const struct event *event)
{
	struct event told = *event;

	workers->n_cut += event->sw.is_cut;
	if (!event->sw.is_rest)
		told.sw.is_lost = !waits_saw(&workers->waits, event->tid, event->sw.since_ns);
	if (event->sw.waker)
		told.sw.woken_metric =
			builder_waker_metric(workers->builder, event->sw.waker_pid, event->sw.waker);
	struct holder holder = holders_end_of(&workers->holders, event);
	if (holder.ns) {
		told.sw.held_metric = builder_holder_metric(workers->builder, holder.pid, holder.tid);
		told.sw.held_ns = holder.ns;
	}
	return workers_give_wait(workers, &told);
}

#define SEEN_SOON_NS 3000000 /* a thread seen running that soon did not wait */

static bool workers_end_before(struct workers *workers, const struct wait *wait)
{
	if (wait->sum.ns < SEEN_SOON_NS)
		return false;
	workers->n_before += !wait->is_placed;
	return workers_end_wait(workers, wait);
}

/* Threads that were waiting when we started, until they are first seen running. */
static bool workers_note_before(struct workers *workers, const struct event *event)
{
	struct wait wait;

	if (event->kind == EVENT_SWITCH && event->sw.is_out && event->sw.is_cut) {
		waits_before(&workers->waits, event->pid, event->tid, event->time_ns, event->sw.is_placed);
		return false;
	}
	return (event->kind == EVENT_SAMPLE || event->kind == EVENT_SWITCH || event->kind == EVENT_EXIT) &&
	       waits_runs(&workers->waits, event->tid, event->time_ns, &wait) &&
	       workers_end_before(workers, &wait);
}

static bool workers_forget_waits(struct workers *workers, pid_t tid)
{
	bool is_sent = false;

	for (struct wait rest; waits_forget(&workers->waits, tid, &rest);)
		is_sent |= workers_end_wait(workers, &rest);
	return is_sent;
}

static bool workers_note_switches(struct workers *workers, const struct event *event)
{
	struct wait wait;
	bool is_before = event->kind == EVENT_SWITCH && event->sw.is_out && event->sw.is_cut;

	if (is_before)
		return false;
	if (event->kind == EVENT_SWITCH && event->sw.is_measured)
		return workers_take_measured(workers, event);
	if (event->kind == EVENT_EXIT)
		return workers_forget_waits(workers, event->tid);
	bool is_sample = event->kind == EVENT_SAMPLE && event->sample.event == workers->off_cpu &&
			 !event->sample.woken.tid;
	if (workers->has_timed_waits && is_sample)
		waits_see(&workers->waits, event->pid, event->tid, event->time_ns);
	if (workers->has_timed_waits)
		return false;
	bool is_out = event->kind == EVENT_SWITCH && event->sw.is_out;
	if (workers->has_near_waits ? is_out : is_sample)
		waits_out(&workers->waits, event->pid, event->tid, event->time_ns);
	else if (is_out)
		waits_leave(&workers->waits, event->pid, event->tid, event->time_ns, event->sw.is_preempted);
	return event->kind == EVENT_SWITCH && !event->sw.is_out &&
	       waits_in(&workers->waits, event->tid, event->time_ns, &wait) &&
	       workers_end_wait(workers, &wait);
}

/* Notes a sentence with this number, unless it is 0. */
__attribute__((format(printf, 3, 0))) static void workers_note(struct workers *workers, uint64_t n,
							       const char *sentence)
{
	char note[160];

	if (!n)
		return;
	snprintf(note, sizeof(note), sentence, (unsigned long long)n);
	builder_note(workers->builder, note);
}

void workers_cut_waits(struct workers *workers, uint64_t end_ns)
{
	struct wait wait;
	uint64_t n_cut = workers->n_cut;

	if (!end_ns)
		end_ns = builder_last_ns(workers->builder);
	while (waits_cut(&workers->waits, end_ns, &wait)) {
		n_cut += wait.is_cut;
		workers->n_before += wait.is_before && !wait.is_placed;
		workers_end_wait(workers, &wait);
	}
	workers_note(workers, n_cut,
		     "%llu waits had not ended when the recording ended; they are counted up to that moment");
	workers_note(workers, workers->has_near_waits ? 0 : workers->n_before,
		     "%llu threads were already waiting when the recording began; the call paths of those "
		     "waits are not known");
	workers_note(workers, workers->waits.n_lost,
		     "%llu waits are incomplete because a record was lost: their duration or their call path "
		     "is missing");
}

/* ---- any event ---------------------------------------------------------------------------------- */

static bool workers_send(struct workers *workers, const struct event *event)
{
	bool is_sent = false;

	for (size_t i = 0; i < workers->all.n; i++)
		is_sent |= worker_send(workers->all.at[i], event, 0, 0);
	return is_sent;
}

void workers_event(struct workers *workers, const struct event *event)
{
	bool has_waits = workers->off_cpu != UINT32_MAX;
	bool is_sent = has_waits && workers_note_before(workers, event);

	is_sent |= has_waits && workers_note_switches(workers, event);

	switch (event_route(event->kind)->unwinders) {
	case EVENT_UNWINDERS_ONE:
		workers_add_images(workers, &event->sample);
		if (event->sample.woken.tid)
			is_sent |= workers_take_waker(workers, event);
		else if (workers->is_alone)
			workers_walk(workers, event);
		else
			is_sent |= workers_send_sample(workers, event);
		break;
	case EVENT_UNWINDERS_EVERY:
		builder_event(workers->builder, event);
		if (workers->is_alone)
			unwinder_event(worker_unwinder(workers->all.at[0]), event);
		else
			is_sent |= workers_send(workers, event);
		break;
	case EVENT_UNWINDERS_NONE:
		builder_event(workers->builder, event);
		break;
	}
	if (is_sent)
		workers_reap(workers);
}

/* Workers on threads of their own see what comes next themselves. */
void workers_expect(struct workers *workers, struct sample_place next)
{
	if (workers->is_alone)
		unwinder_expect(worker_unwinder(workers->all.at[0]), next);
}

bool workers_is_holding(const struct workers *workers)
{
	return workers->is_holding;
}

void workers_flush(struct workers *workers)
{
	workers->is_holding = false;
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		worker_flush(workers->all.at[i]);
	workers_reap(workers);
}

bool workers_are_idle(const void *context)
{
	const struct workers *workers = context;

	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		if (!worker_is_idle(workers->all.at[i]))
			return false;
	return true;
}

void workers_mark_told(struct workers *workers)
{
	if (workers->is_alone)
		builder_mark_told(workers->builder);
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		worker_mark_told(workers->all.at[i]);
}

struct builder *workers_builder(struct workers *workers)
{
	return workers->builder;
}

/* ---- the profile -------------------------------------------------------------------------------- */

static void workers_await(struct workers *workers)
{
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		worker_wait(workers->all.at[i]);
	workers_reap(workers);
}

static struct unwinder_stats workers_await_stats(struct workers *workers)
{
	struct unwinder_stats sum = { 0 };

	workers_await(workers);
	for (size_t i = 0; i < workers->all.n; i++) {
		const struct unwinder_stats *stats = unwinder_stats(worker_unwinder(workers->all.at[i]));
		for (size_t j = 0; j < WITNESS_N; j++)
			sum.steps_by_witness[j] += stats->steps_by_witness[j];
	}
	return sum;
}

static void workers_sum_ends(const struct workers *workers, struct profile_quality *quality)
{
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		for (size_t j = 0; j < STACK_END_N; j++)
			quality->by_end[j] += worker_ends(workers->all.at[i])[j];
}

/* The existing tree may be the previous result. */
static void workers_merge_trees(const struct workers *workers, struct cct *ret)
{
	CLEANUP(freep) struct shard *shards = alloc_zero(workers->all.n, sizeof(*shards));

	for (size_t i = 0; i < workers->all.n; i++)
		shards[i] = worker_shard(workers->all.at[i]);
	cct_done(ret);
	cct_init(ret);
	shards_merge(shards, workers->all.n, ret);
}

static struct profile *workers_complete(struct workers *workers, struct profile *profile)
{
	struct profile_quality *quality = &profile->quality;

	workers_sum_ends(workers, quality); /* the builder has reset them */
	if (!workers->is_alone)
		workers_merge_trees(workers, &profile->cct);
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		quality->folded_contexts += worker_n_folded(workers->all.at[i]);
	quality->folded_samples = quality->folded_contexts ? cct_other_samples(&profile->cct) : 0;
	return profile;
}

struct profile *workers_profile(struct workers *workers)
{
	struct unwinder_stats stats = workers_await_stats(workers);
	return workers_complete(workers, builder_profile(workers->builder, &stats));
}

struct profile *workers_finish(struct workers *workers)
{
	struct unwinder_stats stats = workers_await_stats(workers);
	return workers_complete(workers, builder_finish(workers->builder, &stats));
}

struct profile *workers_next(struct workers *workers, uint64_t now_ns)
{
	struct unwinder_stats stats = workers_await_stats(workers);
	struct profile *done = workers_complete(workers, builder_next(workers->builder, &stats, now_ns));
	for (size_t i = 0; !workers->is_alone && i < workers->all.n; i++)
		worker_restart(workers->all.at[i]);
	return done;
}

struct profile_quality workers_quality(struct workers *workers)
{
	workers_await(workers);

	struct profile_quality quality = builder_profile(workers->builder, NULL)->quality;
	workers_sum_ends(workers, &quality);
	return quality;
}

struct functions *workers_functions(struct workers *workers, image_id image)
{
	struct functions *found = NULL;

	for (size_t i = 0; i < workers->all.n && !found; i++)
		found = unwinder_functions(worker_unwinder(workers->all.at[i]), image);
	return found;
}

/* One after another: later ones find most of their results already stored. */
void workers_save(struct workers *workers)
{
	for (size_t i = 0; i < workers->all.n; i++)
		unwinder_save(worker_unwinder(workers->all.at[i]));
}

void workers_hurry(struct workers *workers)
{
	for (size_t i = 0; i < workers->all.n; i++)
		unwinder_hurry(worker_unwinder(workers->all.at[i]));
}

void workers_each(struct workers *workers, unwinder_act *act, void *context)
{
	for (size_t i = 0; i < workers->all.n; i++)
		act(worker_unwinder(workers->all.at[i]), context);
}
