/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_load: what loading any BPF program has in common: quiet, with the verifier's log at hand, and one clear
 * sentence when the kernel refuses. Private to collector/bpf/.
 */
#pragma once

#include <bpf/libbpf.h>

#include "base/diag.h"
#include "base/text.h"

/* Room for all that the verifier says: its last words, at the end, are the reason. Linux before 6.4 keeps the
 * first ones where the room is too small. */
#define BPF_LOG_SIZE (4u << 20)

struct bpf_load {
	struct bpf_object_open_opts options; /* to open a skeleton with */
	char *log;
};

void bpf_load_begin(struct bpf_load *load);
/*
 * The skeleton was opened or loaded with this result, 0 or -errno. On failure sets the diag, and appends the
 * verifier's log to ret_log, which may be NULL. Returns the error.
 */
int bpf_load_end(struct bpf_load *load, int error, struct text *ret_log, struct diag *diag);
