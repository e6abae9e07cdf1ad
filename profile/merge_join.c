/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that recognises processes and threads of earlier profiles.
 */
#include "profile/merge_private.h"

bool *merge_used_images(const struct profile *from)
{
	bool *is_used = alloc_zero(from->images.n + 1, sizeof(*is_used));

	for (size_t i = 0; i < from->cct.nodes.n; i++)
		if (from->cct.nodes.at[i].image != IMAGE_NONE)
			is_used[from->cct.nodes.at[i].image] = true;
	return is_used;
}

/* Two rows become one: from the first start to the last exit. */
static void join_times(uint64_t *start_ns, uint64_t *exit_ns, uint64_t other_start, uint64_t other_exit)
{
	*start_ns = other_start < *start_ns ? other_start : *start_ns;
	*exit_ns = other_exit > *exit_ns ? other_exit : *exit_ns;
}

static uint64_t join_hash(uint64_t a, uint64_t b)
{
	return hash_pair_secret(b, a);
}

static uint32_t join_process(struct merger *m, const struct profile_process *process)
{
	uint64_t key = join_hash(join_hash((uint32_t)process->pid, process->comm),
				 join_hash((uint64_t)process->user << 32 | process->group,
					   (uint64_t)process->rank << 1 | process->is_unplaced));
	uint32_t index = map_find(&m->process_of, key);

	if (index == MAP_NONE) {
		index = (uint32_t)m->all->processes.n;
		vec_push(&m->all->processes, *process);
		map_put(&m->process_of, key, index);
		return index;
	}
	struct profile_process *known = &m->all->processes.at[index];
	join_times(&known->start_ns, &known->exit_ns, process->start_ns, process->exit_ns);
	if (!known->command_line)
		known->command_line = process->command_line;
	if (!known->parent_pid)
		known->parent_pid = process->parent_pid;
	return index;
}

static uint32_t join_thread(struct merger *m, const struct profile_thread *thread)
{
	uint64_t key = join_hash(join_hash(thread->process, (uint32_t)thread->tid), thread->comm);
	uint32_t index = map_find(&m->thread_of, key);

	if (index == MAP_NONE) {
		index = (uint32_t)m->all->threads.n;
		vec_push(&m->all->threads, *thread);
		map_put(&m->thread_of, key, index);
		return index;
	}
	struct profile_thread *known = &m->all->threads.at[index];
	join_times(&known->start_ns, &known->exit_ns, thread->start_ns, thread->exit_ns);
	return index;
}

/* If joined by name: clears what belongs to a single pid. */
static void join_forget_numbers(struct profile_process *process)
{
	process->pid = process->parent_pid = 0;
	process->command_line = 0;
	process->exit_ns = 0;
}

/* A build may start a hundred processes a second: those are kept by name, not individually. */
static bool join_is_by_name(const struct merger *m, uint32_t process)
{
	const struct profile_process *it = &m->from->processes.at[process];

	if (m->options.joins == MERGE_BY_NAME)
		return true;
	return m->options.max_numbered && m->from->processes.n > m->options.max_numbered && it->exit_ns &&
	       (int64_t)it->start_ns > 0;
}

/* A server may start a thread for each request. */
static bool join_is_brief(const struct merger *m, const struct profile_thread *thread)
{
	return m->options.max_numbered && m->from->threads.n > m->options.max_numbered && thread->exit_ns &&
	       (int64_t)thread->start_ns > 0 && thread->tid != m->from->processes.at[thread->process].pid;
}

void merge_joined_tasks(struct merger *m)
{
	const struct profile *from = m->from;
	uint32_t *row = alloc_zero(from->processes.n + 1, sizeof(*row));

	for (uint32_t i = 0; i < from->processes.n; i++) {
		struct profile_process process = from->processes.at[i];
		process.is_unplaced = !merge_is_placed(from, i);
		uint64_t start_ns = process.is_unplaced ? 0 : from->run.start_unix_ns;
		process.comm = m->string[process.comm];
		process.command_line = m->string[process.command_line];
		process.start_ns += start_ns;
		process.exit_ns += process.exit_ns ? start_ns : 0;
		if (join_is_by_name(m, i))
			join_forget_numbers(&process);
		row[i] = join_process(m, &process);
	}
	for (uint32_t i = 0; i < from->threads.n; i++) {
		struct profile_thread thread = from->threads.at[i];
		uint64_t start_ns = merge_is_placed(from, thread.process) ? from->run.start_unix_ns : 0;
		bool by_name = join_is_by_name(m, thread.process) || join_is_brief(m, &thread);
		thread.process = row[thread.process];
		thread.comm = m->string[thread.comm];
		thread.start_ns += start_ns;
		thread.exit_ns += thread.exit_ns && !by_name ? start_ns : 0;
		if (by_name) {
			thread.tid = 0;
			thread.exit_ns = 0;
		}
		m->thread[i] = join_thread(m, &thread);
	}
	free(row);
}
