/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_maps: whether a test can inspect its own process as cpprof inspects a target.
 */
#pragma once

#include <stdbool.h>

/* User-mode emulators may show a program's code as data. */
bool own_code_is_mapped(void);
#define NO_OWN_CODE "/proc/self/maps does not show this program's code as such, as under an emulator"
