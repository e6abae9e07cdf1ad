/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/tasks.h"

void tasks_done(struct tasks *tasks)
{
	map_done(&tasks->process_of);
	map_done(&tasks->thread_of);
	vec_done(&tasks->n_alive);
}

static uint32_t tasks_add_process(struct tasks *tasks, pid_t pid, pid_t parent_pid, uint64_t time_ns)
{
	uint32_t index = (uint32_t)tasks->profile->processes.n;

	vec_push(&tasks->profile->processes,
		 (struct profile_process){ .pid = pid, .parent_pid = parent_pid, .start_ns = time_ns });
	vec_push(&tasks->n_alive, 0);
	map_put(&tasks->process_of, (uint32_t)pid, index);
	return index;
}

static uint32_t tasks_add_thread(struct tasks *tasks, uint32_t process, pid_t tid, uint64_t time_ns)
{
	uint32_t index = (uint32_t)tasks->profile->threads.n;

	vec_push(&tasks->profile->threads,
		 (struct profile_thread){ .process = process,
					  .tid = tid,
					  .comm = tasks->profile->processes.at[process].comm,
					  .start_ns = time_ns });
	tasks->n_alive.at[process]++;
	map_put(&tasks->thread_of, (uint32_t)tid, index);
	return index;
}

uint32_t tasks_process(const struct tasks *tasks, pid_t pid)
{
	return map_find(&tasks->process_of, (uint32_t)pid);
}

uint32_t tasks_find(const struct tasks *tasks, pid_t pid, pid_t tid)
{
	uint32_t process = tasks_process(tasks, pid);
	uint32_t thread = map_find(&tasks->thread_of, (uint32_t)tid);

	if (process == MAP_NONE || thread == MAP_NONE)
		return MAP_NONE;
	return tasks->profile->threads.at[thread].process == process ? thread : MAP_NONE;
}

uint32_t tasks_thread(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns)
{
	uint32_t process = tasks_process(tasks, pid);
	uint32_t thread = map_find(&tasks->thread_of, (uint32_t)tid);

	if (process == MAP_NONE)
		process = tasks_add_process(tasks, pid, 0, time_ns);
	if (thread == MAP_NONE || tasks->profile->threads.at[thread].process != process)
		thread = tasks_add_thread(tasks, process, tid, time_ns);
	return thread;
}

void tasks_fork(struct tasks *tasks, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
		uint64_t time_ns)
{
	uint32_t process = tasks_process(tasks, pid);
	uint32_t parent = map_find(&tasks->thread_of, (uint32_t)parent_tid);
	uint32_t comm = parent == MAP_NONE ? 0 : tasks->profile->threads.at[parent].comm;

	if (parent_pid != pid || process == MAP_NONE) {
		uint32_t from = tasks_process(tasks, parent_pid);
		process = tasks_add_process(tasks, pid, parent_pid == pid ? 0 : parent_pid, time_ns);
		tasks->profile->processes.at[process].comm = comm;
		if (from != MAP_NONE) {
			tasks->profile->processes.at[process].user = tasks->profile->processes.at[from].user;
			tasks->profile->processes.at[process].group =
				tasks->profile->processes.at[from].group;
		}
	}
	uint32_t thread = tasks_add_thread(tasks, process, tid, time_ns);
	if (comm)
		tasks->profile->threads.at[thread].comm = comm;
}

void tasks_name(struct tasks *tasks, pid_t pid, pid_t tid, const char *comm, uint64_t time_ns)
{
	uint32_t thread = tasks_thread(tasks, pid, tid, time_ns);
	struct profile_thread *row = &tasks->profile->threads.at[thread];

	row->comm = intern_add(&tasks->profile->strings, comm);
	if (tid == pid)
		tasks->profile->processes.at[row->process].comm = row->comm;
}

void tasks_exit(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns)
{
	uint32_t index = map_find(&tasks->thread_of, (uint32_t)tid);

	if (index == MAP_NONE || tasks->profile->threads.at[index].exit_ns != 0)
		return;

	struct profile_thread *thread = &tasks->profile->threads.at[index];
	struct profile_process *process = &tasks->profile->processes.at[thread->process];
	if (process->pid != pid)
		return;
	thread->exit_ns = time_ns;
	if (--tasks->n_alive.at[thread->process] == 0)
		process->exit_ns = time_ns;
}
