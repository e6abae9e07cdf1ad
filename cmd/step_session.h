/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_session: a command run one instruction at a time, its true stack beside it, and the stacks that
 * samples at random instructions give held against it.
 */
#pragma once

#include "cmd/step_print.h"

struct step_options {
	uint64_t n_samples, interval, skip; /* instructions */
	uint64_t seed;                      /* of the random distances; not 0 */
	uint64_t show;                      /* print this many that are not exact */
	bool is_explaining, skips_loader;
	enum unwind_mode mode;
	const char *tape, *truth; /* files for the samples and their true stacks; NULL = none */
};

struct step_session;
/* Starts the command. What is shown goes to `to`, which stays the caller's. */
int step_session_open(const struct step_options *options, char *const *argv, FILE *to,
		      struct step_session **ret, struct diag *diag);
/* Until there are enough samples or the command is over. */
int step_session_run(struct step_session *session, struct diag *diag);
/* Valid until the session is closed; seconds are the caller's to fill in. */
struct step_run step_session_result(struct step_session *session);
struct step_names *step_session_names(struct step_session *session);
/* Ends the command. Faults if a file could not be written. */
int step_session_close(struct step_session *session, struct diag *diag);
