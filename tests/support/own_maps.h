/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_maps: whether a test can look at its own process as cpprof looks at a target.
 */
#pragma once

#include <stdbool.h>

/* Emulators of processors may show a program's code as data. */
bool own_code_is_mapped(void);
#define NO_OWN_CODE "/proc/self/maps does not show this program's code as such, as under an emulator"
