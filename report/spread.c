/* SPDX-License-Identifier: Apache-2.0 */
#include "report/spread.h"

#include <math.h>

#define ROUNDS_LEAST 8 /* fewer are not enough */
#define ROUNDS_MAX 64
/* The mean of the squared distance of one of three normal numbers from the middle one. */
#define MIDDLE_SQUARE 0.782

static double spread_middle(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/*
 * The factor by which intervals from few rounds must be widened to cover 95 %: Student's t, squared, relative
 * to that of a normal distribution. A third of the rounds are their own middle, and contribute nothing.
 */
static double spread_of_few(size_t n)
{
	double freedom = (double)n * 2 / 3;

	return 1 + 2.4 / freedom + 4 / (freedom * freedom);
}

double spread_factor(const uint64_t *part, const uint64_t *whole, size_t n_rounds)
{
	double share[ROUNDS_MAX], size[ROUNDS_MAX], all = 0, own = 0, square = 0;
	size_t n = 0;

	for (size_t i = 0; i < n_rounds && i < ROUNDS_MAX; i++) {
		if (!whole[i])
			continue;
		size[n] = (double)whole[i];
		share[n++] = (double)part[i] / (double)whole[i];
		all += (double)whole[i];
		own += (double)part[i];
	}
	double p = all > 0 ? own / all : 0;
	if (n < ROUNDS_LEAST || p <= 0 || p >= 1)
		return 1;
	for (size_t i = 0; i < n; i++) {
		double middle = spread_middle(share[(i + n - 1) % n], share[i], share[(i + 1) % n]);
		double apart = size[i] * (share[i] - middle);
		square += apart * apart / MIDDLE_SQUARE;
	}
	return fmax(1, square / (all * p * (1 - p)) * spread_of_few(n));
}
