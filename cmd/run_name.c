/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_name.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"

bool run_rank(uint32_t *ret)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
					     "SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i]);
		char *end;
		if (!text || *text < '0' || *text > '9')
			continue;
		unsigned long value = strtoul(text, &end, 10);
		if (*end || value >= UINT32_MAX)
			continue;
		*ret = (uint32_t)value;
		return true;
	}
	return false;
}

bool run_name_has(const char *template, char letter)
{
	for (const char *at = template; at && *at; at++) {
		if (*at != '%')
			continue;
		if (at[1] == letter)
			return true;
		at += at[1] != 0; /* %% does not affect what follows */
	}
	return false;
}

char *run_name(const char *template, uint64_t run, uint32_t rank)
{
	struct text text = { 0 };

	if (!template)
		return NULL;
	text_printf(&text, "%s", "");
	for (const char *at = template; *at; at++) {
		bool is_sign = at[0] == '%' && at[1];
		if (is_sign && at[1] == 'n')
			text_printf(&text, "%" PRIu64, run);
		else if (is_sign && at[1] == 'r')
			text_printf(&text, "%" PRIu32, rank);
		else
			text_add(&text, at, is_sign ? 2 : 1);
		at += is_sign;
	}
	return text.at;
}
