/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_session: runs a command one instruction at a time, tracks its true stack, and compares it with the
 * stacks unwound at random instructions.
 */
#pragma once

#include "unwinder/unwinder.h"
#include "verify/step_calls.h"
#include "verify/step_tally.h"

/* A sample whose stack is not the true one. */
struct step_miss {
	uint64_t sample, step; /* the numbers of this sample, and of the instruction before it */
	const struct step_truth *truth;
	const struct stack *stack;
	struct unwinder *unwinder; /* has the mappings */
	pid_t pid;
};

struct step_listener {
	void *context;
	/* May be NULL. */
	void (*missed)(void *context, const struct step_miss *miss);
	/* Then the failed walk is repeated, and this is called for each step; NULL: not repeated. */
	void (*walked)(void *context, const struct walk_step *step, const struct isa *isa);
};

struct step_options {
	uint64_t n_samples, interval, skip; /* instructions */
	uint64_t seed;                      /* of the random intervals; not 0 */
	uint64_t show;                      /* report at most this many that are not exact */
	bool skips_loader;
	enum unwind_mode mode;
	const char *tape, *truth; /* files for the samples and their true stacks; NULL = none */
	struct step_listener listener;
};

struct step_result {
	uint64_t steps;
	const struct tally *tally; /* sorted */
	const struct step_calls *calls;
};

struct step_session;
/* Starts the command. */
int step_session_open(const struct step_options *options, char *const *argv, struct step_session **ret,
		      struct diag *diag);
/* Runs until there are enough samples or the command ends. */
int step_session_run(struct step_session *session, struct diag *diag);
/* Valid until the session is closed. */
struct step_result step_session_result(struct step_session *session);
struct images *step_session_images(struct step_session *session);
/* Ends the command. Fails if a file could not be written. */
int step_session_close(struct step_session *session, struct diag *diag);
