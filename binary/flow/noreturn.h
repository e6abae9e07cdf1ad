/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noreturn: library functions that are known by name not to come back.
 */
#pragma once

#include <stdbool.h>

bool noreturn_by_name(const char *name);
