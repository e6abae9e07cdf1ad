/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/signed_number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report/number.h"

char *plain_value(double value, const char *unit, char text[SIGNED_MAX])
{
	char number[NUMBER_MAX];
	uint64_t whole = value < 1      ? (uint64_t)(value >= 0.5)
			 : value < 1e19 ? (uint64_t)llround(value)
					: UINT64_MAX;

	snprintf(text, SIGNED_MAX, "%s", number_value(whole, unit, number));
	return text;
}

char *signed_value(double value, const char *unit, char text[SIGNED_MAX])
{
	char number[SIGNED_MAX];

	if (fabs(value) < 0.5)
		snprintf(text, SIGNED_MAX, "0");
	else
		snprintf(text, SIGNED_MAX, "%c%.46s", value < 0 ? '-' : '+',
			 plain_value(fabs(value), unit, number));
	return text;
}

char *signed_percent(double percent, char text[SIGNED_MAX])
{
	int digits = fabs(percent) < 0.0995 ? 2 : 1;

	if (percent == 0)
		snprintf(text, SIGNED_MAX, "0 %%");
	else if (!isfinite(percent))
		snprintf(text, SIGNED_MAX, "%s", percent > 0 ? "all of it" : "-");
	else
		snprintf(text, SIGNED_MAX, "%+.*f %%", digits, percent);
	return text;
}
