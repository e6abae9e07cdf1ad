/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define MANY 1e7 /* degrees of freedom from which t is practically the normal distribution */

struct run_spread run_spread_of(const double *values, size_t n)
{
	struct run_spread spread = { .n = n };
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		spread.mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - spread.mean) * (values[i] - spread.mean);
	spread.variance = n > 1 ? squares / (double)(n - 1) : 0;
	return spread;
}

/* ---- Student's t ---------------------------------------------------------------------------------- */

/* The continued fraction of the incomplete beta function, by Lentz's method. It converges for x below (a + 1)
 * / (a + b + 2), which the caller ensures. */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 1000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double steps[] = { even, odd }, change = 1;
		for (int i = 0; i < 2; i++) {
			d = 1 + steps[i] * d;
			c = 1 + steps[i] / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			change = c * d;
			f *= change;
		}
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return f;
}

/* lgamma() stores the sign in a global variable. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* The regularised incomplete beta function I_x(a, b). */
static double beta_share(double x, double a, double b)
{
	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_share(1 - x, b, a);
	double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	return front * beta_fraction(x, a, b) / a;
}

/* P(T > t) for t >= 0. Far out, 1 - cdf would be only rounding errors. */
static double student_tail(double t, double df)
{
	if (isinf(t))
		return 0;
	if (df > MANY)
		return erfc(t / sqrt(2)) / 2;
	return beta_share(df / (df + t * t), df / 2, 0.5) / 2;
}

double student_cdf(double t, double df)
{
	return t < 0 ? student_tail(-t, df) : 1 - student_tail(t, df);
}

static double student_density(double t, double df)
{
	if (df > MANY)
		return exp(-t * t / 2) / sqrt(2 * M_PI);
	return exp(log_gamma((df + 1) / 2) - log_gamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) /
	       sqrt(df * M_PI);
}

/* Newton's method, with bisection if a step leaves the interval. */
double student_quantile(double p, double df)
{
	double low = 0, high = 1, tail = p < 0.5 ? p : 1 - p, t = 2;

	while (student_tail(high, df) > tail && high < 1e300)
		high *= 2;
	for (int i = 0; i < 200; i++) {
		double over = student_tail(t, df) - tail;
		*(over > 0 ? &low : &high) = t;
		double next = t + over / student_density(t, df);
		if (!(next > low && next < high))
			next = (low + high) / 2;
		if (fabs(next - t) <= 1e-14 * fabs(next))
			break;
		t = next;
	}
	return p < 0.5 ? -t : t;
}

/* ---- two means ------------------------------------------------------------------------------------ */

struct welch welch_of_runs(const struct run_spread *left, const struct run_spread *right)
{
	double l = left->variance / (double)left->n, r = right->variance / (double)right->n;
	double parts = l * l / (double)(left->n - 1) + r * r / (double)(right->n - 1);

	return (struct welch){ .delta = right->mean - left->mean,
			       .error = sqrt(l + r),
			       .df = parts > 0 ? (l + r) * (l + r) / parts
					       : (double)(left->n + right->n - 2) };
}

struct welch welch_of_known(double left, double left_variance, double right, double right_variance)
{
	return (struct welch){ .delta = right - left,
			       .error = sqrt(left_variance + right_variance),
			       .df = INFINITY };
}

double welch_half_width(const struct welch *welch, double confidence)
{
	return welch->error > 0 ? welch->error * student_quantile((1 + confidence) / 2, welch->df) : 0;
}

double welch_p(const struct welch *welch)
{
	if (welch->delta == 0)
		return 1;
	return welch->error > 0 ? 2 * student_tail(fabs(welch->delta) / welch->error, welch->df) : 0;
}

double welch_p_above(const struct welch *welch, double limit)
{
	double distance = welch->delta - limit;

	if (welch->error > 0)
		return student_cdf(-distance / welch->error, welch->df);
	return distance > 0 ? 0 : 1;
}

/* ---- many tests ----------------------------------------------------------------------------------- */

struct ranked {
	double p;
	size_t at;
};

static int ranked_compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return a->p < b->p ? -1 : a->p > b->p;
}

/* All tests up to the last one, in the order of p, whose p is at most its rank's share of the level. */
void benjamini_hochberg(const double *p, size_t n, double level, bool *ret)
{
	CLEANUP(freep) struct ranked *ranked = alloc_zero(n + 1, sizeof(*ranked));
	size_t n_hold = 0;

	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){ p[i], i };
	qsort(ranked, n, sizeof(*ranked), ranked_compare);
	for (size_t i = 0; i < n; i++)
		if (ranked[i].p <= level * (double)(i + 1) / (double)n)
			n_hold = i + 1;
	for (size_t i = 0; i < n; i++)
		ret[ranked[i].at] = i < n_hold;
}
