/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle: the only file that knows libiberty.
 *
 * A mangled name refers back to its own parts, so a short hostile one can unfold to any length. The
 * demanglers cannot be told to stop; they hand out their text piece by piece, and we jump out of the
 * piece that is one too many. They hold no memory of the heap then, only of the stack.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MANGLED (64 * 1024)
#define MAX_READABLE (256 * 1024) /* the longest names of template-heavy programs have some 100 KB */
#define MAX_D_REFERENCES 24       /* D's demangler allocates, so this bounds it: at most 2^24 pieces */

#define MODULE_MARK "_MOD_"

struct sink {
	struct text *to;
	size_t start;
	jmp_buf overflow;
};

static void demangle_take(const char *piece, size_t len, void *opaque)
{
	struct sink *sink = opaque;

	if (sink->to->len - sink->start + len > MAX_READABLE)
		longjmp(sink->overflow, 1);
	text_add(sink->to, piece, len);
}

/*
 * GNU Fortran: procedure p of module m is __m_MOD_p. A name of the language has no capitals there, so the
 * mark is one. Where it starts; NULL if it is no such name.
 */
static const char *in_module(const char *linkage)
{
	const char *mark = strncmp(linkage, "__", 2) == 0 ? strstr(linkage + 2, MODULE_MARK) : NULL;

	for (const char *at = linkage + 2; mark && at < mark; at++)
		if (*at >= 'A' && *at <= 'Z')
			return NULL;
	return mark && mark > linkage + 2 && mark[strlen(MODULE_MARK)] ? mark : NULL;
}

bool demangle_knows(const char *linkage)
{
	return strncmp(linkage, "_Z", 2) == 0 || strncmp(linkage, "_R", 2) == 0 ||
	       strncmp(linkage, "_D", 2) == 0 || strncmp(linkage, "__Z", 3) == 0 || in_module(linkage);
}

/* Rust's older names are C++ names that end in a hash. */
static bool may_be_rust(const char *linkage)
{
	return linkage[1] == 'R' || strstr(linkage, "17h");
}

static bool demangle_run(const char *linkage, struct sink *sink)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(sink->overflow))
		return false;
	if (may_be_rust(linkage) && rust_demangle_callback(linkage, options, demangle_take, sink))
		return true;
	return cplus_demangle_v3_callback(linkage, options, demangle_take, sink);
}

static bool run_d(const char *linkage, struct text *ret)
{
	size_t references = 0;

	for (const char *q = strchr(linkage, 'Q'); q; q = strchr(q + 1, 'Q'))
		references++;
	char *readable = references <= MAX_D_REFERENCES ? dlang_demangle(linkage, 0) : NULL;
	if (readable)
		text_add(ret, readable, strlen(readable));
	free(readable);
	return readable != NULL;
}

bool demangle(const char *linkage, struct text *ret)
{
	struct sink sink = { .to = ret, .start = ret->len };

	if (!demangle_knows(linkage) || strnlen(linkage, MAX_MANGLED) == MAX_MANGLED)
		return false;
	const char *mark = in_module(linkage);
	if (mark) {
		text_add(ret, linkage + 2, (size_t)(mark - linkage) - 2);
		text_printf(ret, "::%s", mark + strlen(MODULE_MARK));
		return true;
	}
	if (linkage[1] == 'D')
		return run_d(linkage, ret);
	text_add(ret, "", 0); /* so that there is a text to cut back */
	if (demangle_run(linkage, &sink))
		return true;
	ret->len = sink.start;
	ret->at[ret->len] = '\0';
	return false;
}
