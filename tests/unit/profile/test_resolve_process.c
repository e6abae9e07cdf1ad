/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_process.h"

#include <time.h>
#include <unistd.h>

#include "base/process_start.h"
#include "base/real_user.h"
#include "tests/test.h"

static struct profile *run_with(pid_t pid, uint64_t exit_ns)
{
	struct profile *profile = profile_new();

	profile->run.start_unix_ns = ((uint64_t)time(NULL) - 1) * 1000000000u;
	profile->run.duration_ns = 1000000000u;
	vec_push(&profile->processes,
		 ((struct profile_process){ .pid = pid, .exit_ns = exit_ns, .user = 8 }));
	return profile;
}

TEST(resolve_process_that_runs_is_the_one_of_the_profile)
{
	struct profile *profile = run_with(getpid(), 0);
	struct jit_process process = resolve_process(profile, getpid());

	CHECK_EQ(process.pid, getpid());
	CHECK_EQ(process.user, 8);
	CHECK_EQ(process.start, process_start(getpid()));
	CHECK(process.start > 0);
	profile_free(profile);
}

TEST(resolve_process_that_ended_in_the_recording_is_gone)
{
	struct profile *profile = run_with(getpid(), 5);

	CHECK_EQ(resolve_process(profile, getpid()).start, 0);
	profile_free(profile);
}

TEST(resolve_process_of_a_pid_that_was_reused_in_the_recording_is_none)
{
	struct profile *profile = run_with(getpid(), 5);

	vec_push(&profile->processes, ((struct profile_process){ .pid = getpid(), .user = 8 }));
	CHECK_EQ(resolve_process(profile, getpid()).pid, 0);
	profile_free(profile);
}

TEST(resolve_process_that_was_seen_twice_is_one_unless_its_users_differ)
{
	struct profile *profile = run_with(getpid(), 0);

	vec_push(&profile->processes, ((struct profile_process){ .pid = getpid(), .user = 8 }));
	CHECK_EQ(resolve_process(profile, getpid()).user, 8);
	profile->processes.at[1].user = 9;
	CHECK_EQ(resolve_process(profile, getpid()).pid, 0);
	profile_free(profile);
}

TEST(resolve_process_of_several_users_is_not_nobodys)
{
	struct profile *profile = run_with(getpid(), 0);

	profile->processes.at[0].user = USER_NOBODY + 1;
	CHECK_EQ(resolve_process(profile, getpid()).user, 0);
	CHECK(resolve_process(profile, getpid()).start > 0);
	profile_free(profile);
}

TEST(resolve_process_that_does_not_exist_is_gone)
{
	struct profile *profile = run_with(0x7ffffffe, 0);

	CHECK_EQ(resolve_process(profile, 0x7ffffffe).start, 0);
	CHECK_EQ(resolve_process(profile, 0x7ffffffe).user, 8);
	profile_free(profile);
}

TEST(resolve_process_of_a_recording_of_unknown_time_is_the_one_that_runs)
{
	struct profile *profile = run_with(getpid(), 0);

	profile->run.start_unix_ns = 0;
	CHECK(resolve_process(profile, getpid()).start > 0);
	profile_free(profile);
}

TEST(resolve_process_that_began_after_the_recording_is_another_one)
{
	struct profile *profile = run_with(getpid(), 0);

	profile->run.start_unix_ns -= 3600 * 1000000000ull;
	CHECK_EQ(resolve_process(profile, getpid()).start, 0);
	profile_free(profile);
}

TEST(resolve_process_without_a_pid_is_none)
{
	struct profile *profile = run_with(getpid(), 0);

	CHECK_EQ(resolve_process(profile, 0).pid, 0);
	profile_free(profile);
}
