/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noreturn: library functions that are known by name: those that do not return, and stack probes, which
 * preserve isa.probe_regs.
 */
#pragma once

#include <stdbool.h>

bool noreturn_by_name(const char *name);
bool probe_by_name(const char *name);
