/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper: a command under ptrace, one instruction of its first thread at a time.
 *
 * Other threads and children run on by themselves; a program that replaces itself is followed. The
 * stepper and its target share one CPU, which makes a step several times as fast.
 */
#pragma once

#include <sys/types.h>

#include "base/diag.h"
#include "collector/event.h"

enum step_kind {
	STEP_INSN,   /* an instruction was executed */
	STEP_SIGNAL, /* a signal handler was entered; nothing of it was executed */
	STEP_EXEC,   /* another program starts */
	STEP_END,    /* the thread is gone */
};

struct step {
	enum step_kind kind;
	uint64_t pc;       /* of the instruction */
	uint8_t flow, len; /* of the instruction; len 0 if it could not be decoded */
	bool is_signal_return;
	bool maps_changed; /* a system call may have changed the mappings */
	uint64_t ra_slot;  /* where the instruction stored the return address register; 0 = nowhere */
};

struct stepper {
	pid_t pid;
	const struct isa *isa;
	struct regs regs; /* now */
	int status;       /* after STEP_END, as waitpid gives it */
	uint64_t n_steps;
	struct stepper_private *private;
};

/* The command stands before its first instruction, as after a STEP_EXEC. */
int stepper_start(char *const *argv, struct stepper **ret, struct diag *diag);
/* A fault only if ptrace fails. */
int stepper_next(struct stepper *stepper, struct step *ret, struct diag *diag);
/*
 * Right after the start or a STEP_EXEC: lets the loader run at full speed, up to the program's own first
 * instruction, where none of the loader's frames is left.
 */
int stepper_skip_loader(struct stepper *stepper, struct diag *diag);
/* Kills the command if it still runs. */
void stepper_stop(struct stepper *stepper);

/* The return address in its place, as a function's first instruction finds it. */
uint64_t stepper_ra(const struct stepper *stepper);
/* The word at a run-time address; 0 if there is none. */
uint64_t stepper_word(const struct stepper *stepper, uint64_t addr);
