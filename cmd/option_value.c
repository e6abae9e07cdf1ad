/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/option_value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "report/quality.h"

bool option_takes_value(const struct option_spec *spec)
{
	return spec->kind != OPTION_FLAG && spec->kind != OPTION_COUNT;
}

static bool option_parse_number(const char *text, uint64_t *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, text[0] == '0' && tolower((unsigned char)text[1]) == 'x' ? 16 : 10);
	*ret_rest = end;
	return errno == 0;
}

static bool option_parse_size(const char *text, uint64_t *ret)
{
	static const struct {
		const char *suffix;
		unsigned shift;
	} units[] = { { "", 0 },    { "k", 10 }, { "kb", 10 }, { "m", 20 },
		      { "mb", 20 }, { "g", 30 }, { "gb", 30 } };
	const char *rest;
	uint64_t value;

	if (!option_parse_number(text, &value, &rest))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcasecmp(rest, units[i].suffix) == 0 && value <= UINT64_MAX >> units[i].shift) {
			*ret = value << units[i].shift;
			return true;
		}
	return false;
}

static bool option_parse_real(const char *text, double *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	*ret = strtod(text, &end);
	*ret_rest = end;
	return end != text && isfinite(*ret);
}

static bool option_parse_seconds(const char *text, double *ret)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	const char *rest;
	double value;

	if (!option_parse_real(text, &value, &rest))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(rest, units[i].suffix) == 0 && value * units[i].factor < 1e9) {
			*ret = value * units[i].factor;
			return true;
		}
	return false;
}

static bool option_parse_percent(const char *text, double *ret)
{
	const char *rest;
	double value;

	if (!option_parse_real(text, &value, &rest) || (rest[0] && strcmp(rest, "%") != 0) || value > 100)
		return false;
	*ret = value;
	return true;
}

static bool option_parse_quality(const char *text, struct quality_bar *ret)
{
	struct quality_bar bar = { 0 };
	CLEANUP(freep) char *copy = alloc_text(text);
	char *rest = copy;

	if (option_parse_percent(text, &bar.complete)) {
		*ret = bar;
		return true;
	}
	for (char *part; (part = strsep(&rest, ","));) {
		bool is_seen = strncmp(part, "seen=", 5) == 0;
		if (!is_seen && strncmp(part, "complete=", 9) != 0)
			return false;
		if (!option_parse_percent(strchr(part, '=') + 1, is_seen ? &bar.seen : &bar.complete))
			return false;
	}
	*ret = bar;
	return true;
}

static bool option_parse_choice(const char *text, const char *words, int *ret)
{
	size_t len = strlen(text);
	int index = 0;

	for (const char *word = words; len; index++) {
		size_t word_len = strcspn(word, "|");
		if (word_len == len && memcmp(word, text, len) == 0) {
			*ret = index;
			return true;
		}
		if (!word[word_len])
			return false;
		word += word_len + 1;
	}
	return false;
}

/* Up to the next comma that is not inside braces. */
static size_t option_part(const char *text)
{
	size_t len = 0;

	for (bool is_inside = false; text[len] && (text[len] != ',' || is_inside); len++)
		is_inside = text[len] == '{' || (is_inside && text[len] != '}');
	return len;
}

static void option_add_split(struct option_list *list, const char *text)
{
	for (;;) {
		size_t len = option_part(text);
		if (len)
			vec_push(&list->values, alloc_text_n(text, len));
		if (!text[len])
			return;
		text += len + 1;
	}
}

static bool option_parse_mode(const char *text, mode_t *ret)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 8);

	if (text[0] < '0' || text[0] > '7' || *rest || !value || value > 0777)
		return false;
	*ret = (mode_t)value;
	return true;
}

bool option_value_set(const struct option_spec *spec, const char *text)
{
	const char *rest;
	uint64_t number;

	switch (spec->kind) {
	case OPTION_TEXT:
		*(const char **)spec->to = text;
		return true;
	case OPTION_LIST:
		option_add_split(spec->to, text);
		return true;
	case OPTION_RULES:
	case OPTION_TEXTS:
		if (spec->kind == OPTION_RULES && (text[0] == '=' || !strchr(text, '=')))
			return false;
		vec_push(&((struct option_list *)spec->to)->values, alloc_text(text));
		return true;
	case OPTION_NUMBER:
	case OPTION_POSITIVE:
		if (!option_parse_number(text, &number, &rest) || *rest ||
		    (number == 0 && spec->kind == OPTION_POSITIVE))
			return false;
		*(uint64_t *)spec->to = number;
		return true;
	case OPTION_SIZE:
		return option_parse_size(text, spec->to);
	case OPTION_SECONDS:
	case OPTION_DURATION:
		return option_parse_seconds(text, spec->to) &&
		       (*(double *)spec->to > 0 || spec->kind == OPTION_SECONDS);
	case OPTION_MODE:
		return option_parse_mode(text, spec->to);
	case OPTION_PERCENT:
		return option_parse_percent(text, spec->to);
	case OPTION_QUALITY:
		return option_parse_quality(text, spec->to);
	case OPTION_CHOICE:
		return option_parse_choice(text, spec->value, spec->to);
	case OPTION_FLAG:
	case OPTION_COUNT:
		break;
	}
	return false;
}

const char *option_value_wants(const struct option_spec *spec)
{
	static const char *const wants[] = {
		[OPTION_FLAG] = "true or false",
		[OPTION_COUNT] = "a small number",
		[OPTION_TEXT] = "a text",
		[OPTION_LIST] = "a list",
		[OPTION_TEXTS] = "a list",
		[OPTION_NUMBER] = "a number",
		[OPTION_POSITIVE] = "a number above 0",
		[OPTION_RULES] = "OLD=NEW",
		[OPTION_SIZE] = "a size such as 16384 or 16k",
		[OPTION_SECONDS] = "a time such as 2.5 or 500ms",
		[OPTION_DURATION] = "a time above 0 such as 2.5 or 500ms",
		[OPTION_PERCENT] = "a percentage from 0 to 100",
		[OPTION_QUALITY] = "a percentage, or complete=99,seen=95",
		[OPTION_MODE] = "permissions in octal such as 600 or 644",
		[OPTION_CHOICE] = "one of",
	};

	return wants[spec->kind];
}
