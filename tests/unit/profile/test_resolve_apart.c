/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_apart.h"
#include "profile/resolve_pieces.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/store.h"
#include "binary/elf/symbols.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

/* This program and the C library, each with a function that was sampled, a file that is gone, and the kernel.
 */
struct apart_case {
	struct profile *profile;
	struct images *images;
	image_id self, libc, gone, kernel;
	uint64_t in_self, in_libc;
	char copy[64]; /* path of a world-writable copy of this program; "" = none */
};

static uint64_t address_in_libc(const struct apart_case *c)
{
	struct symbols *symbols = symbols_read(images_get(c->images, c->libc));
	uint64_t vaddr = 0;

	for (size_t i = 0; i < symbols->n && !vaddr; i++)
		if (strcmp(symbols->at[i].name, "qsort") == 0)
			vaddr = symbols->at[i].vaddr;
	symbols_free(symbols);
	return vaddr;
}

static void apart_end(struct apart_case *c)
{
	profile_free(c->profile);
	images_free(c->images);
	if (c->copy[0])
		unlink(c->copy);
}

static void apart_copy_self(char path[64])
{
	CLEANUP(fclosep) FILE *from = fopen("/proc/self/exe", "re");
	char buffer[65536];
	size_t n;

	strcpy(path, "/tmp/cpprof-apart-XXXXXX");
	int fd = mkstemp(path);
	CHECK(from && fd >= 0 && fchmod(fd, 0666) == 0);
	while ((n = fread(buffer, 1, sizeof(buffer), from)) > 0)
		CHECK_EQ(write(fd, buffer, n), n);
	close(fd);
}

/* False if it cannot be made. is_foreign: this program is a world-writable copy. */
static bool apart_begin_as(struct apart_case *c, bool is_foreign)
{
	struct diag diag = { 0 };
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[256] = "";

	*c = (struct apart_case){ .profile = profile_new(), .images = images_new() };
	if (is_foreign)
		apart_copy_self(c->copy);
	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6"))
			sscanf(strchr(line, '/'), "%255s", path);
	if (maps)
		fclose(maps);
	CHECK_EQ(images_open(c->images, is_foreign ? c->copy : "/proc/self/exe", &c->self, &diag), 0);
	if (!path[0] || images_open(c->images, path, &c->libc, &diag) < 0) {
		apart_end(c);
		return false;
	}
	c->gone = images_add_pseudo(c->images, IMAGE_UNKNOWN, "/opt/gone.so", NULL);
	c->kernel = images_add_pseudo(c->images, IMAGE_KERNEL, "[kernel]", NULL);
	for (size_t i = 0; i < images_count(c->images); i++) {
		const struct image *image = images_get(c->images, (image_id)i);
		vec_push(&c->profile->images,
			 ((struct profile_image){ .path = intern_add(&c->profile->strings, image->path),
						  .kind = image->kind }));
	}
	c->in_self = images_get(c->images, c->self)->entry;
	c->in_libc = address_in_libc(c);
	struct cct *cct = &c->profile->cct;
	uint32_t start = cct_child(cct, CCT_ROOT, c->self, c->in_self + 4, CCT_IS_RETURN);
	cct_add_value(cct, cct_child(cct, start, c->libc, c->in_libc, 0), 0, 0, 1);
	cct_add_value(cct, cct_child(cct, start, c->gone, 0x1234, 0), 0, 0, 2);
	cct_add_value(cct, cct_child(cct, start, c->kernel, 0x1000, CCT_IS_KERNEL), 0, 0, 4);
	if (!c->in_libc)
		apart_end(c);
	return c->in_libc != 0;
}

static bool apart_begin(struct apart_case *c)
{
	return apart_begin_as(c, false);
}

static const char *apart_name(const struct apart_case *c, image_id image, uint64_t vaddr)
{
	const struct function_map *map = profile_function(c->profile, image, vaddr);

	return map ? intern_text(&c->profile->strings, map->name) : "";
}

TEST(a_fenced_child_finds_the_same_names)
{
	struct apart_case apart, here;
	struct resolve_options options = { 0 };
	struct diag diag = { 0 };

	if (!apart_begin(&apart) || !apart_begin(&here))
		SKIP("no C library of its own to look at");
	CHECK_EQ(resolve_apart(apart.profile, apart.images, &options, &diag), 0);
	CHECK_EQ(resolve(here.profile, here.images, &options, &diag), 0);
	CHECK_STR(apart_name(&apart, apart.self, apart.in_self), "_start");
	CHECK_STR(apart_name(&apart, apart.gone, 0x1234), "gone.so+0x1234");
	CHECK_STR(apart_name(&apart, apart.kernel, 0x1000), "[kernel]");
	CHECK_EQ(apart.profile->functions.n, here.profile->functions.n);
	for (size_t i = 0; i < here.profile->functions.n; i++) {
		const struct function_map *f = &apart.profile->functions.at[i],
					  *g = &here.profile->functions.at[i];
		CHECK_EQ(f->vaddr, g->vaddr);
		CHECK_EQ(f->lines.n, g->lines.n);
		CHECK_EQ(f->inlines.n, g->inlines.n);
		CHECK_STR(intern_text(&apart.profile->strings, f->name),
			  intern_text(&here.profile->strings, g->name));
	}
	CHECK_EQ(apart.profile->structures.n, here.profile->structures.n);
	CHECK_EQ(apart.profile->codes.n, here.profile->codes.n);
	CHECK_EQ(apart.profile->quality.unsymbolized, here.profile->quality.unsymbolized);
	CHECK_EQ(apart.profile->cct.values.n, here.profile->cct.values.n); /* the tree is unchanged */
	CHECK_EQ(apart.profile->notes.n, 0);
	apart_end(&apart);
	apart_end(&here);
}

/* ---- in pieces ---------------------------------------------------------------------------------- */

struct pieces_seen {
	const struct apart_case *whole; /* with all names */
	size_t n_pieces, n_functions, n_structures, n_codes;
	image_id known; /* the image that is already completely resolved; IMAGE_NONE: none */
};

static void pieces_take(void *context, struct profile *names)
{
	struct pieces_seen *seen = context;
	const struct profile *whole = seen->whole->profile;

	seen->n_pieces++;
	seen->n_functions += names->functions.n;
	seen->n_structures += names->structures.n;
	seen->n_codes += names->codes.n;
	for (size_t i = 0; i < names->functions.n; i++) {
		const struct function_map *f = &names->functions.at[i],
					  *g = profile_function(whole, f->image, f->vaddr);
		CHECK(g && f->vaddr == g->vaddr && f->size == g->size && f->lines.n == g->lines.n);
		CHECK_STR(intern_text(&names->strings, f->name), intern_text(&whole->strings, g->name));
		CHECK_STR(intern_text(&names->strings, names->images.at[f->image].path),
			  intern_text(&whole->strings, whole->images.at[f->image].path));
	}
}

static size_t pieces_lacking(void *context, const struct profile *profile, image_id image, uint64_t *vaddrs,
			     size_t n)
{
	const struct pieces_seen *seen = context;

	(void)profile;
	for (size_t i = 1; i < n; i++)
		CHECK(vaddrs[i - 1] < vaddrs[i]);
	return image == seen->known ? 0 : n;
}

TEST(resolving_in_pieces_gives_the_same_names)
{
	struct apart_case whole, c;
	struct resolve_options options = { .is_frugal = true };
	struct diag diag = { 0 };

	if (!apart_begin(&whole) || !apart_begin(&c))
		SKIP("no C library of its own to look at");
	CHECK_EQ(resolve_apart(whole.profile, whole.images, &options, &diag), 0);
	struct pieces_seen seen = { .whole = &whole, .known = IMAGE_NONE };
	struct resolve_pieces pieces = { &seen, pieces_lacking, pieces_take };
	resolve_in_pieces(c.profile, c.images, &options, &pieces);
	CHECK(seen.n_pieces > 0);
	CHECK_EQ(seen.n_functions, whole.profile->functions.n);
	CHECK_EQ(seen.n_structures, whole.profile->structures.n);
	CHECK_EQ(seen.n_codes, whole.profile->codes.n);
	CHECK_EQ(c.profile->functions.n, 0);
	CHECK_EQ(c.profile->cct.nodes.n, CCT_INCOMPLETE + 1);

	apart_end(&c);
	CHECK(apart_begin(&c));
	struct pieces_seen less = { .whole = &whole, .known = c.libc };
	pieces.context = &less;
	resolve_in_pieces(c.profile, c.images, &options, &pieces);
	CHECK(less.n_functions < seen.n_functions);
	apart_end(&whole);
	apart_end(&c);
}

/* Called only in the child, which crashes on one image. */
static struct functions *functions_or_death(void *context, image_id image)
{
	if (image == *(const image_id *)context)
		abort();
	return NULL;
}

TEST(a_child_that_dies_costs_the_names_of_one_image)
{
	struct apart_case c;
	struct diag diag = { 0 };

	if (!apart_begin(&c))
		SKIP("no C library of its own to look at");
	struct resolve_options options = { .functions = functions_or_death, .context = &c.libc };
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	CHECK_STR(apart_name(&c, c.self, c.in_self), "_start");
	CHECK(strncmp(apart_name(&c, c.libc, c.in_libc), "libc.so.6+0x", 12) == 0);
	CHECK_EQ(c.profile->notes.n, 1);
	const char *note = intern_text(&c.profile->strings, c.profile->notes.at[0]);
	CHECK(strstr(note, "libc.so.6: ") && strstr(note, "its debug information crashed"));
	CHECK_EQ(c.profile->quality.unsymbolized, 7);
	apart_end(&c);
}

/* ---- a compromised child ------------------------------------------------------------------------ */

static const struct store_key key_of_libc = { "maps", 1, { 17, 18 } };

struct lie {
	const struct apart_case *c;
	enum { LIE_IN_STORE, LIE_IN_RESULT, TALK_FOREVER, ASK_FOREVER, WAIT_AFTER_RESULT, NOTE } kind;
};

/* The child's end of the channel: a fenced process has no other socket. */
static int find_channel(void)
{
	struct stat st;

	for (int fd = 3; fd < 256; fd++)
		if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
			return fd;
	return -1;
}

/* A message that the parent once accepted: a profile in which all functions have the same name. */
static void lie_in_result(const struct apart_case *c, struct channel *channel)
{
	struct profile *profile = c->profile;
	struct writer names = { 0 };
	uint32_t name = intern_add(&profile->strings, "a_lie");
	const struct function_map lies[] = {
		{ .image = c->self,
		  .vaddr = c->in_self,
		  .size = 16,
		  .name = name,
		  .parent_vaddr = c->in_self },
		{ .image = c->libc,
		  .vaddr = c->in_libc,
		  .size = 16,
		  .name = name,
		  .parent_vaddr = c->in_libc },
	};

	profile->functions.n = profile->structures.n = 0;
	vec_push(&profile->functions, lies[0]);
	vec_push(&profile->functions, lies[1]);
	for (size_t i = 0; i < profile->images.n; i++)
		profile->images.at[i].debug = name;
	profile->cct.nodes.n = CCT_INCOMPLETE + 1;
	profile->cct.values.n = 0;
	profile_pack_fast(profile, &names);
	channel_tell(channel, CHANNEL_RESULT, writer_bytes(&names));
}

/* Messages that mean nothing, faster than the parent checks for a silent child; or requests whose answers are
 * not read. It ends when the other end is closed. */
static void keep_busy(struct channel *channel, bool asks)
{
	static const uint8_t request[] = "\0\0\0\0/etc/passwd";
	const struct bytes progress = { (const uint8_t *)"p\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17 };

	while (channel_tell(channel, asks ? CHANNEL_OPEN : CHANNEL_TELL,
			    asks ? (struct bytes){ request, sizeof(request) } : progress))
		if (!asks)
			nanosleep(&(struct timespec){ .tv_nsec = 1000 * 1000 }, NULL);
}

static const uint8_t lines[] = "n\1one\ncpprof: two\rthree";

/* Called only in the child, while it reads the world-writable file. */
static struct functions *functions_or_lie(void *context, image_id image)
{
	const struct lie *lie = context;
	struct channel channel;

	if (image != lie->c->self)
		return NULL;
	channel_init(&channel, find_channel());
	if (lie->kind == TALK_FOREVER || lie->kind == ASK_FOREVER)
		keep_busy(&channel, lie->kind == ASK_FOREVER);
	else if (lie->kind == NOTE)
		channel_tell(&channel, CHANNEL_TELL, (struct bytes){ lines, sizeof(lines) });
	else if (lie->kind == LIE_IN_RESULT || lie->kind == WAIT_AFTER_RESULT)
		lie_in_result(lie->c, &channel);
	else
		store_put(store_open_channel(&channel, 0), &key_of_libc,
			  (struct bytes){ (const uint8_t *)"lie", 3 });
	while (lie->kind == WAIT_AFTER_RESULT)
		poll(NULL, 0, -1);
	_exit(0);
}

TEST(a_compromised_child_cannot_replace_stored_entries_of_other_files)
{
	struct apart_case c;
	struct diag diag = { 0 };
	char path[] = "/tmp/cpprof-store-XXXXXX", command[64];

	if (!apart_begin_as(&c, true))
		SKIP("no C library of its own to look at");
	CHECK(mkdtemp(path));
	struct store *store = store_open(path, 0);
	struct lie lie = { &c, LIE_IN_STORE };
	struct resolve_options options = { .functions = functions_or_lie, .context = &lie };
	options.symbolize.store = store;
	store_put(store, &key_of_libc, (struct bytes){ (const uint8_t *)"true", 4 });
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	struct bytes entry = store_get(store, &key_of_libc);
	CHECK(entry.len == 4 && memcmp(entry.at, "true", 4) == 0);
	store_release(entry);
	CHECK_STR(apart_name(&c, c.libc, c.in_libc), "qsort");
	CHECK_EQ(c.profile->notes.n, 1); /* the child that read the copy ended early */
	store_close(store);
	snprintf(command, sizeof(command), "rm -r %s", path);
	CHECK_EQ(system(command), 0);
	apart_end(&c);
}

TEST(a_compromised_child_can_only_falsify_its_own_file)
{
	struct apart_case c;
	struct diag diag = { 0 };

	if (!apart_begin_as(&c, true))
		SKIP("no C library of its own to look at");
	struct lie lie = { &c, LIE_IN_RESULT };
	struct resolve_options options = { .functions = functions_or_lie, .context = &lie };
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	CHECK_STR(apart_name(&c, c.self, c.in_self), "a_lie");
	CHECK_STR(apart_name(&c, c.libc, c.in_libc), "qsort");
	CHECK_STR(apart_name(&c, c.kernel, 0x1000), "[kernel]");
	CHECK(strcmp(intern_text(&c.profile->strings, c.profile->images.at[c.libc].debug), "a_lie") != 0);
	apart_end(&c);
}

static void apart_try_to_hang(int kind, uint64_t max_ns, const char *name)
{
	struct apart_case c;
	struct diag diag = { 0 };

	if (!apart_begin_as(&c, true))
		SKIP("no C library of its own to look at");
	struct lie lie = { &c, kind };
	struct resolve_options options = { .functions = functions_or_lie, .context = &lie, .max_ns = max_ns };
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	CHECK_STR(apart_name(&c, c.self, c.in_self), name);
	apart_end(&c);
}

TEST(a_compromised_child_cannot_keep_its_parent_waiting)
{
	apart_try_to_hang(TALK_FOREVER, 500 * CLOCK_NS_PER_MS, "");
	apart_try_to_hang(ASK_FOREVER, 500 * CLOCK_NS_PER_MS, "");
	apart_try_to_hang(WAIT_AFTER_RESULT, 0, "a_lie");
}

static void hear_note(void *context, bool is_warning, const char *text)
{
	if (is_warning && strncmp(text, "one", 3) == 0)
		snprintf(context, 64, "%s", text);
}

TEST(a_note_of_a_compromised_child_is_one_line)
{
	struct apart_case c;
	struct diag diag = { 0 };
	char heard[64] = "";

	if (!apart_begin_as(&c, true))
		SKIP("no C library of its own to look at");
	struct lie lie = { &c, NOTE };
	struct resolve_options options = { .functions = functions_or_lie, .context = &lie };
	options.symbolize.search.note = hear_note;
	options.symbolize.search.context = heard;
	CHECK_EQ(resolve_apart(c.profile, c.images, &options, &diag), 0);
	CHECK_STR(heard, "one cpprof: two three");
	apart_end(&c);
}
