/* SPDX-License-Identifier: Apache-2.0 */
#include "report/annotate/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define MAX_SIZE (16 << 20)

static char *source_text_read_file(const char *path, const struct source_search *search)
{
	const struct user *user = search->has_user ? &search->user : NULL;
	CLEANUP(close_fd) int fd = real_user_open(user, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_SIZE)
		return NULL;
	char *bytes = alloc_zero((size_t)st.st_size + 1, 1);
	ssize_t n = read(fd, bytes, (size_t)st.st_size);
	if (n != st.st_size) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

/* OLD=NEW applied to a path that starts with OLD; NULL if the rule does not match. */
static char *apply_rule(const char *path, const char *rule)
{
	const char *equals = strchr(rule, '=');
	size_t len = equals ? (size_t)(equals - rule) : 0;

	if (!equals || strncmp(path, rule, len) != 0)
		return NULL;
	return alloc_printf("%s%s", equals + 1, path + len);
}

/* Under a directory: the whole path, then shorter and shorter suffixes. */
static char *find_below(const char *directory, const char *path, const struct source_search *search)
{
	for (const char *tail = path; tail; tail = strchr(tail, '/')) {
		tail += strspn(tail, "/");
		CLEANUP(freep) char *name = alloc_printf("%s/%s", directory, tail);
		char *bytes = *tail ? source_text_read_file(name, search) : NULL;
		if (bytes)
			return bytes;
	}
	return NULL;
}

static char *source_text_find(const char *path, const struct source_search *search)
{
	char *bytes = NULL;

	for (size_t i = 0; !bytes && i < search->n_rules; i++) {
		CLEANUP(freep) char *name = apply_rule(path, search->rules[i]);
		bytes = name ? source_text_read_file(name, search) : NULL;
	}
	if (!bytes)
		bytes = source_text_read_file(path, search);
	for (size_t i = 0; !bytes && i < search->n_directories; i++)
		bytes = find_below(search->directories[i], path, search);
	return bytes;
}

int source_text_read(const char *path, const struct source_search *search, struct source_text *ret)
{
	*ret = (struct source_text){ .bytes = path[0] ? source_text_find(path, search) : NULL };
	if (!ret->bytes)
		return -ENOENT;
	for (char *at = ret->bytes; *at;) {
		char *end = at + strcspn(at, "\n");
		vec_push(&ret->lines, at);
		at = *end ? end + 1 : end;
		if (end > ret->lines.at[ret->lines.n - 1] && end[-1] == '\r')
			end[-1] = '\0';
		*end = '\0';
	}
	return 0;
}

void source_text_done(struct source_text *text)
{
	vec_done(&text->lines);
	free(text->bytes);
	*text = (struct source_text){ 0 };
}
