/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_links: where probes are set, in which processes, and which of them are in force.
 *
 * Probes are set and removed by opening and closing links: one that is switched off costs as much as one that
 * is not. What was set is remembered, so that functions can be left out, and taken in again, one by one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "collector/bpf/bpf_trace.h"

/* Entry and exits of one function; vaddrs are not known here: all are offsets in its file. */
struct probe_function {
	uint32_t number; /* below TRACE_FUNCTIONS_MAX */
	uint64_t entry;
	uint32_t skip; /* entry is that far behind the start: 0 or TRACE_SKIP */
	const uint64_t *exits;
	size_t n_exits;           /* 0 = where it returns to is probed instead, unless */
	size_t n_jumps;           /* the last ones of the exits: jumps to other functions */
	bool has_no_end;          /* it does not matter where it ends */
	struct trace_grant grant; /* of an allocation function */
	bool is_go;               /* written in Go */
};

/* How the end of a call is seen. */
enum call_exits {
	CALL_EXITS_AUTO,   /* as costs less, and as is possible */
	CALL_EXITS_CODE,   /* in the function's own code */
	CALL_EXITS_RETURN, /* where it returns to */
};

enum probe_state {
	PROBE_ALWAYS,
	PROBE_AT_TIMES, /* in force between probe_links_resume and probe_links_pause */
	PROBE_NEVER,
};

struct probe_set {
	pid_t pid;
	char *path;
	VEC(struct probe_function) functions; /* exits are its own */
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
 * Sets the probes of these functions of a file, as one process has it, all or none. path: as we see the file.
 * ret_refused, if one of them is to blame: its index; else SIZE_MAX. 0 or -errno.
 */
int probe_links_add(struct probe_links *links, pid_t pid, const char *path,
		    const struct probe_function *functions, size_t n, size_t *ret_refused);
/* All of a process that is gone. */
void probe_links_forget(struct probe_links *links, pid_t pid);
void probe_links_change(struct probe_links *links, uint32_t number, enum probe_state state);
/* Of what is in force at times: no call is seen to begin any more; and none to end. */
void probe_links_pause(struct probe_links *links, bool with_exits);
void probe_links_resume(struct probe_links *links);
/* All probes are removed. */
void probe_links_clear(struct probe_links *links);
