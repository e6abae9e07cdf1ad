/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper: a command under ptrace, one instruction of its first thread at a time.
 *
 * Other threads and children run normally; an exec is followed. The stepper and its target share one CPU,
 * which makes steps several times as fast.
 */
#pragma once

#include <sys/types.h>

#include "base/diag.h"
#include "collector/event.h"

enum step_kind {
	STEP_INSN,   /* an instruction was executed */
	STEP_SIGNAL, /* a signal handler was entered, but not executed yet */
	STEP_EXEC,   /* after an exec */
	STEP_END,    /* the thread has ended */
};

struct step {
	enum step_kind kind;
	uint64_t pc;       /* of the instruction */
	uint8_t flow, len; /* of the instruction; len 0 if it could not be decoded */
	bool is_signal_return;
	bool maps_changed; /* a system call may have changed the mappings */
	uint64_t ra_slot;  /* where the instruction stored the return address register; 0 = it did not */
};

struct stepper {
	pid_t pid;
	const struct isa *isa;
	struct regs regs;        /* now */
	uint64_t thread_pointer; /* now; 0 on AArch64 */
	int status;              /* after STEP_END, as waitpid gives it */
	uint64_t n_steps;
	struct stepper_private *private;
};

/* The command is stopped before its first instruction, as after STEP_EXEC. */
int stepper_start(char *const *argv, struct stepper **ret, struct diag *diag);
/* Fails only if ptrace fails. */
int stepper_next(struct stepper *stepper, struct step *ret, struct diag *diag);
/*
 * Directly after the start or STEP_EXEC: runs the loader at full speed, up to the program's own first
 * instruction, where no frames of the loader are left.
 */
int stepper_skip_loader(struct stepper *stepper, struct diag *diag);
/* Kills the command if it is still running. */
void stepper_stop(struct stepper *stepper);

/* The return address, at a function's first instruction. */
uint64_t stepper_ra(const struct stepper *stepper);
/* The word at a run-time address; 0 if there is none. */
uint64_t stepper_word(const struct stepper *stepper, uint64_t addr);
