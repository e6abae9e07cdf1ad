/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_tape: writes a perf.data file with samples that we took ourselves, as the kernel would have written
 * them.
 *
 * So perf, and any other reader of its recordings, can be compared with stacks that are known.
 */
#pragma once

#include "base/diag.h"
#include "binary/elf/image.h"
#include "collector/event.h"

/* Bytes of stack in a sample: limited by the 16-bit size of a record. */
#define PERF_TAPE_STACK 61440

struct perf_tape;
int perf_tape_open(const char *path, const struct isa *isa, struct perf_tape **ret, struct diag *diag);
/* A sample, or an event with names or mappings. Their times must increase. */
void perf_tape_add(struct perf_tape *tape, const struct images *images, const struct event *event);
/* Completes the file and frees the tape; tape may be NULL. */
int perf_tape_close(struct perf_tape *tape, const struct images *images, const char *command_line,
		    struct diag *diag);
