/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number: formats numbers. Each function writes into the caller's buffer and returns it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX 32 /* room for any of these */

/* 1,234,567 */
char *number_count(uint64_t value, char text[NUMBER_MAX]);
/* 1.23 s, 45.0 ms, 2 min 5 s */
char *number_time(uint64_t ns, char text[NUMBER_MAX]);
/* A metric's value in its unit: time for "ns", 1.23 MB for "bytes", otherwise a count with a suffix: 1.23 G
 */
char *number_value(uint64_t value, const char *unit, char text[NUMBER_MAX]);
/* 12.3%, <0.1% for values above 0 that round to 0, 100% */
char *number_percent(double percent, char text[NUMBER_MAX]);
/* The share of the whole; 0 if that is 0. */
double number_share(uint64_t part, uint64_t whole);

/* The 95 % interval of a share, in percent, from counts of samples (Wilson's score interval). */
struct interval {
	double low, high;
};
struct interval number_interval(uint64_t part, uint64_t whole);
/* The same for a share, from 0 to 1, that was found by n samples. */
struct interval number_interval_of_share(double share, double n);
/*
 * The same for a share of cost. If samples have different weights, they say less than their number suggests:
 * the interval then covers both that of the counts and that of the amounts, and so always contains the share
 * itself. spread: how many samples count as one, see report/spread.h.
 */
struct interval number_interval_of_cost(uint64_t cost, uint64_t all_cost, uint64_t samples,
					uint64_t all_samples, double spread);
