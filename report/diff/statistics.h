/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics: is a difference more than chance? Student's t, Welch's test of two means, and the procedure of
 * Benjamini and Hochberg for many tests at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Repeated measurements: the mean, the variance of one measurement, and their number. */
struct run_spread {
	double mean, variance;
	size_t n;
};

/* The variance is the sample variance (n - 1); 0 for a single value. */
struct run_spread run_spread_of(const double *values, size_t n);

/* P(T <= t) of Student's t with df degrees of freedom (> 0, may be infinite: the normal distribution). */
double student_cdf(double t, double df);
/* The p-quantile of Student's t, 0 < p < 1. */
double student_quantile(double p, double df);

/* A difference of two means. */
struct welch {
	double delta; /* right - left */
	double error; /* standard error of delta */
	double df;    /* degrees of freedom (Welch-Satterthwaite); infinite if variances are known */
};

/* From the spread of both sides, each of at least two measurements. */
struct welch welch_of_runs(const struct run_spread *left, const struct run_spread *right);
/* From variances that are known, not estimated. */
struct welch welch_of_known(double left, double left_variance, double right, double right_variance);
/* Half the width of the confidence interval; confidence: such as 0.95. */
double welch_half_width(const struct welch *welch, double confidence);
/* The probability of a difference at least as large, in either direction, by chance. */
double welch_p(const struct welch *welch);
/* The same for one direction: the probability of a delta at least as large if the true one is `limit`. */
double welch_p_above(const struct welch *welch, double limit);

/* Which of n tests are significant if at most a share `level` of them may be false on average. */
void benjamini_hochberg(const double *p, size_t n, double level, bool *ret);
