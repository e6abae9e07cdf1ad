/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_scene: one process that runs a small x86-64 program, built by hand: _start calls outer, which saves
 * rbx and calls leaf; and other code of every kind that a walk may encounter.
 */
#pragma once

#include "tests/unit/unwinder/scene.h"

#define BIAS 0x555000000000u
#define SP 0x7ffc00001000u

enum { RBX = 3, RDI = 5, RBP = 6, RSP = 7, RIP = 16 };

/* vaddrs */
enum {
	LAST = 0x1030, /* ends with a call that does not return */
	START = 0x1040,
	START_CALLS = 0x1045, /* the return address of _start's call */
	OUTER = 0x1100,
	OUTER_CALLS = 0x1106,
	LEAF = 0x1200,
	LEAF_ENDS = 0x1205, /* after its pop %rbx */
	BARE = 0x1300,      /* no unwind entry */
	BARE_CALLS = 0x1307,
	TRAMPOLINE = 0x1400,
	RECURSE_CALLS = 0x1505,
	STUCK = 0x1600, /* an unwind entry whose CFA is sp itself */
	THREAD_CALLS = 0x1702,
	TAIL = 0x1800, /* jumps to leaf */
	TAIL_CALLER_CALLS = 0x1905,
	STUB = 0x1a00,
	NOWHERE = 0x1b00, /* no unwind entry, in the middle of a function */
	EXEC = 0x1c07,    /* after the system call */
	VFORK = 0x1d01,   /* its return address is in rdi, and it has no frame */
	SHORT = 0x1e00,   /* its unwind entry omits that rbx is popped */
	SHORT_ENDS = 0x1e03,
	SHORT_CALLER_CALLS = 0x1f06,
	PADDED = 0x1f40, /* between breakpoints */
	PADDED_ENDS = 0x1f43,
};

struct scene scene_of(const struct unwinder_options *options);
struct scene scene(void);
/* Walks from a vaddr of the program over these stack words. */
void walk(struct scene *s, uint64_t vaddr, const uint64_t *words, size_t n);

struct seen {
	size_t n;
	uint64_t rbx[8];
	bool is_known[8];
};
/* A step callback that fills in struct seen. */
void remember_rbx(void *context, const struct walk_step *step);

#define WALK(s, vaddr, ...) \
	walk(s, vaddr, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)
