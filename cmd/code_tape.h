/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_tape: code in no file, read from the process for whoever walks its stacks, and kept in the raw
 * recording, if there is one: so that what is made of that later sees what was seen now.
 */
#pragma once

#include "collector/source.h"

struct code_tape;
/* is_kept: there is a raw recording. */
struct code_tape *code_tape_new(struct source *source, bool is_kept);
void code_tape_free(struct code_tape *tape);

/* A memory_reader; the context is the tape. From any thread. */
ssize_t code_tape_read(void *tape, pid_t pid, uint64_t addr, void *to, size_t len);
/* What was read since the last call goes into the raw recording, before what happened at time_ns. */
void code_tape_write(struct code_tape *tape, uint64_t time_ns);
