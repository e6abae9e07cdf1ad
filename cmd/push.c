/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/push.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/own_folder.h"
#include "cmd/http_post.h"
#include "cmd/push_request.h"
#include "profile/keep_process.h"
#include "recording/export_file.h"

#define SEND_NS (60 * CLOCK_NS_PER_S) /* time limit of one child, however much there is to send */
#define AGAIN_FIRST_NS (5 * CLOCK_NS_PER_S)
#define AGAIN_LAST_NS (300 * CLOCK_NS_PER_S)
#define FILE_MAX (64u << 20) /* larger files are not ours */
#define LOOK_NS 20000000

/* Data that children share with the daemon besides files. */
struct push_shared {
	_Atomic uint64_t n_unmade;
};

struct push {
	struct push_options options;
	struct push_shared *shared;
	struct child sender;
	bool is_sending, is_failing;
	uint64_t again_ns, wait_ns; /* time of the next attempt; the last waiting time */
	struct push_counts counts;
	VEC(char *) files; /* the queue, oldest first */
};

/* ---- the queue ---------------------------------------------------------------------------------- */

static char *push_path(const struct push *push, const char *name)
{
	return alloc_printf("%s/%s", push->options.folder, name);
}

static void push_forget_files(struct push *push)
{
	for (size_t i = 0; i < push->files.n; i++)
		free(push->files.at[i]);
	vec_clear(&push->files);
	push->counts.queued = push->counts.queued_bytes = 0;
}

static void push_remove(struct push *push, const char *name)
{
	CLEANUP(freep) char *path = push_path(push, name);

	unlink(path);
}

static int push_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool push_is_wanted(const struct push *push, const struct push_item *item)
{
	return item->is_otlp ? push->options.otlp != NULL : push->options.pprof != NULL;
}

/* Files for a server that is no longer configured are removed. */
static void push_list(struct push *push)
{
	DIR *dir = opendir(push->options.folder);
	struct dirent *entry;
	struct push_item item;

	push_forget_files(push);
	while (dir && (entry = readdir(dir))) {
		if (!push_item_parse(entry->d_name, &item))
			continue;
		if (push_is_wanted(push, &item)) {
			vec_push(&push->files, alloc_text(entry->d_name));
		} else {
			push_remove(push, entry->d_name);
			push->counts.dropped++;
		}
	}
	if (dir)
		closedir(dir);
	if (push->files.n)
		qsort(push->files.at, push->files.n, sizeof(*push->files.at), push_compare);
}

static void push_keep_bound(struct push *push)
{
	VEC(uint64_t) sizes = { 0 };
	size_t n_gone = 0;

	for (size_t i = 0; i < push->files.n; i++) {
		CLEANUP(freep) char *path = push_path(push, push->files.at[i]);
		struct stat st = { 0 };
		vec_push(&sizes, stat(path, &st) == 0 ? (uint64_t)st.st_size : 0);
		push->counts.queued_bytes += sizes.at[i];
	}
	for (; n_gone < push->files.n && push->counts.queued_bytes > push->options.max_bytes; n_gone++) {
		push->counts.queued_bytes -= sizes.at[n_gone];
		push->counts.dropped++;
		push_remove(push, push->files.at[n_gone]);
		free(push->files.at[n_gone]);
	}
	for (size_t i = n_gone; i < push->files.n; i++)
		push->files.at[i - n_gone] = push->files.at[i];
	push->files.n -= n_gone;
	push->counts.queued = push->files.n;
	vec_done(&sizes);
}

/* ---- in the child that sends -------------------------------------------------------------------- */

static bool push_read(const struct push *push, const char *name, struct text *ret)
{
	CLEANUP(freep) char *path = push_path(push, name);
	int fd = own_folder_open_file(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char piece[16384];
	size_t n;

	while (file && ret->len < FILE_MAX && (n = fread(piece, 1, sizeof(piece), file)) > 0)
		text_add(ret, piece, n);
	if (file)
		fclose(file);
	return ret->len > 0 && ret->len < FILE_MAX;
}

/* Is the request refused permanently? */
static bool push_is_refusal(long status)
{
	return status >= 400 && status < 500 && status != 408 && status != 429;
}

/* Reports one line: the result, 's'ent, 'r'efused or 'f'ailed, the file, and the reason. False: stop trying.
 */
static bool push_send(const struct push *push, const char *name, int result)
{
	const char *url, *headers[PUSH_HEADERS_MAX + 2] = { NULL };
	struct push_request request;
	struct text profile = { 0 };
	struct push_item item;
	struct http_answer answer = { 0 };

	if (!push_item_parse(name, &item) || !push_read(push, name, &profile)) {
		text_done(&profile);
		dprintf(result, "r %s its file cannot be read\n", name);
		return true;
	}
	url = item.is_otlp ? push->options.otlp : push->options.pprof;
	push_request_make(url, &item, push->options.host, &profile, &request);
	headers[0] = request.content_type;
	for (size_t i = 0; i < push->options.n_headers && i < PUSH_HEADERS_MAX; i++)
		headers[i + 1] = push->options.headers[i];
	struct bytes body = { (const uint8_t *)request.body.at, request.body.len };
	bool is_answered = http_post(request.url.at, headers, body, &answer) == 0;
	bool is_sent = is_answered && answer.status >= 200 && answer.status < 300;
	bool is_refused = is_answered && push_is_refusal(answer.status);
	if (is_answered && !is_sent)
		snprintf(answer.why, sizeof(answer.why), "it answered with status %ld", answer.status);
	dprintf(result, "%c %s %s\n", is_sent ? 's' : is_refused ? 'r' : 'f', name, answer.why);
	push_request_done(&request);
	text_done(&profile);
	return is_sent || is_refused;
}

/* A server that fails is skipped until the next time; the other one is not. */
static int push_run(void *context, int result)
{
	const struct push *push = context;
	bool has_failed[2] = { false, false };
	struct push_item item;

	for (size_t i = 0; i < push->files.n; i++)
		if (push_item_parse(push->files.at[i], &item) && !has_failed[item.is_otlp])
			has_failed[item.is_otlp] = !push_send(push, push->files.at[i], result);
	return has_failed[0] || has_failed[1];
}

/* ---- results of the child ----------------------------------------------------------------------- */

static void push_say(struct push *push, const char *name, const char *what, const char *why)
{
	CLEANUP(text_done) struct text sentence = { 0 };
	struct push_item item = { 0 };

	if (!push->options.say)
		return;
	push_item_parse(name, &item);
	text_printf(&sentence, "profiles cannot be pushed to ");
	push_place(item.is_otlp ? push->options.otlp : push->options.pprof, &sentence);
	text_printf(&sentence, ": %s; %s", why, what);
	push->options.say(sentence.at);
}

static void push_note(struct push *push, char *line, bool *ret_failed)
{
	char *name = strlen(line) > 2 ? line + 2 : NULL;
	char *why = name ? strchr(name, ' ') : NULL;
	struct push_item item;

	if (!why)
		return;
	*why++ = '\0';
	if (!push_item_parse(name, &item))
		return;
	push->counts.sent += line[0] == 's';
	push->counts.refused += line[0] == 'r';
	push->counts.failed += line[0] == 'f';
	if (line[0] != 'f')
		push_remove(push, name);
	if (line[0] == 'r' && push->counts.refused == 1)
		push_say(push, name, "such requests are discarded, and counted", why);
	if (line[0] == 'f' && !push->is_failing && !*ret_failed)
		push_say(push, name, "they are queued, and sent when the server is reachable again", why);
	*ret_failed |= line[0] == 'f';
}

static void push_take_results(struct push *push)
{
	struct bytes lines = child_result(&push->sender);
	CLEANUP(freep) char *text = alloc_text_n((const char *)lines.at, lines.len);
	bool has_failed = push->sender.status < 0;

	push->is_sending = false;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		push_note(push, line, &has_failed);
	push->is_failing = has_failed;
	push->wait_ns = !has_failed ? 0 : push->wait_ns ? push->wait_ns * 2 : AGAIN_FIRST_NS;
	if (push->wait_ns > AGAIN_LAST_NS)
		push->wait_ns = AGAIN_LAST_NS;
	push->again_ns = clock_now_ns() + push->wait_ns;
}

static void push_start(struct push *push)
{
	struct child_options child = { .run = push_run,
				       .context = push,
				       .is_unprivileged = true,
				       .connects = true,
				       .has_result = true,
				       .max_ns = SEND_NS };

	push->is_sending = child_start(&push->sender, &child) == 0;
}

void push_tick(struct push *push)
{
	if (child_is_busy(&push->sender))
		return;
	if (push->is_sending)
		push_take_results(push);
	push_list(push);
	push_keep_bound(push);
	if (push->files.n && clock_now_ns() >= push->again_ns)
		push_start(push);
}

void push_finish(struct push *push, uint64_t max_ns)
{
	uint64_t end_ns = clock_now_ns() + max_ns;

	push->again_ns = 0; /* try again at once */
	push_tick(push);
	while ((push->is_sending || push->files.n) && clock_now_ns() < end_ns) {
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
		push_tick(push);
		if (push->is_failing && !push->is_sending)
			break;
	}
	child_kill(&push->sender);
	if (push->is_sending)
		push_take_results(push);
}

/* ---- what is sent ------------------------------------------------------------------------------- */

static int push_export(struct push *push, const struct profile *profile, const struct push_item *item)
{
	const struct exporter *exporter = item->is_otlp ? &exporter_otlp : &exporter_pprof;
	CLEANUP(profile_freep) struct profile *copy = profile_copy_named(profile, item->service);
	CLEANUP(text_done) struct text name = { 0 };
	CLEANUP(freep) char *label = alloc_printf("service.name=%s", item->service);
	struct export_choice choice = export_choose(exporter, copy);
	struct diag diag = { 0 };

	push_item_name(item, &name);
	CLEANUP(freep) char *path = push_path(push, name.at);
	choice.options.pyroscope_names = true;
	choice.options.labels = &label;
	choice.options.n_labels = 1;
	return export_file(exporter, copy, &choice, path, NULL, &diag);
}

void push_add(struct push *push, const struct profile *profile)
{
	CLEANUP(freep) bool *is_seen = alloc_zero(profile->strings.strings.n + 1, sizeof(*is_seen));
	struct push_item item = { .start_ms = profile->run.start_unix_ns / CLOCK_NS_PER_MS,
				  .end_ms = (profile->run.start_unix_ns + profile->run.duration_ns) /
					    CLOCK_NS_PER_MS };

	for (size_t i = 0; i < profile->cct.values.n; i++) {
		uint32_t process = profile->threads.at[profile->cct.values.at[i].thread].process;
		uint32_t comm = profile->processes.at[process].comm;
		if (is_seen[comm])
			continue;
		is_seen[comm] = true;
		snprintf(item.service, sizeof(item.service), "%s", intern_text(&profile->strings, comm));
		for (unsigned kind = 0; item.service[0] && kind < 2; kind++) {
			item.is_otlp = kind == 1;
			if (push_is_wanted(push, &item) && push_export(push, profile, &item) < 0)
				push->shared->n_unmade++;
		}
	}
}

struct push_counts push_counts(const struct push *push)
{
	struct push_counts counts = push->counts;

	counts.dropped += push->shared->n_unmade;
	return counts;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static int push_try_library(void *context, int result)
{
	(void)context;
	(void)result;
	return http_is_there() ? 0 : 1;
}

/* Checked in a child process: the daemon itself never needs the library. */
static bool push_has_library(void)
{
	struct child child = { 0 };
	bool is_there = child_start(&child, &(struct child_options){ .run = push_try_library }) == 0 &&
			child_wait(&child) == 0;

	child_done(&child);
	return is_there;
}

int push_open(const struct push_options *options, struct push **ret, struct diag *diag)
{
	if (!push_has_library()) {
		diag_set(diag, -ENOPKG, "cannot push profiles");
		diag_why(diag, "libcurl is not installed, or this build of cpprof cannot load it");
		diag_hint(diag,
			  "install it (Debian: libcurl4), or send the output of cpprof export with curl");
		return -ENOPKG;
	}
	CLEANUP(freep) char *folder = NULL;
	int error = own_folder_make(options->folder, &folder, diag);
	if (error)
		return error;
	struct push *push = alloc_zero(1, sizeof(*push));
	push->options = *options;
	push->shared =
		mmap(NULL, sizeof(*push->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (push->shared == MAP_FAILED) {
		free(push);
		return diag_set(diag, -ENOMEM, "cannot push profiles");
	}
	*ret = push;
	return 0;
}

void push_close(struct push *push)
{
	if (!push)
		return;
	child_done(&push->sender);
	push_forget_files(push);
	vec_done(&push->files);
	munmap(push->shared, sizeof(*push->shared));
	free(push);
}
