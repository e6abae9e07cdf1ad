/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfmap: names of JIT code, as written by the JIT compiler: a perf map (text: start, size, name per line)
 * or a jitdump file (binary, with source lines).
 *
 * Code caches are reused: if two entries overlap, the later one is valid.
 */
#pragma once

#include <sys/types.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/vec.h"

struct jit_code {
	uint64_t start, end; /* run-time addresses */
	const char *name;
	uint32_t first_line, n_lines; /* of perfmap.lines */
};

struct jit_line {
	uint64_t vaddr;
	const char *file;
	uint32_t line;
};

struct perfmap {
	VEC(struct jit_code) code;  /* sorted, not overlapping */
	VEC(struct jit_line) lines; /* those of one entry together, sorted by vaddr */
	struct arena names;
};

/* Never fault: malformed lines and records are skipped. Both replace the contents of ret. */
void perfmap_parse(struct bytes text, struct perfmap *ret);
void jitdump_parse(struct bytes dump, struct perfmap *ret);
void perfmap_done(struct perfmap *map);
/* NULL if no entry covers vaddr. */
const struct jit_code *perfmap_find(const struct perfmap *map, uint64_t vaddr);

/* The process whose code it is. */
struct jit_process {
	pid_t pid;
	uint32_t user;  /* who started it: 1 + uid, 0 = not known */
	uint64_t start; /* process_start of its pid; 0 = it has ended, and a process with this pid is another
			   one */
};

/*
 * The perf map that the process left in /tmp, as the process itself sees it (its own root, its pid in its own
 * namespace) while it lives, otherwise in our /tmp. It must be a regular file that belongs to the process's
 * user, or to us (real_user_is_ours). ret_path is allocated. 0, or a negative errno.
 */
int perfmap_open(const struct jit_process *process, struct perfmap *ret, char **ret_path);
/* A jitdump by path, under the same rules. */
int jitdump_open(const struct jit_process *process, const char *path, struct perfmap *ret);
