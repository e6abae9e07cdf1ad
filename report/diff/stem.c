/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/stem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

#define HASH_LENGTH 16 /* hexadecimal digits of Rust's */

static bool ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len > n && memcmp(name + len - n, end, n) == 0;
}

/* Without ".12" at the end. */
static size_t without_number(const char *name, size_t len)
{
	size_t at = len;

	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	return at < len && at > 1 && name[at - 1] == '.' ? at - 1 : len;
}

/* Without one such suffix; `len` itself if there is none. */
static size_t without_piece(const char *name, size_t len)
{
	static const char *const pieces[] = { ".cold", ".part",     ".isra",       ".constprop",
					      ".llvm", ".lto_priv", ".localalias", ".warm" };
	size_t shorter = without_number(name, len);

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		if (ends_with(name, shorter, pieces[i]))
			return shorter - strlen(pieces[i]);
	return len;
}

static bool is_rust_hash(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n == HASH_LENGTH && !text[n];
}

size_t stem_function(const char *name)
{
	const char *clone = strstr(name, " [clone .");
	size_t len = clone && clone > name ? (size_t)(clone - name) : strlen(name), before;

	do {
		before = len;
		len = without_piece(name, len);
	} while (len < before);
	if (len > HASH_LENGTH + 3 && !name[len] && memcmp(name + len - HASH_LENGTH - 3, "::h", 3) == 0 &&
	    is_rust_hash(name + len - HASH_LENGTH))
		len -= HASH_LENGTH + 3;
	return len;
}

size_t stem_arguments(const char *name)
{
	size_t len = stem_function(name), at = len, depth = 0;

	/* Backwards from the last bracket to its counterpart: "operator()(int)" has two pairs. */
	while (at > 0 && name[at - 1] != ')')
		at--;
	if (at == 0)
		return len;
	while (at-- > 0) {
		depth += name[at] == ')';
		depth -= name[at] == '(';
		if (depth == 0)
			break;
	}
	return depth == 0 && at > 0 ? at : len;
}

size_t stem_module(const char *file)
{
	const char *so = strstr(file, ".so");
	bool is_library = so && so > file && (so[3] == '.' || !so[3]);
	size_t len = is_library ? (size_t)(so - file) : strlen(file), at = len;

	while (at > 0 && (isdigit((unsigned char)file[at - 1]) || file[at - 1] == '.'))
		at--;
	if (at == len || at == 0 || !isdigit((unsigned char)file[len - 1]))
		return len;
	while (at > 0 && (file[at - 1] == '-' || file[at - 1] == '_' || file[at - 1] == '.'))
		at--;
	return at > 0 ? at : len;
}
