/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_apart.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file_open.h"
#include "base/real_user.h"
#include "base/vec.h"
#include "profile/known_files.h"
#include "profile/merge_private.h"
#include "profile/resolve_take.h"
#include "symbolize/files/debuginfod.h"
#include "symbolize/witness/witness.h"

#define MAX_S 3600
#define LOOK_MS 1000 /* how often the time limit is checked */
#define STALL_S 60   /* a message that takes longer is given up */
#define STATUS_MS 100
#define LARGE_FILE (4u << 20)

/* Information on the way: the first byte of a CHANNEL_TELL. */
enum apart_word { APART_PROGRESS = 'p', APART_NOTE = 'n' };

struct apart {
	struct profile *profile;
	struct images *images;
	const struct resolve_options *options; /* the caller's, in the parent */
	struct resolve_options asked;
	int ends[2];       /* ours, the child's */
	uint64_t realm;    /* of the store, for this child: its results may be false; 0 = ours */
	uint64_t put_left; /* bytes that it may still put there */
	bool *is_used;     /* by image, whether there is anything to ask about it */
	bool *foreign;     /* by image, whether others than us made its file, or its code */
	uint64_t max_ns;   /* for the next child */
	struct patience *patience;
	struct known_files known;
	bool has_result, is_stuck; /* it does not read what it asked for */
};

/* ---- in the child ------------------------------------------------------------------------------- */

static void apart_tell_progress(void *context, size_t done, size_t total)
{
	struct writer message = { 0 };

	write_u8(&message, APART_PROGRESS);
	write_u64(&message, done);
	write_u64(&message, total);
	channel_tell(context, CHANNEL_TELL, writer_bytes(&message));
	writer_done(&message);
}

static void apart_tell_note(void *context, bool is_warning, const char *text)
{
	struct writer message = { 0 };

	write_u8(&message, APART_NOTE);
	write_u8(&message, is_warning);
	write_bytes(&message, (struct bytes){ (const uint8_t *)text, strlen(text) + 1 });
	channel_tell(context, CHANNEL_TELL, writer_bytes(&message));
	writer_done(&message);
}

static int apart_ask_fetch(void *context, const struct build_id *build_id, const char *image, char **ret)
{
	struct writer request = { 0 }, path = { 0 };

	write_u8(&request, build_id->len);
	write_bytes(&request, (struct bytes){ build_id->bytes, build_id->len });
	write_bytes(&request, (struct bytes){ (const uint8_t *)image, strlen(image) + 1 });
	int error = channel_ask(context, CHANNEL_ASK, writer_bytes(&request), &path);
	bool is_there = error >= -1 && path.len > 0;
	if (is_there)
		*ret = alloc_text_n((const char *)path.at, path.len);
	writer_done(&request);
	writer_done(&path);
	return is_there ? 0 : error < -1 ? error : -ENOENT;
}

static int apart_run(void *context, int unused)
{
	struct apart *apart = context;
	struct channel channel;
	struct resolve_options options = apart->asked;
	struct symbolizer_options *symbolize = &options.symbolize;
	struct writer names = { 0 };
	struct diag diag = { 0 };

	(void)unused;
	channel_init(&channel, apart->ends[1]);
	file_open_through(&channel);
	if (symbolize->store)
		symbolize->store = store_open_channel(&channel, apart->realm);
	symbolize->context = symbolize->search.context = symbolize->search.fetch_context = &channel;
	symbolize->progress = symbolize->progress ? apart_tell_progress : NULL;
	symbolize->search.note = symbolize->search.note ? apart_tell_note : NULL;
	symbolize->search.fetching = NULL;
	symbolize->search.fetch = apart_ask_fetch;
	if (resolve(apart->profile, apart->images, &options, &diag) < 0)
		return 1;
	resolve_take_prepare(apart->profile, apart->images, &apart->asked);
	profile_pack_fast(apart->profile, &names);
	return channel_tell(&channel, CHANNEL_RESULT, writer_bytes(&names)) ? 0 : 1;
}

static void apart_prepare(void *context)
{
	(void)context;
	witness_load(); /* behind the fence no library can be loaded */
}

/* ---- in the parent: messages ------------------------------------------------------------------------ */

/* One line: it must not look like several messages of ours. */
static void apart_note(const struct debug_search *search, bool is_warning, const char *text)
{
	CLEANUP(freep) char *line = alloc_text(text);

	for (char *at = line; *at; at++)
		if (*at == '\n' || *at == '\r')
			*at = ' ';
	search->note(search->context, is_warning, line);
}

static void apart_hear(const struct apart *apart, struct bytes message)
{
	const struct symbolizer_options *symbolize = &apart->options->symbolize;
	struct reader r = reader_of(message);
	uint8_t word = read_u8(&r);

	if (word == APART_PROGRESS) {
		uint64_t done = read_u64(&r), total = read_u64(&r);
		if (!r.failed && symbolize->progress)
			symbolize->progress(symbolize->context, (size_t)done, (size_t)total);
	} else if (word == APART_NOTE) {
		bool is_warning = read_u8(&r) != 0;
		const char *text = read_cstr(&r);
		if (!r.failed && symbolize->search.note)
			apart_note(&symbolize->search, is_warning, text);
	}
}

struct apart_fetch {
	const struct debug_search *search;
	const char *image;
};

static void apart_show_fetch(void *context, uint64_t done, uint64_t total)
{
	const struct apart_fetch *fetch = context;

	fetch->search->fetching(fetch->search->context, fetch->image, done, total);
}

/* A message that is to be complete now. */
static struct channel_end apart_end(const struct apart *apart)
{
	uint64_t limit = STALL_S * CLOCK_NS_PER_S;

	return (struct channel_end){ apart->ends[0],
				     clock_now_ns() + (limit < apart->max_ns ? limit : apart->max_ns) };
}

static void apart_answer(struct apart *apart, int error, int fd, struct bytes bytes)
{
	const struct channel_end end = apart_end(apart);

	apart->is_stuck |= !channel_answer(&end, error < 0 ? error : 0, fd, bytes);
}

static void apart_fetch(struct apart *apart, struct bytes request)
{
	const struct debug_search *search = &apart->options->symbolize.search;
	struct reader r = reader_of(request);
	struct build_id build_id = { .len = read_u8(&r) };
	CLEANUP(freep) char *path = NULL;

	if (build_id.len > BUILD_ID_MAX)
		build_id.len = 0;
	struct bytes id = read_bytes(&r, build_id.len);
	struct apart_fetch fetch = { search, read_cstr(&r) };
	if (!r.failed)
		memcpy(build_id.bytes, id.at, id.len);
	int error = r.failed || !search->asks_debuginfod
			    ? -EINVAL
			    : debuginfod_find(&build_id, search->fetching ? apart_show_fetch : NULL, &fetch,
					      &path);
	apart_answer(apart, error, -1,
		     error < 0 ? (struct bytes){ 0 } : (struct bytes){ (const uint8_t *)path, strlen(path) });
	if (error >= 0)
		vec_push(&apart->known.fetched, TAKE(path));
}

/* From then on its results are only as trustworthy as whoever can write the file. */
static void apart_note_foreign(struct apart *apart, int fd)
{
	struct stat st;
	uint64_t foreign = fd >= 0 && fstat(fd, &st) == 0 ? image_file_foreign(&st) : 0;

	if (foreign && !apart->realm)
		apart->realm = foreign;
}

/* May whoever can write this file decide what is shown for the image? */
static bool apart_may_read(const struct apart *apart, int fd)
{
	uint32_t wanted = apart->asked.part == RESOLVE_IMAGE
				  ? images_get(apart->images, apart->asked.image)->writer
				  : 0;
	struct stat st;

	if (!apart->options->is_for_all || wanted == IMAGE_WRITERS)
		return true;
	uint32_t writer = fstat(fd, &st) == 0 ? image_file_writer(&st) : IMAGE_WRITERS;
	return writer == 0 || writer == wanted;
}

/* One of our own files led to one that is not: the child gets no more, and images are looked up one by one.
 */
static bool apart_is_lost(const struct apart *apart)
{
	return apart->asked.part == RESOLVE_OURS && apart->realm;
}

static int apart_open(struct apart *apart, struct bytes message, const struct user *user)
{
	const struct file_open_rules rules = { user, known_files_has, &apart->known };
	CLEANUP(close_fd) int fd = file_open_serve(message, &rules);

	if (fd >= 0 && !apart_may_read(apart, fd))
		return -EACCES;
	apart_note_foreign(apart, fd);
	return TAKE_FD(fd);
}

static void apart_serve(struct apart *apart, int kind, struct bytes message, const struct user *user)
{
	struct store *store = apart->asked.symbolize.store;

	if (kind == CHANNEL_OPEN || kind == CHANNEL_GET) {
		CLEANUP(close_fd)
		int fd = kind == CHANNEL_OPEN ? apart_open(apart, message, user)
					      : store_serve_get(store, apart->realm, message);
		if (!apart_is_lost(apart))
			apart_answer(apart, fd, fd, (struct bytes){ 0 });
	} else if (kind == CHANNEL_PUT && message.len <= apart->put_left) {
		apart->put_left -= message.len;
		store_serve_put(store, apart->realm, message);
	} else if (kind == CHANNEL_ASK) {
		apart_fetch(apart, message);
	} else if (kind == CHANNEL_TELL) {
		apart_hear(apart, message);
	} else if (kind == CHANNEL_RESULT && !apart->has_result) {
		apart->has_result = resolve_take(apart->profile, apart->images, &apart->asked, message);
	}
}

/* ---- in the parent: one child ------------------------------------------------------------------- */

/* What it died of is known a moment after it has closed its end. */
static void apart_await_status(struct child *child)
{
	for (int i = 0; i < STATUS_MS && child_is_busy(child); i++)
		nanosleep(&(struct timespec){ .tv_nsec = CLOCK_NS_PER_MS }, NULL);
}

/* Until it has sent its result or closed its end, or its time is over. It is not needed after that. */
static void apart_listen(struct apart *apart, struct child *child, const struct user *user)
{
	struct pollfd ready = { .fd = apart->ends[0], .events = POLLIN };
	struct writer message = { 0 };
	int kind = 1;

	while (kind > 0 && !apart->has_result && !apart->is_stuck && !apart_is_lost(apart) &&
	       clock_now_ns() < child->deadline_ns) {
		int n = poll(&ready, 1, LOOK_MS);
		if (n < 0 && errno != EINTR)
			break;
		if (n <= 0) {
			if (!child_is_busy(child))
				break;
			continue;
		}
		struct channel_end end = apart_end(apart);
		kind = channel_receive(&end, &message);
		if (kind > 0)
			apart_serve(apart, kind, writer_bytes(&message), user);
	}
	writer_done(&message);
	if (!apart->has_result && clock_now_ns() >= child->deadline_ns)
		apart->max_ns /= 2; /* so that many such children together do not take forever */
	if (!apart->has_result && !apart->is_stuck && !apart_is_lost(apart))
		apart_await_status(child);
	child_kill(child);
}

/* Code without a file is not stored: all of it is in one realm. */
static uint64_t apart_realm(const struct apart *apart)
{
	image_id id = apart->asked.image;

	if (apart->asked.part != RESOLVE_IMAGE || !apart->foreign[id])
		return 0;
	uint64_t foreign = images_get(apart->images, id)->foreign;
	return foreign ? foreign : 1;
}

/* 0, or why there are no names: -ECHILD if the child died, -ETIME if its time was over. */
static int apart_ask(struct apart *apart)
{
	uint64_t whose = apart_realm(apart);
	uint64_t bytes = whose ? images_get(apart->images, apart->asked.image)->file.len : 0;
	struct user user;
	const struct user *target =
		real_user_find(&user) || profile_user(apart->profile, &user) ? &user : NULL;
	int error = channel_pair(apart->ends);
	struct child_options options = { .run = apart_run,
					 .prepare = apart_prepare,
					 .context = apart,
					 .is_fenced = true,
					 .channel = apart->ends[1],
					 .forks = true, /* witness/ */
					 .leads_group = true,
					 .user = target,
					 .max_memory = resolve_memory_limit(),
					 .max_cpu_s = patience_cpu_s(apart->patience, whose, bytes),
					 .max_ns = apart->max_ns };
	struct child child = { 0 };

	if (error)
		return error;
	apart->has_result = apart->is_stuck = false;
	apart->realm = whose;
	apart->put_left = STORE_LIMIT / 4;
	error = child_start(&child, &options);
	close(apart->ends[1]);
	if (!error)
		apart_listen(apart, &child, target);
	if (!error && !apart->has_result)
		error = child_wait(&child) == -ETIME ? -ETIME : -ECHILD;
	if (error && whose)
		patience_lose(apart->patience, whose);
	child_done(&child);
	close(apart->ends[0]);
	return error;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static void apart_leave(struct apart *apart, image_id id)
{
	struct diag diag = { 0 };

	apart->asked.part = RESOLVE_BARE;
	apart->asked.image = id;
	resolve(apart->profile, apart->images, &apart->asked, &diag);
}

static void apart_note_image(struct profile *profile, image_id id, int error)
{
	CLEANUP(freep)
	char *note = alloc_printf("%s: it has no symbols: %s",
				  intern_text(&profile->strings, profile->images.at[id].path),
				  error == -ETIME ? "reading its debug information took too long"
						  : "the process that read its debug information crashed");

	resolve_note(profile, note);
}

static bool apart_is_file(const struct apart *apart, image_id id)
{
	return images_get(apart->images, id)->kind != IMAGE_KERNEL;
}

static bool *apart_find_used(const struct apart *apart)
{
	bool *is_used = merge_used_images(apart->profile);

	for (image_id i = 0; apart->options->only && i < apart->profile->images.n; i++)
		is_used[i] &= apart->options->only[i];
	return is_used;
}

static bool *apart_find_foreign(const struct apart *apart)
{
	const struct profile *profile = apart->profile;
	bool *foreign = alloc_zero(profile->images.n, sizeof(*foreign));
	struct user user;
	bool is_our_process = !profile_user(profile, &user) || real_user_is_ours(user.uid);

	for (image_id i = 0; i < profile->images.n; i++) {
		const struct image *image = apart->is_used[i] ? images_get(apart->images, i) : NULL;
		foreign[i] = image && (image->foreign || (image->pid && !is_our_process));
	}
	return foreign;
}

/* Looked up by a separate child. */
static void apart_ask_image(struct apart *apart, image_id id)
{
	apart->asked.part = RESOLVE_IMAGE;
	apart->asked.image = id;
	int error = apart_ask(apart);
	if (error == 0)
		return;
	apart_leave(apart, id);
	apart_note_image(apart->profile, id, error);
}

/* No child can be started at all. */
static void apart_leave_all(struct apart *apart)
{
	for (image_id i = 0; i < apart->profile->images.n; i++)
		if (apart->is_used[i] && apart_is_file(apart, i))
			apart_leave(apart, i);
	resolve_note(apart->profile,
		     "symbols are missing: no process could be started to look them up; try: cpprof resolve");
}

/* By image, whether it gets a separate child. */
static bool *apart_find_alone(const struct apart *apart)
{
	const struct profile *profile = apart->profile;
	bool *alone = alloc_zero(profile->images.n, sizeof(*alone));

	for (image_id i = 0; i < profile->images.n; i++) {
		const struct image *image = apart->is_used[i] ? images_get(apart->images, i) : NULL;
		bool is_large = image && image->file.len >= LARGE_FILE;
		alone[i] = apart->foreign[i] || (apart->options->is_frugal && is_large);
	}
	return alone;
}

/* With nothing to ask no child is needed. */
static int apart_ask_ours(struct apart *apart)
{
	bool is_any = false;

	apart->asked.part = RESOLVE_OURS;
	for (image_id i = 0; i < apart->profile->images.n; i++)
		is_any |= apart->is_used[i] && resolve_is_asked(&apart->asked, apart->images, i);
	return is_any ? apart_ask(apart) : 0;
}

/* Files that only we can write are read by one child; each of the others by a separate one. */
static void apart_ask_files(struct apart *apart)
{
	CLEANUP(freep) bool *alone = apart_find_alone(apart);

	apart->asked.alone = alone;
	int error = apart_ask_ours(apart);
	if (error < 0 && error != -ECHILD && error != -ETIME) {
		apart_leave_all(apart);
		return;
	}
	if (error < 0)
		apart->profile->quality.damaged_units = 0;
	for (image_id i = 0; i < apart->profile->images.n; i++)
		if (apart->is_used[i] && apart_is_file(apart, i) && (error < 0 || alone[i]))
			apart_ask_image(apart, i);
}

int resolve_apart(struct profile *profile, struct images *images, const struct resolve_options *options,
		  struct diag *diag)
{
	struct apart apart = { .profile = profile,
			       .images = images,
			       .options = options,
			       .asked = *options,
			       .known = { .images = images, .search = &options->symbolize.search },
			       .max_ns = options->max_ns ? options->max_ns : MAX_S * CLOCK_NS_PER_S };
	CLEANUP(patience_done) struct patience patience = { 0 };

	apart.patience = options->patience ? options->patience : &patience;
	apart.asked.part = RESOLVE_KERNEL;
	int error = resolve(profile, images, &apart.asked, diag);
	if (error < 0)
		return error;
	apart.is_used = apart_find_used(&apart);
	apart.foreign = apart_find_foreign(&apart);
	apart_ask_files(&apart);
	free(apart.is_used);
	free(apart.foreign);
	known_files_done(&apart.known);
	resolve_finish(profile, images);
	return 0;
}
