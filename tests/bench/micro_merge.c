/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_merge: synthetic profiles like those of the ranks of a job: each has CONTEXTS contexts, of which 95 %
 * are common to all, and the rest is drawn from POOL; one in seven has costs.
 *
 *     micro_merge write FOLDER N CONTEXTS POOL          as files, rank-0.data and so on
 *     micro_merge merge|reduce N CONTEXTS POOL          merges them as if read one by one; prints the cost
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "profile/merge.h"
#include "profile/timeline.h"

struct job {
	uint32_t n_contexts, n_pool;
};

static uint32_t micro_text(struct profile *p, const char *text)
{
	return intern_add(&p->strings, text);
}

static void micro_describe(struct profile *p, uint32_t rank)
{
	p->run = (struct profile_run){ .tool_version = micro_text(p, "0.1.0"),
				       .command_line = micro_text(p, "cpprof record --no-resolve -o rank-%r.data -- ./app"),
				       .mode = micro_text(p, "record"),
				       .host = micro_text(p, "node"),
				       .arch = micro_text(p, "x86_64"),
				       .target = micro_text(p, "./app"),
				       .n_cpus = 64,
				       .start_unix_ns = 1790000000000000000 + rank % 1000 * UINT64_C(1000000),
				       .duration_ns = 1000000000,
				       .stack_size = 16384 };
	vec_push(&p->events, ((struct profile_event){ micro_text(p, "cpu-clock"), micro_text(p, "ns"), 997, 0, 0 }));
	vec_push(&p->metrics, ((struct profile_metric){ micro_text(p, "samples"), micro_text(p, "count"), UINT32_MAX }));
	vec_push(&p->metrics, ((struct profile_metric){ micro_text(p, "cpu-clock"), micro_text(p, "ns"), 0 }));
	vec_push(&p->processes, (struct profile_process){ .pid = (int32_t)(1000 + rank), .comm = micro_text(p, "app"), .rank = 1 + rank });
	vec_push(&p->threads, (struct profile_thread){ .tid = (int32_t)(1000 + rank), .comm = micro_text(p, "app") });
	for (uint32_t i = 0; i < 8; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/opt/app/lib%u.so", i);
		vec_push(&p->images, (struct profile_image){ .path = micro_text(p, path),
							     .elf_machine = 62,
							     .build_id = { .len = 20, .bytes = { (uint8_t)i, 7 } } });
	}
}

/* Context number k of the job: below one of the first few, or mostly below the previous one. */
static uint32_t micro_context(struct profile *p, const uint32_t *common, uint32_t n_common, uint32_t k)
{
	uint64_t dice = hash_u64(k + 1);
	uint32_t parent = k == 0 ? CCT_ROOT : dice % 8 ? common[(k - 1) % n_common] : common[dice / 8 % (k < n_common ? k : n_common)];

	return cct_child(&p->cct, parent, (uint32_t)(dice >> 20) % 8, 0x1000 + (dice >> 24) % 0x100000 * 4, dice % 3 ? CCT_IS_RETURN : 0);
}

static void micro_cost(struct profile *p, struct timeline *timeline, uint32_t node, uint64_t dice)
{
	uint64_t samples = 1 + dice % 2;

	cct_add_value(&p->cct, node, 0, 0, samples);
	cct_add_value(&p->cct, node, 0, 1, samples * 1003009 + (dice >> 40) % 1000);
	timeline_add_many(timeline, 0, (dice >> 16) % 200000000, samples);
	p->quality.samples += samples;
	p->quality.by_end[STACK_COMPLETE] += samples;
}

static struct profile *micro_rank(const struct job *job, uint32_t rank)
{
	struct profile *p = profile_new();
	uint32_t n_common = job->n_contexts - job->n_contexts / 20;
	CLEANUP(freep) uint32_t *common = alloc_zero(n_common, sizeof(*common));
	struct timeline timeline;

	timeline_init(&timeline);
	micro_describe(p, rank);
	for (uint32_t i = 0; i < job->n_contexts; i++) {
		uint64_t dice = hash_u64((uint64_t)rank << 32 | i);
		uint32_t k = i < n_common ? i : n_common + (uint32_t)(dice % job->n_pool);
		uint32_t node = micro_context(p, common, n_common, k);
		if (i < n_common)
			common[i] = node;
		if (hash_u64(k) % 7 == 0)
			micro_cost(p, &timeline, node, hash_u64(dice));
	}
	timeline_copy(&timeline, p);
	timeline_done(&timeline);
	return p;
}

static int micro_write(const struct job *job, const char *folder, uint32_t n)
{
	struct diag diag = { 0 };

	for (uint32_t rank = 0; rank < n; rank++) {
		CLEANUP(profile_freep) struct profile *p = micro_rank(job, rank);
		CLEANUP(freep) char *path = alloc_printf("%s/rank-%u.data", folder, rank);
		if (profile_write(p, path, &diag) < 0)
			return fprintf(stderr, "%s: %s\n", diag.what, diag.why), 1;
	}
	return 0;
}

static double micro_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Making the profiles is not counted; reading, adding and writing are. */
static int micro_merge(const struct job *job, bool reduces, uint32_t n)
{
	struct merger *merger = merger_new(&(struct merge_options){ .reduces = reduces });
	CLEANUP(writer_done) struct writer result = { 0 };
	struct diag diag = { 0 };
	struct rusage usage;
	double spent = 0, start;

	for (uint32_t rank = 0; rank < n; rank++) {
		CLEANUP(profile_freep) struct profile *made = micro_rank(job, rank);
		CLEANUP(writer_done) struct writer file = { 0 };
		profile_pack(made, &file);
		start = micro_seconds();
		CLEANUP(profile_freep) struct profile *p = NULL;
		if (profile_parse(writer_bytes(&file), "rank", &p, &diag) < 0 || merger_add(merger, p, "rank", &diag) < 0)
			return fprintf(stderr, "%s: %s\n", diag.what, diag.why), 1;
		spent += micro_seconds() - start;
	}
	start = micro_seconds();
	CLEANUP(profile_freep) struct profile *all = merger_finish(merger);
	profile_pack(all, &result);
	spent += micro_seconds() - start;
	getrusage(RUSAGE_SELF, &usage);
	printf("%u ranks of %u contexts: %zu contexts, %.1f s of CPU, %.1f MB on disk, peak %.1f MB\n", n, job->n_contexts,
	       all->cct.nodes.n, spent, (double)result.len / 1e6, (double)usage.ru_maxrss / 1024);
	return 0;
}

int main(int argc, char **argv)
{
	bool writes = argc == 6 && strcmp(argv[1], "write") == 0;
	bool merges = argc == 5 && (strcmp(argv[1], "merge") == 0 || strcmp(argv[1], "reduce") == 0);
	char **numbers = argv + (writes ? 3 : 2);

	if (!writes && !merges)
		return fprintf(stderr, "usage: micro_merge write FOLDER N CONTEXTS POOL | merge|reduce N CONTEXTS POOL\n"), 2;
	uint32_t n = (uint32_t)strtoul(numbers[0], NULL, 10);
	struct job job = { (uint32_t)strtoul(numbers[1], NULL, 10), (uint32_t)strtoul(numbers[2], NULL, 10) };
	if (!n || job.n_contexts < 20 || !job.n_pool)
		return fprintf(stderr, "micro_merge: at least one rank, 20 contexts and one in the pool\n"), 2;
	return writes ? micro_write(&job, argv[2], n) : micro_merge(&job, argv[1][0] == 'r', n);
}
