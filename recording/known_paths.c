/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/known_paths.h"

#include <string.h>

void known_paths_init(struct known_paths *known, struct perf_probe *probe, const struct isa *isa)
{
	*known = (struct known_paths){ .probe = probe, .isa = isa };
}

void known_paths_done(struct known_paths *known)
{
	vec_done(&known->paths);
	map_done(&known->number_of);
	map_done(&known->class_of);
	vec_done(&known->classes);
}

static uint32_t known_paths_number(struct known_paths *known, uint32_t node, uint32_t thread)
{
	uint64_t key = (uint64_t)node << 32 | thread;
	uint32_t number = map_find(&known->number_of, key);

	if (number == MAP_NONE && known->paths.n < TRACE_PATHS_MAX) {
		map_put(&known->number_of, key, number = (uint32_t)known->paths.n);
		vec_push(&known->paths, ((struct known_path){ .node = node, .thread = thread }));
	}
	return number;
}

void known_paths_learn(struct known_paths *known, const struct event *event, uint32_t node, uint32_t thread,
		       const struct depend *depend)
{
	const struct isa *isa = known->isa;
	const struct sample *sample = &event->sample;
	uint64_t usual = 1ull << isa->sp | 1ull << isa->pc | 1ull << isa->fp | 1ull << isa->ra;
	struct trace_path path = { .pc = sample->regs.value[isa->pc],
				   .fp = sample->regs.value[isa->fp],
				   .ra = sample->regs.value[isa->ra],
				   .uses_fp = depend->regs >> isa->fp & 1,
				   .uses_ra = !isa->call_pushes_ra && depend->regs >> isa->ra & 1 };
	struct trace_path_key key = { .frame = sample->regs.value[isa->sp],
				      .thread = (uint32_t)event->tid,
				      .function = sample->function };

	if (!known->probe || !depend->is_known || !sample->duration || sample->n_hidden ||
	    depend->words.n > TRACE_PATH_WORDS || (depend->regs & ~usual))
		return;
	path.number = known_paths_number(known, node, thread);
	if (path.number == MAP_NONE)
		return;
	for (size_t i = 0; i < depend->words.n; i++) {
		path.words[i].addr = depend->words.at[i].addr;
		path.words[i].value = depend->words.at[i].value;
	}
	path.n_words = (uint32_t)depend->words.n;
	bpf_trace_learn(known->probe->program, &key, &path);
	known->n_learnt++;
}

void known_paths_forget(struct known_paths *known)
{
	if (known->probe && known->n_learnt)
		bpf_trace_forget_paths(known->probe->program);
	known->n_learnt = 0;
}

/* Where classes of call durations are added. */
struct known_paths_place {
	struct known_paths *known;
	struct builder *builder;
};

static void known_paths_add_class(void *context, uint32_t number, uint32_t class, uint64_t n)
{
	const struct known_paths_place *place = context;
	struct known_paths *known = place->known;
	uint64_t key = (uint64_t)number << 32 | class;
	uint32_t at = map_find(&known->class_of, key);

	if (number >= known->paths.n)
		return;
	if (at == MAP_NONE) {
		map_put(&known->class_of, key, at = (uint32_t)known->classes.n);
		vec_push(&known->classes, 0);
	}
	if (n > known->classes.at[at])
		builder_count_class(place->builder, known->paths.at[number].node,
				    known->paths.at[number].thread, class, n - known->classes.at[at]);
	known->classes.at[at] = n;
}

/* All of them only grow, except the shortest and the longest. */
static struct trace_sums known_paths_new(const struct trace_sums *now, const struct trace_sums *told)
{
	struct trace_sums fresh = { .seen = now->seen - told->seen,
				    .calls = now->calls - told->calls,
				    .wall = now->wall - told->wall,
				    .off_cpu = now->off_cpu - told->off_cpu,
				    .faults = now->faults - told->faults,
				    .arg = now->arg - told->arg,
				    .ret = now->ret - told->ret,
				    .duration = now->duration - told->duration,
				    .least = now->least,
				    .most = now->most };

	for (size_t i = 0; i < ARRAY_LEN(fresh.counted); i++)
		fresh.counted[i] = now->counted[i] - told->counted[i];
	return fresh;
}

void known_paths_fetch(struct known_paths *known, struct builder *builder, uint64_t now)
{
	struct known_paths_place place = { known, builder };

	if (!known->probe)
		return;
	for (uint32_t i = 0; i < known->paths.n; i++) {
		struct known_path *path = &known->paths.at[i];
		struct trace_sums sums;
		if (!bpf_trace_read_sums(known->probe->program, i, &sums) ||
		    memcmp(&sums, &path->told, sizeof(sums)) == 0)
			continue;
		struct trace_sums fresh = known_paths_new(&sums, &path->told);
		builder_count_calls(builder, path->node, path->thread, now, &fresh);
		path->told = sums;
	}
	bpf_trace_each_class(known->probe->program, known_paths_add_class, &place);
}

/* Uses new numbers: the old ones keep the shortest and the longest of the past. */
void known_paths_restart(struct known_paths *known, struct builder *builder)
{
	known_paths_forget(known);
	known_paths_fetch(known, builder, 0);
	map_done(&known->number_of);
}
