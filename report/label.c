/* SPDX-License-Identifier: Apache-2.0 */
#include "report/label.h"

#include <string.h>

#define TITLE_LENGTH 60

const char *label_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *label_image(const struct profile *profile, image_id image)
{
	if (image >= profile->images.n)
		return "[unknown]";
	return label_file(intern_text(&profile->strings, profile->images.at[image].path));
}

void label_place(const struct profile *profile, uint32_t file, uint32_t line, struct text *ret)
{
	const char *path = intern_text(&profile->strings, file);

	if (!*path)
		return;
	text_printf(ret, "%s", label_file(path));
	if (line)
		text_printf(ret, ":%u", line);
}

static void label_loop(const struct profile *profile, const struct scope *scope, struct text *ret)
{
	text_printf(ret, scope->flags & SCOPE_SCHEDULE ? "schedule at " : "loop at ");
	if (scope->file)
		label_place(profile, scope->file, scope->line, ret);
	else
		text_printf(ret, "%s+0x%llx", label_image(profile, scope->image),
			    (unsigned long long)scope->vaddr);
}

static void label_region(const struct profile *profile, const struct scope *scope, struct text *ret)
{
	text_printf(ret, "parallel region ");
	if (!scope->file || !scope->line) {
		text_printf(ret, "%s", intern_text(&profile->strings, scope->name));
		return;
	}
	text_printf(ret, "at ");
	label_place(profile, scope->file, scope->line, ret);
}

/* Not code, but the parent of the call paths of wakers. */
static bool label_is_mark(const struct profile *profile, const struct scope *scope)
{
	return !scope->vaddr && scope->image < profile->images.n &&
	       strcmp(label_image(profile, scope->image), WOKEN_BY) == 0;
}

void label_scope(const struct profile *profile, const struct scope *scope, struct text *ret)
{
	const char *name = intern_text(&profile->strings, scope->name);

	switch (scope->kind) {
	case SCOPE_ROOT:
		text_printf(ret, "[all]");
		return;
	case SCOPE_INCOMPLETE:
		text_printf(ret, "[incomplete stacks]");
		return;
	case SCOPE_LOOP:
		label_loop(profile, scope, ret);
		return;
	case SCOPE_LINE:
		label_place(profile, scope->file, scope->line, ret);
		return;
	default:
		break;
	}
	if (scope->kind == SCOPE_FUNCTION && (scope->flags & SCOPE_PARALLEL)) {
		label_region(profile, scope, ret);
		return;
	}
	if (*name)
		text_printf(ret, "%s", name);
	else if (label_is_mark(profile, scope))
		text_printf(ret, WOKEN_BY);
	else if (scope->image < profile->images.n)
		text_printf(ret, "%s+0x%llx", label_image(profile, scope->image),
			    (unsigned long long)scope->vaddr);
	else if (!scope->vaddr) /* folded: report/limit.h, unwinder/cct_fold.h */
		text_printf(ret, "<other>");
	else
		text_printf(ret, "[unknown] 0x%llx", (unsigned long long)scope->vaddr);
}

void label_run(const struct profile *profile, struct text *ret)
{
	const char *target = intern_text(&profile->strings, profile->run.target);
	size_t len = strlen(target);
	bool is_long = len > TITLE_LENGTH;

	if (is_long)
		for (len = TITLE_LENGTH - 3; len > 0 && ((unsigned char)target[len] & 0xc0) == 0x80; len--)
			;
	text_printf(ret, "%.*s%s", (int)len, target, is_long ? "..." : "");
}
