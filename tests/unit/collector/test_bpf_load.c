/* SPDX-License-Identifier: Apache-2.0 */
/* Only in builds with libbpf. */
#include "collector/bpf/bpf_load.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

static const char refusal[] = "0: R1=ctx(off=0,imm=0) R10=fp0\n"
			      "5: (79) r2 = *(u64 *)(r1 +8)\n"
			      "dereference of modified ctx ptr R1 off=8 disallowed\n"
			      "processed 6 insns (limit 1000000) max_states_per_insn 0\n";

/* One sentence for the user, the full log on request. */
TEST(bpf_load_says_what_the_verifier_objects_to)
{
	struct bpf_load load;
	struct text log = { 0 };
	struct diag diag = { 0 };

	bpf_load_begin(&load);
	CHECK(strlen(refusal) < BPF_LOG_SIZE);
	memcpy(load.log, refusal, sizeof(refusal));
	CHECK_EQ(bpf_load_end(&load, -EACCES, &log, &diag), -EACCES);
	CHECK_STR(diag.what, "cannot load a BPF program");
	CHECK_STR(diag.why, "dereference of modified ctx ptr R1 off=8 disallowed");
	CHECK_STR(log.at, refusal);
	text_done(&log);
}

/* Without permission to load, nothing was verified: the reason is the system's error. */
TEST(bpf_load_without_a_log_says_what_the_system_says)
{
	const int errors[] = { -EPERM, -ENOSYS };

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		struct bpf_load load;
		struct diag diag = { 0 };
		bpf_load_begin(&load);
		CHECK_EQ(bpf_load_end(&load, errors[i], NULL, &diag), errors[i]);
		CHECK_STR(diag.what, "cannot load a BPF program");
		CHECK_STR(diag.why, strerror(-errors[i]));
	}
}

TEST(bpf_load_without_privileges_says_how_to_get_them)
{
	struct bpf_load load;
	struct diag diag = { 0 };

	if (geteuid() == 0)
		CHECK_EQ(seteuid(65534), 0);
	bpf_load_begin(&load);
	CHECK_EQ(bpf_load_end(&load, -EPERM, NULL, &diag), -EPERM);
	CHECK(strstr(diag.hint, "try: sudo cpprof") != NULL);
	if (getuid() == 0)
		CHECK_EQ(seteuid(0), 0);
}

TEST(bpf_load_that_succeeds_says_nothing)
{
	struct bpf_load load;
	struct text log = { 0 };
	struct diag diag = { 0 };

	bpf_load_begin(&load);
	CHECK_EQ(bpf_load_end(&load, 0, &log, &diag), 0);
	CHECK_EQ(log.len, 0);
	CHECK_STR(diag.what, "");
}
