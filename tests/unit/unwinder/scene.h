/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene: a process that runs one program, built by hand, and unwinds of its stack.
 */
#pragma once

#include "base/writer.h"
#include "tests/test.h"
#include "unwinder/unwinder.h"

#define TEXT 0x1000u
#define TEXT_SIZE 0x1000u
#define EH 0x8000u
#define PID 42

struct scene {
	struct images *images;
	struct unwinder *unwinder;
	struct stack stack;
	struct event event; /* the sample; tests set its registers */
};

struct scene_program {
	const struct isa *isa;
	uint64_t entry, bias;
	void (*write_text)(uint8_t *text);       /* TEXT_SIZE bytes, of vaddr TEXT */
	void (*write_frames)(struct writer *eh); /* .eh_frame, at vaddr EH */
};

struct scene scene_new(const struct scene_program *program, const struct unwinder_options *options);
void scene_done(struct scene *s);
/* The process maps something. */
void scene_map(struct scene *s, const struct mapping *mapping);
/* Unwinds from the sample's registers over these stack words. */
void scene_walk(struct scene *s, const uint64_t *words, size_t n);

#define CHECK_END(s, end_, n_)                                                   \
	do {                                                                     \
		CHECK_STR(stack_end_name((s)->stack.end), stack_end_name(end_)); \
		CHECK_EQ((s)->stack.frames.n, n_);                               \
	} while (0)
