/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_load: loading of BPF programs in general: without output, with the verifier's log, and with one clear
 * sentence if the kernel refuses. Private to collector/bpf/.
 */
#pragma once

#include <bpf/libbpf.h>

#include "base/diag.h"
#include "base/text.h"

/* Enough for the whole log of the verifier: the reason is at its end. If the buffer is too small, Linux
 * before 6.4 keeps the beginning instead. */
#define BPF_LOG_SIZE (4u << 20)

struct bpf_load {
	struct bpf_object_open_opts options; /* to open a skeleton with */
	char *log;
};

void bpf_load_begin(struct bpf_load *load);
/* The result of loading a program that shares variables with us, error if it is one. libbpf loads it also if
 * it cannot map them, as when its first try to do so failed. */
int bpf_load_shared(int error, const void *variables);
/*
 * The skeleton was opened or loaded with this result, 0 or -errno. On failure sets the diag, and appends the
 * verifier's log to ret_log, which may be NULL. Returns the error.
 */
int bpf_load_end(struct bpf_load *load, int error, struct text *ret_log, struct diag *diag);
