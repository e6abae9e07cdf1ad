/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With demangle_packs the only file that uses libiberty.
 *
 * A mangled name refers back to its own parts, so a short hostile one can expand to any length. The
 * demanglers cannot be told to stop; they pass their text to us piece by piece, and we jump out of the
 * callback when it becomes too long. At that time they hold memory only on the stack, not on the heap. D's
 * demangler allocates, so the length of its result is estimated before.
 */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "symbolize/demangle_packs.h"

#define MAX_MANGLED (64 * 1024)
/* For C++. libiberty's own limit is 1 KB, which expression templates exceed; it is for its stack, of which it
 * takes up to 256 bytes for each character. */
#define MAX_CPLUS (8 * 1024)
#define MAX_READABLE (256 * 1024) /* the longest names in template-heavy programs have about 100 KB */

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
 * GNU Fortran: procedure p of module m is __m_MOD_p. Names in the language have no capitals there, so the
 * marker is unambiguous. Returns where it starts; NULL if it is not such a name.
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
	if (strlen(linkage) > MAX_CPLUS || !demangle_packs_are_found(linkage))
		return false;
	return cplus_demangle_v3_callback(linkage, options | DMGL_NO_RECURSE_LIMIT, demangle_take, sink);
}

/* Where the reference at `at` leads to; NULL if it is not a reference. Digits are base 26; a lower-case
 * letter is the last one. */
static const char *d_target(const char *start, const char *at)
{
	size_t back = 0;

	const char *digit = at + 1;

	for (; *digit >= 'A' && *digit <= 'Z' && back < MAX_MANGLED; digit++)
		back = back * 26 + (size_t)(*digit - 'A');
	if (*digit < 'a' || *digit > 'z')
		return NULL;
	back = back * 26 + (size_t)(*digit - 'a');
	return back && back <= (size_t)(at - start) ? at - back : NULL;
}

/* Skips consecutive identifiers, each a length and as many characters, or a reference to one. */
static const char *d_skip_names(const char *start, const char *at, const char *end)
{
	while (at < end) {
		char *name;
		const char *target = *at == 'Q' ? d_target(start, at) : at;
		if (!target || *target < '0' || *target > '9')
			break;
		if (*at == 'Q') {
			at += 1 + strcspn(at, "abcdefghijklmnopqrstuvwxyz");
			continue;
		}
		unsigned long len = strtoul(at, &name, 10);
		if (len > (size_t)(end - name))
			return end;
		at = name + len;
	}
	return at;
}

/* Skips what is at `at`, at most up to `end`: an identifier, a basic type, a named type, or one of these
 * after *, [] and const. Anything else may continue up to the end. */
static const char *d_skip(const char *start, const char *at, const char *end)
{
	while (at < end && strchr("APOxy", *at))
		at++;
	if (at < end && *at >= 'a' && *at <= 'w')
		return at + 1;
	if (at < end && strchr("CSE", *at)) {
		const char *behind = d_skip_names(start, at + 1, end);
		return behind < end && strchr("_MFUVWRY", *behind) ? end : behind;
	}
	return at < end && *at >= '0' && *at <= '9' ? d_skip_names(start, at, end) : end;
}

/*
 * Whether a D name has a reasonable length. References repeat what they refer to, including the references in
 * it, so that a few of them can double a text again and again; and D's demangler keeps all of it in memory.
 * sum[i] is a lower bound of the length to which the first i characters expand.
 */
static bool d_is_readable(const char *linkage)
{
	size_t len = strlen(linkage);
	CLEANUP(freep) size_t *sum = alloc_zero(len + 1, sizeof(*sum));

	for (size_t i = 0; i < len; i++) {
		const char *at = linkage + i, *target = *at == 'Q' ? d_target(linkage, at) : NULL;
		size_t more = 1;
		if (target)
			more += sum[d_skip(linkage, target, at) - linkage] - sum[target - linkage];
		sum[i + 1] = sum[i] + more;
		if (sum[i + 1] > MAX_READABLE)
			return false;
	}
	return true;
}

static bool run_d(const char *linkage, struct text *ret)
{
	char *readable = d_is_readable(linkage) ? dlang_demangle(linkage, 0) : NULL;

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
	text_add(ret, "", 0); /* so that there is a text to truncate */
	if (demangle_run(linkage, &sink))
		return true;
	ret->len = sink.start;
	ret->at[ret->len] = '\0';
	return false;
}
