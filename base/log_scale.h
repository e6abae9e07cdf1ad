/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_scale: logarithmic histogram buckets (classes), each at most a sixteenth of its values wide. Numbers
 * below 16 have a class each.
 */
#pragma once

#include <stdint.h>

#define LOG_SCALE_PARTS 16u /* classes of numbers that have the same highest bit */
#define LOG_SCALE_N 976u

static inline uint32_t log_scale_class(uint64_t number)
{
	if (number < LOG_SCALE_PARTS)
		return (uint32_t)number;
	unsigned high = 63 - (unsigned)__builtin_clzll(number);
	return (high - 3) * LOG_SCALE_PARTS + (uint32_t)(number >> (high - 4) & (LOG_SCALE_PARTS - 1));
}

/* The lowest number of a class. */
static inline uint64_t log_scale_start(uint32_t class)
{
	if (class < LOG_SCALE_PARTS)
		return class;
	return (uint64_t)(LOG_SCALE_PARTS + class % LOG_SCALE_PARTS) << (class / LOG_SCALE_PARTS - 1);
}

/* A number in the middle of a class. */
static inline uint64_t log_scale_middle(uint32_t class)
{
	uint64_t width = class < 2 * LOG_SCALE_PARTS ? 1 : 1ull << (class / LOG_SCALE_PARTS - 1);

	return log_scale_start(class) + width / 2;
}
