/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_symbol: loads the program symbol.bpf.c, with which the kernel formats one of its own addresses.
 */
#pragma once

#include <stdint.h>

#include "collector/bpf/symbol_layout.h"

struct bpf_symbol;

/* NULL if the kernel refuses it, or cpprof was built without libbpf. */
struct bpf_symbol *bpf_symbol_open(void);
void bpf_symbol_close(struct bpf_symbol *symbol);
/* Sets question->answer for question->vaddr. 0 or -errno. */
int bpf_symbol_ask(const struct bpf_symbol *symbol, struct symbol_question *question);
