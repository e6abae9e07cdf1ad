/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/tasks.h"

#include <string.h>

#include "base/text.h"

#define NAMES_AT_ONCE 65536 /* different ones in one profile; later ones wait for tasks_settle */

void tasks_done(struct tasks *tasks)
{
	map_done(&tasks->later_of);
	vec_done(&tasks->later);
	map_done(&tasks->process_of);
	map_done(&tasks->thread_of);
	map_done(&tasks->living);
	vec_done(&tasks->n_alive);
	vec_done(&tasks->all);
	vec_done(&tasks->unused);
}

/* ---- who lives, of lazy ones --------------------------------------------------------------------- */

static struct task *tasks_living(const struct tasks *tasks, pid_t tid)
{
	uint32_t index = map_find(&tasks->living, (uint32_t)tid);

	return index == MAP_NONE ? NULL : &tasks->all.at[index];
}

static struct task *tasks_add_living(struct tasks *tasks, const struct task *task)
{
	uint32_t index = map_find(&tasks->living, (uint32_t)task->tid);

	if (index == MAP_NONE && tasks->unused.n)
		index = tasks->unused.at[--tasks->unused.n];
	if (index == MAP_NONE) {
		index = (uint32_t)tasks->all.n;
		vec_push(&tasks->all, *task);
	}
	tasks->all.at[index] = *task;
	map_put(&tasks->living, (uint32_t)task->tid, index);
	return &tasks->all.at[index];
}

static void tasks_remove_living(struct tasks *tasks, pid_t tid)
{
	uint32_t index = map_find(&tasks->living, (uint32_t)tid);

	if (index == MAP_NONE)
		return;
	map_remove(&tasks->living, (uint32_t)tid);
	vec_push(&tasks->unused, index);
}

static void tasks_note_fork(struct tasks *tasks, const struct task *task, pid_t parent_tid)
{
	const struct task *parent = tasks_living(tasks, parent_tid);
	struct task it = *task;

	if (parent) {
		memcpy(it.comm, parent->comm, sizeof(it.comm));
		it.user = parent->user;
		it.group = parent->group;
	}
	tasks_add_living(tasks, &it);
	map_remove(&tasks->thread_of, (uint32_t)it.tid); /* the row with these numbers was another thread's */
	if (it.tid == it.pid)
		map_remove(&tasks->process_of, (uint32_t)it.pid);
}

void tasks_restart(struct tasks *tasks, struct profile *profile, uint64_t later_ns)
{
	tasks->profile = profile;
	map_done(&tasks->process_of);
	map_done(&tasks->thread_of);
	map_done(&tasks->later_of);
	vec_clear(&tasks->later);
	tasks->n_names = 0;
	vec_clear(&tasks->n_alive);
	for (size_t i = 0; i < tasks->all.n; i++)
		tasks->all.at[i].start_ns -= later_ns;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static uint32_t tasks_add_process(struct tasks *tasks, pid_t pid, pid_t parent_pid, uint64_t time_ns)
{
	uint32_t index = (uint32_t)tasks->profile->processes.n;
	const struct task *first = tasks_living(tasks, pid);
	struct profile_process row = { .pid = pid, .parent_pid = parent_pid, .start_ns = time_ns };

	if (first) {
		row.parent_pid = first->parent_pid;
		row.start_ns = first->start_ns;
		row.comm = intern_add(&tasks->profile->strings, first->comm);
		row.user = first->user;
		row.group = first->group;
	}
	vec_push(&tasks->profile->processes, row);
	vec_push(&tasks->n_alive, 0);
	map_put(&tasks->process_of, (uint32_t)pid, index);
	return index;
}

static uint32_t tasks_add_thread(struct tasks *tasks, uint32_t process, pid_t tid, uint64_t time_ns)
{
	uint32_t index = (uint32_t)tasks->profile->threads.n;
	const struct task *task = tasks_living(tasks, tid);
	struct profile_thread row = { .process = process,
				      .tid = tid,
				      .comm = tasks->profile->processes.at[process].comm,
				      .start_ns = task ? task->start_ns : time_ns };

	if (task)
		row.comm = intern_add(&tasks->profile->strings, task->comm);
	vec_push(&tasks->profile->threads, row);
	tasks->n_alive.at[process]++;
	map_put(&tasks->thread_of, (uint32_t)tid, index);
	return index;
}

static void tasks_put_name(struct tasks *tasks, uint32_t thread, uint32_t comm)
{
	struct profile_thread *row = &tasks->profile->threads.at[thread];

	row->comm = comm;
	if (row->tid == tasks->profile->processes.at[row->process].pid)
		tasks->profile->processes.at[row->process].comm = comm;
}

static void tasks_put_later(struct tasks *tasks, uint32_t thread, const char *comm)
{
	uint32_t index = map_find(&tasks->later_of, thread);

	if (index == MAP_NONE) {
		index = (uint32_t)tasks->later.n;
		map_put(&tasks->later_of, thread, index);
		vec_push(&tasks->later, ((struct task_name){ .thread = thread }));
	}
	text_copy(tasks->later.at[index].comm, TASK_NAME_MAX, comm);
}

static void tasks_rename(struct tasks *tasks, uint32_t thread, const char *comm)
{
	struct intern *strings = &tasks->profile->strings;
	size_t n_before = strings->strings.n;

	if (tasks->n_names >= NAMES_AT_ONCE) {
		tasks_put_later(tasks, thread, comm);
		return;
	}
	tasks_put_name(tasks, thread, intern_add(strings, comm));
	tasks->n_names += strings->strings.n - n_before;
}

void tasks_settle(struct tasks *tasks)
{
	for (size_t i = 0; i < tasks->later.n; i++)
		tasks_put_name(tasks, tasks->later.at[i].thread,
			       intern_add(&tasks->profile->strings, tasks->later.at[i].comm));
	map_done(&tasks->later_of);
	vec_clear(&tasks->later);
}

const char *tasks_comm(const struct tasks *tasks, uint32_t thread)
{
	uint32_t later = map_find(&tasks->later_of, thread);

	return later == MAP_NONE
		       ? intern_text(&tasks->profile->strings, tasks->profile->threads.at[thread].comm)
		       : tasks->later.at[later].comm;
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
	bool is_living = tasks->is_lazy && tasks_living(tasks, tid);

	if (tasks->is_lazy && !is_living) /* its start was not reported */
		tasks_add_living(tasks, &(struct task){ pid, tid, 0, time_ns, 0, 0, "" });
	if (process == MAP_NONE)
		process = tasks_add_process(tasks, pid, 0, time_ns);
	if (thread != MAP_NONE && tasks->profile->threads.at[thread].process == process)
		return thread;
	if (is_living)
		tasks->profile->processes.at[process].exit_ns = 0; /* only the threads with rows had ended */
	return tasks_add_thread(tasks, process, tid, time_ns);
}

void tasks_fork(struct tasks *tasks, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid,
		uint64_t time_ns)
{
	if (tasks->is_lazy) {
		struct task task = { pid, tid, parent_pid == pid ? 0 : parent_pid, time_ns, 0, 0, "" };
		tasks_note_fork(tasks, &task, parent_tid);
		return;
	}
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
	uint32_t later = parent == MAP_NONE ? MAP_NONE : map_find(&tasks->later_of, parent);
	if (later != MAP_NONE) {
		char now[TASK_NAME_MAX];
		text_copy(now, sizeof(now), tasks->later.at[later].comm);
		tasks_put_later(tasks, thread, now);
	}
}

void tasks_name(struct tasks *tasks, pid_t pid, pid_t tid, const char *comm, uint64_t time_ns)
{
	uint32_t thread = map_find(&tasks->thread_of, (uint32_t)tid);

	if (tasks->is_lazy) {
		struct task *task = tasks_living(tasks, tid);
		if (!task || task->pid != pid)
			task = tasks_add_living(tasks, &(struct task){ pid, tid, 0, time_ns, 0, 0, "" });
		text_copy(task->comm, sizeof(task->comm), comm);
		if (thread == MAP_NONE ||
		    tasks->profile->threads.at[thread].process != tasks_process(tasks, pid))
			return;
	} else {
		thread = tasks_thread(tasks, pid, tid, time_ns);
	}

	tasks_rename(tasks, thread, comm);
}

/* What was sampled before may be from files of the user of that time, who can execute a program that makes
 * the process root's, such as sudo. */
static void row_user(struct profile_process *row, uint32_t user, uint32_t group)
{
	bool is_another = row->user > 1 && row->user != user;

	if (is_another && user <= 1)
		return;
	row->user = is_another ? USER_NOBODY + 1 : user;
	row->group = is_another ? USER_NOBODY : group;
}

void tasks_user(struct tasks *tasks, pid_t pid, uint32_t user, uint32_t group)
{
	uint32_t process = tasks_process(tasks, pid);
	struct task *task = tasks_living(tasks, pid);

	if (task) {
		task->user = user;
		task->group = group;
	}
	if (process != MAP_NONE)
		row_user(&tasks->profile->processes.at[process], user, group);
}

void tasks_user_is_unknown(struct tasks *tasks, pid_t pid)
{
	const struct task *task = tasks_living(tasks, pid);
	uint32_t process = tasks_process(tasks, pid);
	uint32_t user = task                  ? task->user
			: process != MAP_NONE ? tasks->profile->processes.at[process].user
					      : 0;

	if (user <= 1)
		tasks_user(tasks, pid, USER_NOBODY + 1, USER_NOBODY);
}

/* The first thread of a process ends without a row: it never had one, or that of the thread that began as the
 * first has ended, and then another one executed a program and got its number. */
static void tasks_exit_first(struct tasks *tasks, uint32_t thread, uint32_t process, uint64_t time_ns)
{
	bool is_last = thread == MAP_NONE ? tasks->n_alive.at[process] == 0
					  : tasks->profile->threads.at[thread].process == process;

	if (is_last)
		tasks->profile->processes.at[process].exit_ns = time_ns;
}

void tasks_exit(struct tasks *tasks, pid_t pid, pid_t tid, uint64_t time_ns)
{
	uint32_t index = map_find(&tasks->thread_of, (uint32_t)tid);

	tasks_remove_living(tasks, tid);
	if (index == MAP_NONE || tasks->profile->threads.at[index].exit_ns != 0) {
		uint32_t of = tid == pid ? tasks_process(tasks, pid) : MAP_NONE;
		if (of != MAP_NONE)
			tasks_exit_first(tasks, index, of, time_ns);
		return;
	}

	struct profile_thread *thread = &tasks->profile->threads.at[index];
	struct profile_process *process = &tasks->profile->processes.at[thread->process];
	if (process->pid != pid)
		return;
	thread->exit_ns = time_ns;
	/* With lazy rows, the first thread may live on without one. */
	if (--tasks->n_alive.at[thread->process] == 0 && !tasks_living(tasks, pid))
		process->exit_ns = time_ns;
}
