/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/machine.h"

#include <stdlib.h>
#include <unistd.h>

#include "recording/tasks.h"
#include "tests/test.h"

#define HANDLER 0x1000u /* handle_softirqs, in `kallsyms` below */
#define KSOFTIRQD 0x2000u
#define OTHER 0x3000u
#define WEIGHT 1000

static const char kallsyms[] = "0000000000001000 T handle_softirqs\n0000000000002000 t run_ksoftirqd\n"
			       "0000000000003000 T vfs_read\n0000000000004000 T _end\n";

struct scene {
	struct machine *machine;
	char path[64];
};

static void scene_open(struct scene *scene, struct machine_options options)
{
	snprintf(scene->path, sizeof(scene->path), "/tmp/cpprof_kallsyms.XXXXXX");
	int fd = mkstemp(scene->path);

	CHECK(fd >= 0 && write(fd, kallsyms, sizeof(kallsyms) - 1) == (ssize_t)sizeof(kallsyms) - 1);
	close(fd);
	options.kallsyms = scene->path;
	scene->machine = machine_new(&options);
}

static void scene_close(struct scene *scene)
{
	machine_free(scene->machine);
	unlink(scene->path);
}

static struct event fork_of(pid_t pid, pid_t tid, pid_t parent)
{
	return (struct event){ .kind = EVENT_FORK,
			       .time_ns = 1,
			       .pid = pid,
			       .tid = tid,
			       .fork = { .parent_pid = parent, .parent_tid = parent } };
}

static struct event comm_of(pid_t pid, const char *comm)
{
	return (struct event){ .kind = EVENT_COMM, .time_ns = 2, .pid = pid, .tid = pid, .comm = comm };
}

static const struct event *take_sample(struct scene *scene, pid_t pid, const uint64_t *pcs, uint32_t n,
				       struct event *room)
{
	static struct event event;

	event = (struct event){ .kind = EVENT_SAMPLE, .time_ns = 3, .pid = pid, .tid = pid };
	event.sample.kernel_pc = pcs;
	event.sample.n_kernel_pc = n;
	event.sample.weight = WEIGHT;
	event.sample.regs.known = 1;
	return machine_event(scene->machine, &event, room);
}

TEST(samples_of_idle_cpus_are_ignored)
{
	struct scene scene;
	struct event room;
	const uint64_t pcs[] = { OTHER };

	scene_open(&scene, (struct machine_options){ .splits = true });
	CHECK(machine_sees_interrupts(scene.machine));
	CHECK(take_sample(&scene, 0, pcs, 1, &room) == NULL);
	CHECK_EQ(machine_dropped(scene.machine).idle, WEIGHT);
	CHECK_EQ(machine_dropped(scene.machine).others, 0);
	scene_close(&scene);
}

TEST(an_interrupt_is_not_attributed_to_the_interrupted_process)
{
	struct scene scene;
	struct event room;
	const uint64_t pcs[] = { OTHER + 8, HANDLER + 8, OTHER + 16 };

	scene_open(&scene, (struct machine_options){ .splits = true });
	const struct event *event = take_sample(&scene, 77, pcs, 3, &room);
	CHECK(event && event->pid == MACHINE_INTERRUPTS && event->tid == MACHINE_INTERRUPTS);
	CHECK_EQ(event->sample.n_kernel_pc, 2);
	CHECK(event->sample.is_whole && !event->sample.regs.known);
	/* On an idle CPU, too. */
	CHECK(take_sample(&scene, 0, pcs, 3, &room) != NULL);
	scene_close(&scene);
}

TEST(ksoftirqd_is_a_kernel_thread)
{
	struct scene scene;
	struct event room, fork = fork_of(16, 16, MACHINE_KERNEL);
	const uint64_t pcs[] = { HANDLER + 8, KSOFTIRQD + 8 };

	scene_open(&scene, (struct machine_options){ .splits = true });
	const struct event *event = machine_event(scene.machine, &fork, &room);
	CHECK(event && event->pid == MACHINE_KERNEL && event->fork.parent_pid == MACHINE_KERNEL);
	event = take_sample(&scene, 16, pcs, 2, &room);
	CHECK(event && event->pid == MACHINE_KERNEL && event->tid == 16 && event->sample.is_whole);
	CHECK_EQ(event->sample.n_kernel_pc, 2);
	scene_close(&scene);
}

TEST(a_pid_reused_by_a_user_process_is_no_longer_a_kernel_thread)
{
	struct scene scene;
	struct event room, kernel = fork_of(16, 16, MACHINE_KERNEL), user = fork_of(16, 16, 1);

	scene_open(&scene, (struct machine_options){ .splits = true });
	machine_event(scene.machine, &kernel, &room);
	CHECK(machine_event(scene.machine, &user, &room)->pid == 16);
	CHECK(take_sample(&scene, 16, NULL, 0, &room)->pid == 16);
	scene_close(&scene);
}

TEST(rules_by_command_follow_the_name)
{
	static char *const deny[] = { "command:ssh*" };
	struct scene scene;
	struct event room, sshd = comm_of(5, "sshd"), other = comm_of(5, "bash");

	scene_open(&scene,
		   (struct machine_options){ .splits = true, .rules = { .deny = deny, .n_deny = 1 } });
	CHECK(machine_event(scene.machine, &sshd, &room) == NULL);
	CHECK(take_sample(&scene, 5, NULL, 0, &room) == NULL);
	CHECK_EQ(machine_dropped(scene.machine).others, WEIGHT);
	CHECK(machine_event(scene.machine, &other, &room) == &other);
	CHECK(take_sample(&scene, 5, NULL, 0, &room) != NULL);
	scene_close(&scene);
}

TEST(a_sample_between_fork_and_exec_does_not_get_a_name_that_is_denied)
{
	static char *const deny[] = { "command:ssh*" }, *const allow[] = { "command:bash" };
	const struct machine_rules rules[] = { { .deny = deny, .n_deny = 1 },
					       { .allow = allow, .n_allow = 1 } };
	struct event room, bash = comm_of(5, "bash"), child = fork_of(6, 6, 5), sshd = comm_of(6, "sshd");

	sshd.kind = EVENT_EXEC;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		struct scene scene;
		scene_open(&scene, (struct machine_options){ .splits = true, .rules = rules[i] });
		machine_event(scene.machine, &bash, &room);
		machine_event(scene.machine, &child, &room);
		CHECK(take_sample(&scene, 6, NULL, 0, &room) != NULL);
		const struct event *event = machine_event(scene.machine, &sshd, &room);
		CHECK(event && event->kind == EVENT_EXEC && !event->comm); /* its mappings change */
		CHECK(take_sample(&scene, 6, NULL, 0, &room) == NULL);
		scene_close(&scene);
	}
}

TEST(rules_about_users_and_cgroups_ask_running_processes)
{
	char *const commands[] = { "command:a", "command:user:b" };
	char *const others[] = { "command:a", "user:0" }, *const groups[] = { "cgroup:/x" };

	CHECK(!machine_rules_ask(&(struct machine_rules){ 0 }));
	CHECK(!machine_rules_ask(&(struct machine_rules){ commands, commands, 2, 2 }));
	CHECK(machine_rules_ask(&(struct machine_rules){ others, commands, 2, 2 }));
	CHECK(machine_rules_ask(&(struct machine_rules){ commands, groups, 2, 1 }));
}

TEST(only_descendants_of_the_command_are_recorded)
{
	struct scene scene;
	struct event room, child = fork_of(11, 11, 10), grandchild = fork_of(12, 12, 11),
			   other = fork_of(13, 13, 1);
	struct event thread = fork_of(11, 111, 11);
	struct event gone = { .kind = EVENT_EXIT, .time_ns = 4, .pid = 11, .tid = 11 };

	scene_open(&scene, (struct machine_options){ .tree = 10 });
	CHECK(machine_event(scene.machine, &child, &room) != NULL);
	CHECK(machine_event(scene.machine, &grandchild, &room) != NULL);
	CHECK(machine_event(scene.machine, &other, &room) == NULL);
	CHECK(take_sample(&scene, 12, NULL, 0, &room) != NULL);
	CHECK(take_sample(&scene, 13, NULL, 0, &room) == NULL);
	machine_event(scene.machine, &thread, &room);
	machine_event(scene.machine, &gone, &room); /* the main thread, not the last one */
	CHECK(take_sample(&scene, 11, NULL, 0, &room) != NULL);
	scene_close(&scene);
}

TEST(samples_of_threads_that_have_ended_belong_to_their_process_or_to_the_kernel)
{
	static char *allow[] = { "command:*" };
	struct event sample = { .kind = EVENT_SAMPLE, .pid = 12, .tid = -1 }, room;
	struct machine_options options = { .splits = true };
	struct scene scene;

	sample.sample.in_kernel = true;
	scene_open(&scene, options);
	const struct event *kept = machine_event(scene.machine, &sample, &room);
	CHECK(kept && kept->pid == 12 && kept->tid == 12 && kept->sample.is_whole);
	sample.pid = -1;
	kept = machine_event(scene.machine, &sample, &room);
	CHECK(kept && kept->pid == MACHINE_KERNEL && kept->tid == MACHINE_KERNEL && kept->sample.is_whole);
	scene_close(&scene);

	options.rules = (struct machine_rules){ .allow = allow, .n_allow = 1 };
	scene_open(&scene, options);
	CHECK(machine_event(scene.machine, &sample, &room) == NULL);
	scene_close(&scene);

	scene_open(&scene, (struct machine_options){ .tree = 10 });
	CHECK(machine_event(scene.machine, &sample, &room) == NULL);
	scene_close(&scene);
}

TEST(invalid_rules_are_refused)
{
	struct diag diag = { 0 };

	CHECK(machine_check_rule("user:0", &diag) == 0);
	CHECK(machine_check_rule("command:x*", &diag) == 0);
	CHECK(machine_check_rule("cgroup:/a", &diag) == 0);
	CHECK(machine_check_rule("user:", &diag) < 0);
	CHECK(machine_check_rule("user:no such user", &diag) < 0);
	CHECK(machine_check_rule("user:-1", &diag) < 0);
	CHECK(machine_check_rule("user:4294967296", &diag) < 0);
	CHECK(machine_check_rule("pid:1", &diag) < 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

TEST(a_process_that_was_never_sampled_has_no_row)
{
	struct profile *profile = profile_new();
	struct tasks tasks = { .profile = profile, .is_lazy = true };

	for (pid_t pid = 100; pid < 1100; pid++) {
		tasks_fork(&tasks, pid, pid, 1, 1, 5);
		tasks_name(&tasks, pid, pid, "true", 6);
		tasks_exit(&tasks, pid, pid, 7);
	}
	CHECK_EQ(profile->processes.n, 0);
	CHECK_EQ(tasks.all.n, 1); /* ended processes are freed */

	tasks_fork(&tasks, 7, 7, 1, 1, 5);
	tasks_name(&tasks, 7, 7, "server", 6);
	tasks_user(&tasks, 7, 1001, 100);
	tasks_fork(&tasks, 7, 8, 7, 7, 9);
	uint32_t thread = tasks_thread(&tasks, 7, 8, 10);
	CHECK_EQ(profile->processes.n, 1);
	CHECK_EQ(profile->processes.at[0].user, 1001);
	CHECK_EQ(profile->processes.at[0].start_ns, 5);
	CHECK_EQ(profile->threads.at[thread].start_ns, 9);
	CHECK_STR(intern_text(&profile->strings, profile->processes.at[0].comm), "server");
	tasks_exit(&tasks, 7, 8, 11);
	CHECK_EQ(profile->processes.at[0].exit_ns, 0); /* its main thread is alive */

	struct profile *next = profile_new();
	tasks_restart(&tasks, next, 20);
	tasks_thread(&tasks, 7, 7, 12);
	CHECK_EQ(next->processes.n, 1);
	CHECK_EQ(next->processes.at[0].start_ns, (uint64_t)5 - 20); /* before this profile began */
	CHECK_STR(intern_text(&next->strings, next->threads.at[0].comm), "server");
	tasks_done(&tasks);
	profile_free(profile);
	profile_free(next);
}

TEST(a_process_that_becomes_roots_does_not_make_its_earlier_samples_roots)
{
	struct profile *profile = profile_new();
	struct tasks tasks = { .profile = profile, .is_lazy = true };

	tasks_fork(&tasks, 7, 7, 1, 1, 5);
	tasks_user(&tasks, 7, 1, 0);
	tasks_thread(&tasks, 7, 7, 6);
	tasks_user(&tasks, 7, 1001, 100); /* root gives up its rights */
	CHECK_EQ(profile->processes.at[0].user, 1001);
	tasks_user(&tasks, 7, 1, 0); /* sudo */
	CHECK_EQ(profile->processes.at[0].user, 1001);
	CHECK_EQ(profile->processes.at[0].group, 100);

	struct profile *next = profile_new();
	tasks_restart(&tasks, next, 0);
	tasks_thread(&tasks, 7, 7, 8);
	CHECK_EQ(next->processes.at[0].user, 1); /* all of these samples are root's */
	tasks_user(&tasks, 7, 1001, 100);
	tasks_user(&tasks, 7, 1002, 100);
	CHECK_EQ(next->processes.at[0].user, USER_NOBODY + 1);
	tasks_done(&tasks);
	profile_free(profile);
	profile_free(next);
}

TEST(a_process_of_many_threads_has_one_row_and_ends_with_its_last_thread)
{
	struct profile *profile = profile_new();
	struct tasks tasks = { .profile = profile, .is_lazy = true };

	tasks_fork(&tasks, 7, 7, 1, 1, 5);
	tasks_thread(&tasks, 7, 7, 6);
	tasks_fork(&tasks, 7, 8, 7, 7, 7);
	tasks_thread(&tasks, 7, 8, 8);
	CHECK_EQ(profile->processes.n, 1);
	tasks_exit(&tasks, 7, 7, 9);
	tasks_exit(&tasks, 7, 8, 10);
	CHECK_EQ(profile->processes.at[0].exit_ns, 10);

	/* The first thread is never sampled. */
	tasks_fork(&tasks, 20, 20, 1, 1, 11);
	tasks_fork(&tasks, 20, 21, 20, 20, 12);
	tasks_thread(&tasks, 20, 21, 13);
	tasks_exit(&tasks, 20, 21, 14);
	CHECK_EQ(profile->processes.at[1].exit_ns, 0);
	tasks_exit(&tasks, 20, 20, 15);
	CHECK_EQ(profile->processes.at[1].exit_ns, 15);
	/* The kernel's code that ends a thread is sampled after that. */
	tasks_thread(&tasks, 20, 20, 16);
	CHECK_EQ(profile->processes.n, 2);
	CHECK_EQ(profile->processes.at[1].exit_ns, 15);
	tasks_done(&tasks);
	profile_free(profile);
}

TEST(a_process_whose_threads_with_rows_have_ended_lives_on_in_the_others)
{
	struct profile *profile = profile_new();
	struct tasks tasks = { .profile = profile, .is_lazy = true };

	tasks_fork(&tasks, 7, 7, 1, 1, 5);
	tasks_thread(&tasks, 7, 7, 6);
	tasks_fork(&tasks, 7, 8, 7, 7, 7);
	tasks_exit(&tasks, 7, 7, 8);
	CHECK_EQ(profile->processes.at[0].exit_ns, 8);
	tasks_thread(&tasks, 7, 8, 9);
	CHECK_EQ(profile->processes.at[0].exit_ns, 0);
	tasks_exit(&tasks, 7, 8, 10);
	CHECK_EQ(profile->processes.at[0].exit_ns, 10);
	tasks_done(&tasks);
	profile_free(profile);
}

TEST(a_process_whose_second_thread_executed_a_program_ends_with_the_number_of_the_first)
{
	struct profile *profile = profile_new();
	struct tasks tasks = { .profile = profile };

	tasks_thread(&tasks, 7, 7, 5);
	tasks_fork(&tasks, 7, 8, 7, 7, 6);
	tasks_exit(&tasks, 7, 7, 8); /* 8 executes a program, and is 7 from now on */
	CHECK_EQ(profile->processes.at[0].exit_ns, 0);
	tasks_thread(&tasks, 7, 7, 9);
	tasks_exit(&tasks, 7, 7, 10);
	CHECK_EQ(profile->processes.at[0].exit_ns, 10);
	tasks_done(&tasks);
	profile_free(profile);
}
