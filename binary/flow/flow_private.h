/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_private: declarations shared by the files of the abstract interpreter. flow.c drives it, transfer.c
 * applies effects, jumptable.c resolves indirect jumps, guess.c gives unreached code a state.
 */
#pragma once

#include "base/hash.h"
#include "binary/flow/flow.h"

#define FLOW_MAX_INSNS 3000000u  /* of one function with its parts; compilers do not generate larger ones */
#define FLOW_MAX_VISITS 8u       /* block runs per instruction; real code needs less than one */
#define FLOW_RUN_ALL STATE_SLOTS /* in flow_private.lost: more than the values of registers has changed */

/* A failed exit, for the entry bias, and for functions that leave a frame. */
struct flow_exit {
	uint32_t insn;
	value sp;
	value left_frame; /* VALUE_UNKNOWN: none */
};

#define FLOW_MAX_ENTRIES 16
/* Instructions at which control enters the function. */
struct flow_entries {
	uint32_t at[FLOW_MAX_ENTRIES];
	unsigned n;
};

struct flow_private {
	VEC(uint32_t) part_order;   /* the parts by start; they do not overlap */
	VEC(uint64_t) strong, weak; /* bitmaps of leaders whose state is to be propagated */
	VEC(uint64_t)
	lost; /* per state: registers whose value was lost since the leader last ran, or FLOW_RUN_ALL */
	VEC(uint32_t) denied; /* weak leaders that are deferred: the call above them seems not to return */
	size_t strong_at, weak_at; /* where to look next in the bitmaps */
	VEC(uint32_t) first_from;  /* leaders: the instruction they were first reached from */
	VEC(struct flow_exit) failed_exits;
	struct map load_of, target_of, table_of; /* instruction -> index */
	struct map question_of;                  /* callee -> index */
	struct state scratch, taken;
	uint64_t kept_regs; /* registers from which sp is set or through which control returns: for these it
			       matters whether callees clobber them */
	uint64_t size_regs; /* registers that are subtracted from sp: some callees preserve constants in them
			     */
	bool wants_constants; /* some instruction can use constants */
	bool wants_arguments; /* some instruction can use the entry values of registers that need not be
				 restored */
	uint64_t budget;      /* blocks that may still be run */
	bool protects_saves;  /* only pushes may overwrite a saved register */
	bool trusts_calls;    /* callees preserve kept_regs */
	bool ra_is_pushed;    /* the return address was also pushed, above the bytes of the bias */
	bool is_guessing;
	uint32_t entry;      /* the instruction whose state is given; FLOW_NONE if there are several */
	struct state piece;  /* the state of code that only computed jumps reach, if flow.is_threaded */
	uint32_t piece_jump; /* one of the computed jumps from piece to piece */
	bool must_restart;   /* a weak state that had been propagated turned out wrong */
};

/* transfer.c */
void transfer(struct flow *flow, uint32_t i, struct state *state);
/* The value an indirect jump goes to. */
value transfer_jump_value(struct flow *flow, uint32_t i, const struct state *state);

/* jumptable.c: resolves the jump at i, once per value; true if its targets are known. */
bool jumptable_resolve(struct flow *flow, uint32_t i, value through);

/* flow_decode.c */
/* Decodes [start, end) as another part; false if the function becomes too large, or if a part is there. */
bool flow_add_part(struct flow *flow, uint64_t start, uint64_t end);
bool flow_holds(const struct flow *flow, uint64_t vaddr);
/* The start of the first part that starts behind vaddr; UINT64_MAX if there is none. */
uint64_t flow_next_part(const struct flow *flow, uint64_t vaddr);
/* The instruction that the direct jump at i goes to; FLOW_NONE if it is not in this function. */
static inline uint32_t flow_target(const struct flow *flow, uint32_t i)
{
	uint32_t known = flow->goes_to.at[i];

	return known != FLOW_NONE ? known : flow_insn_at(flow, flow->insns.at[i].target);
}
/* The compare that the equality branch at i depends on, if it compares two registers; otherwise NULL. */
const struct effect *flow_equality(const struct flow *flow, uint32_t i);

/* flow_absorb.c: absorb code at `target`; false if it is not part of this function. */
/* Code outside all intervals, up to an instruction that does not fall through. */
bool flow_absorb_gap(struct flow *flow, uint64_t target);
/* One instruction that was moved out of line: the jump i leads to it, and a jump leads back. */
bool flow_absorb_detour(struct flow *flow, uint32_t i, uint64_t target);
/* Is the jump i a tail call to a function that has not been discovered yet, judging by how the code there
 * begins? */
bool flow_finds_function(const struct flow *flow, uint32_t i, uint64_t target);

/* flow_again.c: propagates from leader i that the values of these registers are lost; false if the leader
 * must run in full. */
bool flow_run_again(struct flow *flow, uint32_t i, uint64_t lost);

/* flow_run.c */
/* Schedules leader i; `lost` says what has changed in its state (see flow_private.lost). */
void flow_set_pending(struct flow *flow, uint32_t i, uint64_t lost, bool is_weak);
/* Replaces the state of a leader. */
void flow_set_state(struct flow *flow, uint32_t i, const struct state *state, uint32_t from, bool is_weak);
/* A state arrives at instruction `to`. */
void flow_arrive(struct flow *flow, uint32_t to, const struct state *state, uint32_t from, bool is_weak);
/* Runs pending leaders until nothing changes. */
void flow_settle(struct flow *flow);

/* flow.c: forgets all states and runs from these entries. */
void flow_run_from(struct flow *flow, const struct flow_entries *entries);

/* threaded.c: interpreters in assembly. */
/* One of the computed jumps between the pieces of an interpreter that was not entered at its start; FLOW_NONE
 * if this is none. */
uint32_t flow_find_threads(struct flow *flow);
/* Runs it from its prologues. True if a return confirms their frame: then *ret_piece is the state of the
 * pieces. */
bool flow_run_threaded(struct flow *flow, uint32_t jump, struct state *ret_piece);
/* Do two computed jumps go through the same register, or the same kind of memory operand? */
bool flow_is_same_jump(const struct flow *flow, uint32_t a, uint32_t b);
/* Does control never continue with the next instruction? */
static inline bool flow_is_end(const struct insn *insn)
{
	return insn->flow == FLOW_JUMP || insn->flow == FLOW_JUMP_INDIRECT || insn->flow == FLOW_RETURN ||
	       insn->flow == FLOW_STOP;
}
/* Does the instruction allocate stack, by a push or by changing sp? */
bool flow_begins_frame(const struct flow *flow, uint32_t i);

/* guess.c: states for code that no edge reaches. */
void flow_guess(struct flow *flow);
