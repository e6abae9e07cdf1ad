/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signed_number: formats differences, always with their sign. Each function writes into the caller's buffer
 * and returns it.
 */
#pragma once

#include <stddef.h>

#define SIGNED_MAX 48

/* "+80.0 ms", "-1.23 G", "0" */
char *signed_value(double value, const char *unit, char text[SIGNED_MAX]);
/* "1.23 s", "45.0 ms", for values that are never negative */
char *plain_value(double value, const char *unit, char text[SIGNED_MAX]);
/* "+6.5 %", "-0.02 %" */
char *signed_percent(double percent, char text[SIGNED_MAX]);
