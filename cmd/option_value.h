/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_value: what an option is given, as text, checked and put where the option keeps it. A command only
 * sees sound values, wherever they were written down.
 */
#pragma once

#include "cmd/command_line.h"

bool option_takes_value(const struct option_spec *spec);
/* False if this is no such value. Texts are borrowed, the values of lists copied. */
bool option_value_set(const struct option_spec *spec, const char *text);
/* "a number above 0"; of a choice, what stands before its words. */
const char *option_value_wants(const struct option_spec *spec);
