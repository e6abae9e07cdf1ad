/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_value: checks the value of an option, given as text, and stores it in the option's variable. A
 * command only sees valid values, wherever they come from.
 */
#pragma once

#include "cmd/command_line.h"

bool option_takes_value(const struct option_spec *spec);
/* False if the value is not valid. Texts are borrowed, the values of lists copied. */
bool option_value_set(const struct option_spec *spec, const char *text);
/* "a number above 0"; for a choice, the text before its words. */
const char *option_value_wants(const struct option_spec *spec);
