/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recording_epoch: a continuous recording, with one profile per epoch. The source, the results of code
 * analysis and the running processes are kept; the profile starts again.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "profile/resolve_apart.h"
#include "profile/resolve_pieces.h"
#include "recording/recording_private.h"

#define LAST_NS (20 * CLOCK_NS_PER_S) /* whoever stops the daemon does not wait for ever */
#define TIDY_NS (30 * CLOCK_NS_PER_S)
#define MEMORY_LOOK_NS (CLOCK_NS_PER_S / 2)
/* Resident memory, including mapped files, above which memory is freed at once, unless the last time left
 * nearly as much. */
#define MEMORY_MUCH (44u << 20)
#define MEMORY_STEP (16u << 20) /* above what the last time left */
/* Pages of files, which can be read again. If there are fewer, they are kept, and if memory is short, the
 * results of code analysis are dropped, too. */
#define FILE_MEMORY (8u << 20)
#define OWN_MEMORY (16u << 20) /* of results of code analysis, above which they are dropped in any case */
#define LOOK_NS 20000000       /* between two checks whether symbol lookup is done */

void recording_epoch_plan(struct recording *r, uint64_t start_ns)
{
	if (!r->options.epoch_ns)
		return;
	r->epoch_start_ns = r->account_from.time_ns = start_ns;
	r->epoch_end_ns = start_ns + r->options.epoch_ns;
}

/* Resident memory in bytes; ret_own: without pages of files. The file stays open: it is read twice a second.
 */
static uint64_t epoch_memory(struct recording *r, uint64_t *ret_own)
{
	unsigned long resident = 0, shared = 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[128];

	if (!r->memory_fd)
		r->memory_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(r->memory_fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "%*u %lu %lu", &resident, &shared) != 2)
		resident = shared = 0;
	*ret_own = resident > shared ? (resident - shared) * page : 0;
	return resident * page;
}

static void epoch_forget_code(struct unwinder *unwinder, void *forgets_all)
{
	unwinder_forget(unwinder, *(const bool *)forgets_all);
}

static void epoch_tidy_now(struct recording *r, uint64_t now, bool forgets_all, bool drops_files)
{
	uint64_t own;

	r->tidy_ns = now;
	workers_each(r->workers, epoch_forget_code, &forgets_all);
	if (drops_files)
		images_rest(r->images);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	r->rest_bytes = epoch_memory(r, &own);
	r->rest_own = forgets_all ? own : r->rest_own;
}

static void epoch_mark_images(struct unwinder *unwinder, void *is_used)
{
	unwinder_mark_images(unwinder, is_used);
}

static void epoch_forget_in_unwinder(struct unwinder *unwinder, void *is_unused)
{
	unwinder_forget_images(unwinder, is_unused);
}

/* The profile that begins refers to no image yet, and the child that looks up the names of the last one has
 * a copy of all. */
static void epoch_forget_images(struct recording *r)
{
	CLEANUP(freep) bool *is_used = alloc_zero(images_count(r->images) + 1, sizeof(*is_used));

	if (!r->source->ops->forget_files || !workers_are_idle(r->workers))
		return;
	workers_each(r->workers, epoch_mark_images, is_used);
	CLEANUP(freep) bool *is_unused = images_find_unused(r->images, is_used);
	r->source->ops->forget_files(r->source);
	if (!is_unused)
		return;
	workers_each(r->workers, epoch_forget_in_unwinder, is_unused);
	images_forget(r->images, is_unused);
}

/* The task of the child process. */
struct epoch_job {
	struct recording *recording;
	struct profile *profile;
};

/* Symbols of JIT-compiled code are written into the epoch itself. */
static int epoch_name_jit(const struct epoch_job *job, struct resolve_options *options)
{
	struct profile *profile = job->profile;
	bool *is_jit = alloc_zero(profile->images.n + 1, sizeof(*is_jit)), is_any = false;
	struct diag diag = { 0 };

	for (size_t i = 0; i < profile->images.n; i++)
		is_any |= is_jit[i] = profile->images.at[i].kind == IMAGE_JIT;
	options->only = is_jit;
	int error = is_any ? resolve_apart(profile, job->recording->images, options, &diag) : 0;
	options->only = NULL;
	free(is_jit);
	if (is_any && error == 0)
		job->recording->options.listener.epoch_names(job->recording->options.listener.context,
							     profile);
	return error;
}

static int epoch_name(void *context, int result)
{
	const struct epoch_job *job = context;
	struct recording *r = job->recording;
	const struct recording_listener *listener = &r->options.listener;
	struct resolve_options quiet = r->names;
	CLEANUP(patience_done) struct patience patience = { 0 };
	struct resolve_pieces pieces = { listener->context, listener->epoch_lacking, listener->epoch_names };

	(void)result;
	quiet.symbolize.n_threads = 1;
	quiet.symbolize.has_time = true;
	quiet.is_frugal = true;
	quiet.patience = &patience;
	quiet.symbolize.progress = NULL;
	quiet.symbolize.search.note = NULL;
	quiet.symbolize.search.fetching = NULL;
	int error = epoch_name_jit(job, &quiet); /* first: its processes may end at any time */
	quiet.is_for_all = true;
	resolve_in_pieces(job->profile, r->images, &quiet, &pieces);
	listener->epoch_named(listener->context, job->profile);
	store_close(quiet.symbolize.store); /* trims it to its size limit */
	return error < 0;
}

/* Waits for the lookup, which may be that of an earlier epoch. */
static void epoch_end_naming(struct recording *r)
{
	uint64_t end_ns = clock_now_ns() + LAST_NS;

	child_raise(&r->namer); /* there was no idle time for it */
	while (child_is_busy(&r->namer) && clock_now_ns() < end_ns)
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
	r->n_nameless += child_is_busy(&r->namer);
	child_kill(&r->namer);
}

/*
 * Mapped files may be deleted soon; as long as they are open here, they can be read. The lookup runs at idle
 * priority; if the last one got no time, this one runs at normal priority.
 */
static void epoch_start_naming(struct recording *r, struct profile *profile, bool is_last)
{
	if (r->options.file) /* time passes as fast as the file is read */
		child_wait(&r->namer);
	if (is_last) /* a short epoch: the symbols of the one before are worth more */
		epoch_end_naming(r);
	bool is_late = child_is_busy(&r->namer);
	struct epoch_job job = { r, profile };
	struct child_options child = { .run = epoch_name,
				       .context = &job,
				       .is_at_rest = workers_are_idle,
				       .rest_context = r->workers,
				       .is_idle = !is_late && !is_last && !r->options.file,
				       .max_ns = is_last ? LAST_NS : 0 };

	if (!r->options.listener.epoch_named || !profile->quality.samples)
		return;
	child_kill(&r->namer);
	r->n_nameless += is_late;
	if (child_start(&r->namer, &child) < 0)
		r->n_nameless++;
}

static void epoch_hand_over(struct recording *r, struct profile *profile, uint64_t end_ns, bool is_last)
{
	const struct recording_listener *listener = &r->options.listener;

	/* Storing an epoch needs memory, and what is changed after a child was forked is there twice. */
	cct_forget_hash(&profile->cct);
	if (!is_last && workers_are_idle(r->workers))
		epoch_tidy_now(r, clock_now_ns(), true, true);
	profile->run.mode = intern_add(&profile->strings, r->options.mode);
	profile->run.command_line = intern_add(&profile->strings, r->options.command_line);
	profile->run.duration_ns = end_ns > r->epoch_start_ns ? end_ns - r->epoch_start_ns : 0;
	const struct source_info *info = &r->source->info; /* its clock may have been set meanwhile */
	const char *next =
		listener->epoch(listener->context, profile, info->start_unix_ns + (end_ns - info->start_ns));
	epoch_start_naming(r, profile, is_last);
	profile_free(profile);
	if (!is_last)
		epoch_forget_images(r);
	if (!r->options.file)
		recording_live_write_to(r, next);
}

/* If the machine was suspended, or its clock was set forward, the epoch ended then. */
void recording_epoch_follow_clock(struct recording *r, uint64_t now)
{
	if (r->epoch_end_ns && !r->options.file && now > r->epoch_start_ns && now < r->epoch_end_ns &&
	    recording_live_clock_gap(r))
		r->epoch_end_ns = now;
}

/* A checkpoint of an epoch must not be written after the epoch itself. */
void recording_epoch_tick(struct recording *r, uint64_t time_ns)
{
	while (r->epoch_end_ns && time_ns >= r->epoch_end_ns) {
		if (!r->options.file) {
			checkpoint_finish(&r->checkpoint);
			recording_live_describe(r, workers_profile(r->workers));
			recording_live_set_clock(r); /* from the next one on */
		}
		struct profile *profile = workers_next(r->workers, r->epoch_end_ns);
		if (!r->options.file) {
			recording_account(r, profile, r->epoch_end_ns);
			recording_live_note_silent(r, profile);
		}
		epoch_hand_over(r, profile, r->epoch_end_ns, false);
		uint64_t gap =
			time_ns - r->epoch_end_ns; /* without events for long: one empty epoch is enough */
		r->epoch_start_ns = r->epoch_end_ns;
		r->epoch_end_ns += r->options.epoch_ns * (1 + gap / r->options.epoch_ns);
	}
}

/*
 * A machine runs thousands of images in a week: the results of code analysis are kept in the store, what they
 * were computed from is not kept.
 */
void recording_epoch_tidy(struct recording *r, uint64_t now)
{
	uint64_t own, resident;

	if (!r->options.epoch_ns || now - r->memory_ns < MEMORY_LOOK_NS || !workers_are_idle(r->workers))
		return;
	r->memory_ns = now;
	if (child_is_busy(&r->namer) && now > r->epoch_start_ns + r->options.epoch_ns / 2)
		child_raise(&r->namer);
	resident = epoch_memory(r, &own);
	r->rest_bytes = resident < r->rest_bytes ? resident : r->rest_bytes;
	r->rest_own = own < r->rest_own ? own : r->rest_own;
	bool is_much = resident >= MEMORY_MUCH && resident >= r->rest_bytes + MEMORY_STEP;
	if (!is_much && now - r->tidy_ns < TIDY_NS)
		return;
	bool is_of_files = resident - own >= FILE_MEMORY;
	epoch_tidy_now(r, now, (is_much && !is_of_files) || own > r->rest_own + OWN_MEMORY,
		       is_much || is_of_files);
}

void recording_epoch_end(struct recording *r)
{
	if (!r->epoch_end_ns)
		return;
	struct profile *profile = r->profile;
	r->profile = NULL;
	uint64_t last_ns = builder_last_ns(workers_builder(r->workers));
	uint64_t end_ns = r->stopped_ns > last_ns ? r->stopped_ns : last_ns;
	epoch_hand_over(r, profile, end_ns, true);
	epoch_end_naming(r);
}

void recording_checkpoint_to(struct recording *r, const char *path)
{
	recording_live_write_to(r, path);
}

uint64_t recording_nameless(const struct recording *r)
{
	return r->n_nameless;
}
