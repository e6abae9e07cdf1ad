/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_registers: what a sample of this very program would hold.
 */
#pragma once

#include <ucontext.h>

#include "binary/isa/isa.h"
#include "collector/event.h"

/* Of the machine the program runs on. */
const struct isa *own_isa(void);
/* As getcontext or a signal handler found them. */
void own_registers(const ucontext_t *context, struct regs *ret);
