/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_clock: which time determines the samples of a command: each thread's own, or that of the CPU.
 */
#pragma once

#include <stdbool.h>

enum record_clock { RECORD_CLOCK_THREAD, RECORD_CLOCK_CPU, RECORD_CLOCK_AUTO };

/* That of the CPU if it is permitted and is_plain: it supports everything that is requested. */
enum record_clock record_clock_choose(bool is_plain);
