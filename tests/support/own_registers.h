/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_registers: the registers of the current process, as a sample of it would contain them.
 */
#pragma once

#include <ucontext.h>

#include "binary/isa/isa.h"
#include "collector/event.h"

/* The architecture that the program runs on. */
const struct isa *own_isa(void);
/* From a context filled by getcontext or passed to a signal handler. */
void own_registers(const ucontext_t *context, struct regs *ret);
