/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_links: where probes are set, in which processes, and which of them are active.
 *
 * Probes are set and removed by opening and closing links: a disabled probe costs as much as an enabled one.
 * What was set is stored, so that functions can be removed and added again one by one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collector/bpf/bpf_trace.h"

/* Entry and exits of one function, as offsets in its file. */
struct probe_function {
	uint32_t number; /* below TRACE_FUNCTIONS_MAX */
	uint64_t entry;
	uint32_t skip; /* distance of entry from the start of the function: 0 or TRACE_SKIP */
	const uint64_t *exits;
	size_t n_exits;           /* 0 = the return address is probed instead, unless has_no_end */
	size_t n_jumps;           /* how many of the last exits are jumps to other functions */
	bool has_no_end;          /* its end need not be probed */
	struct trace_grant grant; /* of an allocation function */
	bool is_go;               /* written in Go */
};

/* How the end of a call is probed. */
enum call_exits {
	CALL_EXITS_AUTO,   /* whichever is possible and cheaper */
	CALL_EXITS_CODE,   /* at the exits in the function's code */
	CALL_EXITS_RETURN, /* at the return address */
};

enum probe_state {
	PROBE_ALWAYS,
	PROBE_AT_TIMES, /* active between probe_links_resume and probe_links_pause */
	PROBE_NEVER,
};

struct probe_set {
	pid_t pid;
	char *path;
	VEC(struct probe_function) functions; /* with copies of exits */
};
struct probe_link {
	int fd;
	uint32_t set;
	enum probe_state state; /* of its functions */
	bool at_entry;
};

struct probe_links {
	struct bpf_trace *program; /* borrowed */
	VEC(struct probe_set) sets;
	VEC(struct probe_link) links;
	uint8_t state[TRACE_FUNCTIONS_MAX]; /* enum probe_state, by number */
	bool is_paused;
};

void probe_links_init(struct probe_links *links, struct bpf_trace *program);
void probe_links_done(struct probe_links *links);
/*
 * Sets the probes of these functions of a file in one process, all or none. path: as seen by cpprof.
 * ret_refused: the index of the function that caused a failure; otherwise SIZE_MAX. 0 or -errno.
 */
int probe_links_add(struct probe_links *links, pid_t pid, const char *path,
		    const struct probe_function *functions, size_t n, size_t *ret_refused);
/* Removes all probes of a process that has ended. */
void probe_links_forget(struct probe_links *links, pid_t pid);
void probe_links_change(struct probe_links *links, uint32_t number, enum probe_state state);
/* For PROBE_AT_TIMES: removes entry probes and, with_exits, also exit probes. */
void probe_links_pause(struct probe_links *links, bool with_exits);
void probe_links_resume(struct probe_links *links);
/* Removes all probes. */
void probe_links_clear(struct probe_links *links);
