/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/prefetch.h"

#include "profile/resolve_apart.h"

#define FIRST_NS 500000000ull
#define GROWTH_PART 32 /* if the tree grew by less than this part, a fork is not worth it */

/* What the child has to do. */
struct prefetch_job {
	struct profile *profile;
	struct images *images;
	const struct resolve_options *options;
};

void prefetch_init(struct prefetch *prefetch, bool is_wanted, uint64_t now_ns)
{
	*prefetch = (struct prefetch){ .start_ns = now_ns, .next_ns = is_wanted ? now_ns + FIRST_NS : 0 };
}

bool prefetch_is_due(struct prefetch *prefetch, uint64_t now_ns)
{
	if (!prefetch->next_ns || now_ns < prefetch->next_ns)
		return false;
	prefetch->next_ns = now_ns + (now_ns - prefetch->start_ns) / 2;
	return !child_is_busy(&prefetch->child);
}

/* Without notes or progress: those come when names are looked up at the end. */
static int prefetch_run(void *context, int result)
{
	const struct prefetch_job *job = context;
	struct resolve_options quiet = *job->options;
	struct diag diag = { 0 };

	(void)result;
	quiet.symbolize.n_threads = 1; /* the other CPUs may be idle for a reason */
	quiet.symbolize.has_time = true;
	quiet.symbolize.progress = NULL;
	quiet.symbolize.search.note = NULL;
	quiet.symbolize.search.fetching = NULL;
	quiet.symbolize.search.asks_debuginfod =
		false; /* an interrupted transfer would have to start again */
	int error = resolve_apart(job->profile, job->images, &quiet, &diag);
	store_close(quiet.symbolize.store); /* enforces its size limit */
	return error < 0;
}

void prefetch_start(struct prefetch *prefetch, struct profile *profile, struct images *images,
		    const struct resolve_options *options, const struct workers *workers)
{
	struct prefetch_job job = { profile, images, options };
	struct child_options child = { .run = prefetch_run,
				       .context = &job,
				       .is_at_rest = workers_are_idle,
				       .rest_context = workers,
				       .is_idle = true };
	size_t n_nodes = profile->cct.nodes.n;

	if (n_nodes - prefetch->n_nodes < prefetch->n_nodes / GROWTH_PART)
		return;
	prefetch->n_nodes = n_nodes;
	child_start(&prefetch->child, &child); /* if there is no memory for it now: perhaps next time */
}

void prefetch_end(struct prefetch *prefetch)
{
	child_leave(&prefetch->child);
}
