/* SPDX-License-Identifier: Apache-2.0 */
#include "report/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *number_count(uint64_t value, char text[NUMBER_MAX])
{
	char digits[NUMBER_MAX];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

/* Three significant digits. */
static void number_scaled(double value, const char *unit, char text[NUMBER_MAX])
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	snprintf(text, NUMBER_MAX, "%.*f %s", decimals, value, unit);
}

char *number_time(uint64_t ns, char text[NUMBER_MAX])
{
	double seconds = (double)ns / 1e9;

	if (ns == 0)
		snprintf(text, NUMBER_MAX, "0 s");
	else if (ns < 1000)
		snprintf(text, NUMBER_MAX, "%llu ns", (unsigned long long)ns);
	else if (seconds < 0.9995e-3)
		number_scaled(seconds * 1e6, "us", text);
	else if (seconds < 0.9995)
		number_scaled(seconds * 1e3, "ms", text);
	else if (seconds < 119.5)
		number_scaled(seconds, "s", text);
	else if (seconds < 7170)
		snprintf(text, NUMBER_MAX, "%.0f min %.0f s", floor(seconds / 60), floor(fmod(seconds, 60)));
	else
		snprintf(text, NUMBER_MAX, "%.0f h %.0f min", floor(seconds / 3600),
			 floor(fmod(seconds, 3600) / 60));
	return text;
}

char *number_value(uint64_t value, const char *unit, char text[NUMBER_MAX])
{
	static const char suffixes[] = { 'k', 'M', 'G', 'T', 'P', 'E' };
	bool is_bytes = strcmp(unit, "bytes") == 0;
	double scale = (double)value;
	size_t i = 0;

	if (strcmp(unit, "ns") == 0)
		return number_time(value, text);
	if (value < 1000000 && !is_bytes)
		return number_count(value, text);
	for (scale /= 1e3; scale >= 999.5 && i + 1 < sizeof(suffixes); i++)
		scale /= 1e3;
	number_scaled(scale, (const char[]){ suffixes[i], is_bytes ? 'B' : '\0', '\0' }, text);
	return text;
}

char *number_percent(double percent, char text[NUMBER_MAX])
{
	if (percent > 0 && percent < 0.05)
		snprintf(text, NUMBER_MAX, "<0.1%%");
	else if (percent >= 99.95 && percent < 100)
		snprintf(text, NUMBER_MAX, ">99.9%%");
	else if (percent == 0 || percent == 100)
		snprintf(text, NUMBER_MAX, "%.0f%%", percent);
	else
		snprintf(text, NUMBER_MAX, "%.1f%%", percent);
	return text;
}

double number_share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* For a share p found by n samples. */
static struct interval wilson(double p, double n)
{
	const double z = 1.959964; /* 95 % of a normal distribution are within */
	double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
	double low = p <= 0 ? 0 : middle - half, high = p >= 1 ? 1 : middle + half;

	return (struct interval){ 100 * low, 100 * high };
}

struct interval number_interval(uint64_t part, uint64_t whole)
{
	return whole ? wilson((double)part / (double)whole, (double)whole) : (struct interval){ 0, 100 };
}

struct interval number_interval_of_share(double share, double n)
{
	return n > 0 ? wilson(share, n) : (struct interval){ 0, 100 };
}

struct interval number_interval_of_cost(uint64_t cost, uint64_t all_cost, uint64_t samples,
					uint64_t all_samples, double spread)
{
	double n = (double)all_samples / spread;

	if (all_samples == 0)
		return (struct interval){ 0, 100 };
	struct interval by_count = wilson((double)samples / (double)all_samples, n);
	if (all_cost == 0)
		return by_count;
	struct interval by_cost = wilson((double)cost / (double)all_cost, n);
	return (struct interval){ fmin(by_count.low, by_cost.low), fmax(by_count.high, by_cost.high) };
}
