/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow: the abstract interpreter. Starting with the entry state, it follows control through the function,
 * resolves jump tables from the values it tracks and absorbs cold parts, until the states at the block starts
 * no longer change.
 *
 * Rules: the fall-through of a call is weak, because the call may not return: if a jump arrives with another
 * stack pointer, the jump wins. The entry state is given, never joined. Code that no edge reaches gets the
 * function's usual frame, marked guess; a guess never flows into real code.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "binary/cfi/frames.h"
#include "binary/flow/facts.h"
#include "binary/flow/state.h"
#include "binary/isa/isa.h"

#define FLOW_NONE UINT32_MAX /* no instruction, no function */

enum insn_flag {                      /* bits, per instruction */
		 INSN_LEADER = 1,     /* has a state of its own: a jump may come here */
		 INSN_REACHED = 2,    /* executed by the interpreter */
		 INSN_GUESS = 4,      /* ... but only from a guessed state */
		 INSN_BAD = 8,        /* not an instruction: bytes that do not decode */
		 INSN_NO_RETURN = 16, /* a call that does not return */
		 INSN_TAIL = 32,      /* a jump or branch that leaves the function as a call would */
		 INSN_UNRESOLVED = 64,
		 INSN_EXIT_PASSES = 128, /* the self-check at this exit */
		 INSN_EXIT_FAILS = 256,
		 INSN_WEAK = 512,    /* leader: reached only as the fall-through of a call */
		 INSN_RAN = 1024,    /* leader: its current state was propagated */
		 INSN_DENIED = 2048, /* leader: a jump showed that the call above it does not return */
		 INSN_IMMUNE =
			 4096, /* leader: was denied, but nothing except the call's fall-through reaches it */
		 INSN_TAIL_TARGET = 8192,   /* inferred functions: an unconditional jump in entry-like state
					       goes here ... */
		 INSN_OTHER_TARGET = 16384, /* ... or it is reached in another way */
		 INSN_COMES_BACK =
			 32768, /* a call: the code after it is, or may be, reached because it returns */
};

/* Bits in isa_use.needs, besides registers and USE_CONSTANT: */
#define FLOW_CONTROL (1ull << 62) /* control may go elsewhere, or it is padding */
#define FLOW_ENDS (1ull << 61)    /* control never continues after it, except for a call */
#define FLOW_EQUATES (1ull << 60) /* a branch that depends on whether two registers are equal */

struct flow_part {
	uint64_t start, end;
	uint32_t first, n; /* instructions */
};

/* A load from [table + (index << shift)]: what VALUE_LOAD refers to. */
struct flow_load {
	uint64_t table;
	uint32_t insn;
	uint8_t width, index; /* index register; REG_NONE: a plain word at `table` */
	bool is_signed;
};
/* base + (load << shift): what VALUE_TARGET refers to. */
struct flow_target {
	uint64_t base;
	uint32_t load, insn;
	uint8_t shift, width;
	bool is_signed;
};
/* A resolved indirect jump. */
struct flow_table {
	uint32_t insn, first, n; /* n targets from flow.table_targets[first] */
	value through;
};

/*
 * An assumption about a callee that the facts neither confirm nor deny: that it preserves these registers. If
 * it does, the analysis is valid; if not, it must be repeated with this knowledge.
 */
struct flow_question {
	uint32_t callee; /* index */
	uint64_t kept;   /* mask of registers */
};

enum flow_verdict {
	FLOW_PASSES,   /* every exit restores sp, the saved registers and the return address */
	FLOW_FAILS,    /* some exit does not */
	FLOW_EXITLESS, /* no exit is reached: nothing to check */
	FLOW_REFUSED,  /* too large: not analysed */
};

struct flow {
	const struct code_facts *facts;
	const struct isa *isa;
	uint32_t function;       /* index; FUNCTION_NONE: a suspected function */
	bool is_inferred;        /* the function's end is not stated, only inferred */
	bool skips_guesses;      /* set by the caller: unreached code gets no guessed state */
	bool ignores_references; /* set by the caller: ignore which data other functions refer to, because
				    that may not be known yet */
	bool asks_nothing; /* set by the caller: assume that a callee of unknown clobbers changes everything,
			      instead of asking */
	enum flow_verdict verdict;
	bool is_threaded; /* an interpreter in pieces: it is entered through prologues, not at its start */
	bool is_settled;  /* the states no longer change; false: that would have taken too long */
	bool returns; /* a return, an unresolved jump or a tail call to something that may return was reached
		       */
	int32_t bias; /* the caller left this many bytes above the return address */
	value left_frame;  /* the function sets up the frame of its caller, and returns with this in the frame
			      pointer; otherwise VALUE_UNKNOWN */
	uint32_t n_visits; /* blocks executed: the cost of the analysis */
	uint64_t heeds;    /* USE_CONSTANT if constants are worth tracking here; otherwise 0 */
	VEC(struct flow_part) parts; /* [0] is the function */
	VEC(struct insn)
	insns; /* of all parts, one after the other; use flow_insn() for their effects and registers */
	VEC(struct isa_use) uses; /* of the instructions */
	VEC(uint64_t) vaddrs;     /* of the instructions */
	VEC(uint32_t)
	goes_to; /* direct call: index of the function that contains the target; direct jump: the target
		    instruction, if it was known when the jump was decoded; otherwise FLOW_NONE. Not set for
		    other instructions */
	VEC(uint16_t) flags;    /* enum insn_flag */
	VEC(uint32_t) state_of; /* leaders: index into states, UINT32_MAX = not reached */
	VEC(struct state) states;
	VEC(struct flow_load) loads;
	VEC(struct flow_target) targets;
	VEC(struct flow_table) tables;
	VEC(uint64_t) table_targets;
	VEC(uint32_t) absorbed; /* indices of the functions that turned out to be parts of this one */
	VEC(struct flow_question) questions; /* each callee once */
	VEC(struct landing_site) pads;
	struct flow_private *private;
};

/*
 * Memory is reused for the next function; flow_done frees it. The facts are borrowed, and may be extended
 * between analyses.
 */
void flow_init(struct flow *flow, const struct code_facts *facts);
void flow_done(struct flow *flow);
/* Forgets the last function if it was large: the next one needs less memory, and there may be thousands of
 * images. */
void flow_shrink(struct flow *flow);
/*
 * One analysis with the current facts. It is final if all its assumptions (`questions`) are correct: see
 * functions_analyse_one in binary/functions/function.h.
 */
void flow_analyse(struct flow *flow, uint32_t function);
/* The same for code that may be a function and whose end is not stated. */
void flow_analyse_range(struct flow *flow, uint64_t start, uint64_t end);

/* An instruction with its effects. Those that were only classified by isa->glance are decoded when first
 * needed. */
const struct insn *flow_insn(const struct flow *flow, uint32_t i);
/* The first instruction from i on that has one of these flags; FLOW_NONE if there is none. */
uint32_t flow_next(const struct flow *flow, uint32_t i, uint16_t wanted);
/* Index of the instruction that starts at vaddr; UINT32_MAX if there is none. */
uint32_t flow_insn_at(const struct flow *flow, uint64_t vaddr);
/*
 * Advances the state from before instruction i to after it (for a call: after its return). May only be
 * applied to states that this analysis reached.
 */
void flow_step(struct flow *flow, uint32_t i, struct state *state);
/* The state at a block's start; NULL if it was not reached. */
const struct state *flow_state(const struct flow *flow, uint32_t leader);
/* The targets of an indirect jump; n = 0 if it was not resolved. */
const uint64_t *flow_jump_targets(const struct flow *flow, uint32_t i, size_t *ret_n);
/* The landing pad of the call at vaddr; 0 if it has none. */
uint64_t flow_landing_pad(const struct flow *flow, uint64_t call);
/* May this call return? */
bool flow_call_returns(const struct flow *flow, uint32_t i);

/*
 * Walks the instructions of a part in order with the state before each; state is NULL where nothing
 * reaches. For rows, comparison and display alike.
 */
struct flow_point {
	uint32_t insn; /* its index */
	const struct state *state;
	bool is_guess;
};
typedef void (*flow_point_visitor)(void *context, const struct flow_point *point);
void flow_walk(struct flow *flow, size_t part, flow_point_visitor visit, void *context);
