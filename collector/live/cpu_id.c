/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/live/cpu_id.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/text.h"

/* The text after "key : " in a line that starts with the key; NULL if there is none. */
static char *cpu_field(const char *info, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = info; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		const char *at = line + len;
		if (strncmp(line, key, len) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != ':')
			continue;
		at += 1 + strspn(at + 1, " \t");
		return alloc_text_n(at, strcspn(at, "\n"));
	}
	return NULL;
}

/* Does this feature distinguish generations of processors? */
static bool cpu_is_telling(const char *flag, size_t len)
{
	static const char *const starts[] = { "amx",    "avx",  "adx",  "clflushopt",
					      "clzero", "f16c", "vaes", "wbnoinvd" };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (len >= strlen(starts[i]) && memcmp(flag, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

static void cpu_add_flags(struct text *id, const char *flags)
{
	const char *before = " (";
	size_t n;

	for (const char *at = flags; *at; at += n) {
		at += strspn(at, " \t");
		n = strcspn(at, " \t");
		if (!n || !cpu_is_telling(at, n))
			continue;
		text_printf(id, "%s%.*s", before, (int)n, at);
		before = " ";
	}
	text_printf(id, "%s", before[1] ? "" : ")");
}

void cpu_id_read(const char *cpuinfo, char **ret_id, char **ret_name)
{
	CLEANUP(freep) char *vendor = cpu_field(cpuinfo, "vendor_id");
	CLEANUP(freep) char *family = cpu_field(cpuinfo, "cpu family");
	CLEANUP(freep) char *model = cpu_field(cpuinfo, "model");
	CLEANUP(freep) char *flags = cpu_field(cpuinfo, "flags");
	CLEANUP(freep) char *implementer = cpu_field(cpuinfo, "CPU implementer");
	CLEANUP(freep) char *part = cpu_field(cpuinfo, "CPU part");
	CLEANUP(text_done) struct text id = { 0 };

	if (vendor && family && model)
		text_printf(&id, "%s family %s model %s", vendor, family, model);
	else if (implementer && part)
		text_printf(&id, "implementer %s part %s", implementer, part);
	*ret_name = cpu_field(cpuinfo, "model name");
	if (!*ret_name && id.len)
		*ret_name = alloc_text(id.at);
	if (vendor && family && model && flags)
		cpu_add_flags(&id, flags);
	*ret_id = id.len ? alloc_text(id.at) : NULL;
}
