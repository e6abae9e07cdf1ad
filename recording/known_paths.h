/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_paths: call paths that the BPF program recognises by itself.
 *
 * After a stack was unwound, the registers and words that the result depended on are known. They are passed
 * to the BPF program that runs at the end of calls. If they are unchanged the next time, the call has the
 * same call path: it is counted in the kernel, and no stack is copied. These counts are fetched from time to
 * time.
 */
#pragma once

#include "base/hash.h"
#include "collector/probe/perf_probe.h"
#include "recording/builder.h"
#include "unwinder/depend.h"

struct known_path {
	uint32_t node, thread;
	struct trace_sums told; /* what the profile already has */
};

struct known_paths {
	struct perf_probe *probe; /* borrowed; NULL = not used */
	const struct isa *isa;
	VEC(struct known_path) paths; /* by number */
	struct map number_of;         /* node << 32 | thread */
	struct map class_of;          /* number << 32 | class -> classes */
	VEC(uint64_t) classes;        /* what the profile already has of each */
	uint64_t n_learnt;
};

void known_paths_init(struct known_paths *known, struct perf_probe *probe, const struct isa *isa);
void known_paths_done(struct known_paths *known);
/* To be called when the stack of a call has been unwound. */
void known_paths_learn(struct known_paths *known, const struct event *event, uint32_t node, uint32_t thread,
		       const struct depend *depend);
/* To be called when code may have changed. */
void known_paths_forget(struct known_paths *known);
/* Discards what was counted so far. */
void known_paths_restart(struct known_paths *known, struct builder *builder);
/* Adds what was counted since the last call to the profile. */
void known_paths_fetch(struct known_paths *known, struct builder *builder, uint64_t now);
