/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_regs: the kernel's numbering of user registers in samples, per architecture, to DWARF numbers.
 *
 * Both tables are always compiled in: a recording may come from the other architecture.
 */
#pragma once

#include <stdint.h>

#include "base/bytes.h"
#include "binary/isa/isa.h"
#include "collector/event.h"

/* The sample_regs_user mask for the kernel; 0 for an unsupported architecture. */
uint64_t perf_regs_mask(const struct isa *isa);

/*
 * The registers of one sample. values: 8 bytes for each bit set in mask, lowest first. Bits without a DWARF
 * number are ignored; missing values leave their registers unknown.
 */
struct regs perf_regs_read(const struct isa *isa, uint64_t mask, struct bytes values);
/* The reverse: one value for each bit set in mask, 0 if there is none. Returns how many; ret_values must have
 * room for 64. */
size_t perf_regs_write(const struct isa *isa, uint64_t mask, const struct regs *regs, uint64_t *ret_values);
