/* SPDX-License-Identifier: Apache-2.0 */
/* The register files of both machines, without a decoder: enough for code that only tracks registers. */
#pragma once

#include <elf.h>

#include "binary/isa/isa.h"

static const char *const x86_names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
					 "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip" };
static const char *const arm_names[] = { "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",
					 "x9",  "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
					 "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
					 "x27", "x28", "x29", "x30", "sp",  "pc" };

static const struct isa test_x86 = { .name = "x86-64",
				     .elf_machine = EM_X86_64,
				     .sp = 7,
				     .fp = 6,
				     .ra = 16,
				     .pc = 16,
				     .n_regs = 17,
				     .min_insn = 1,
				     .call_pushes_ra = true,
				     .callee_saved = 1u << 3 | 1u << 6 | 0xfu << 12,
				     .reg_names = x86_names };
static const struct isa test_arm = { .name = "aarch64",
				     .elf_machine = EM_AARCH64,
				     .sp = 31,
				     .fp = 29,
				     .ra = 30,
				     .pc = 32,
				     .n_regs = 33,
				     .min_insn = 4,
				     .callee_saved = 0x7ffu << 19,
				     .reg_names = arm_names };
