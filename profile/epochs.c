/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/epochs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "base/own_folder.h"
#include "base/text.h"
#include "profile/epochs_private.h"

#define VERSION_TEXT "cpprof database 1\n"
#define VERSION_WORDS "cpprof database "
#define OPEN_SUFFIX "-open.epoch"
#define SUFFIX ".epoch"
/* With more processes than this in an epoch, those that started and ended in it are merged by name. */
#define NUMBERED_MAX 128
#define MS 1000000u /* nanoseconds in a millisecond */

/* ---- opening ------------------------------------------------------------------------------------ */

char *epochs_path(const struct epochs *epochs, const char *folder, const char *name)
{
	return alloc_printf("%s/%s%s%s", epochs->directory, folder, name ? "/" : "", name ? name : "");
}

static int epochs_check_version(const struct epochs *epochs, struct diag *diag)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "version", NULL);
	char text[64] = "";
	CLEANUP(close_fd) int fd = own_folder_open_file(path);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (len < 0) {
		int error = -errno;
		diag_set(diag, error, "cannot read '%s'", path);
		diag_why(diag, "%s is not a cpprof database", epochs->directory);
		diag_hint(diag, "cpprof daemon --database DIR creates one");
		return error;
	}
	if (strcmp(text, VERSION_TEXT) == 0)
		return 0;
	diag_set(diag, -EBADMSG, "cannot use the database '%s'", epochs->directory);
	if (strncmp(text, VERSION_WORDS, strlen(VERSION_WORDS)) == 0)
		diag_why(diag, "it was made by a later version of cpprof");
	else
		diag_why(diag, "its file 'version' is not that of a database");
	return -EBADMSG;
}

static int epochs_make_file(const char *path, const char *text)
{
	struct fresh_file file;
	int error = fresh_file_open(&file, path, FRESH_PRIVATE);

	if (error < 0)
		return error;
	size_t len = strlen(text);
	if (write(file.fd, text, len) != (ssize_t)len)
		error = errno ? -errno : -EIO;
	if (!error)
		error = fresh_file_keep(&file);
	fresh_file_done(&file);
	return error;
}

/* Nobody else may be able to change the database, or to lead its path elsewhere: as root we write and delete
 * in it. From then on, directory is its path without links. */
static int epochs_make(struct epochs *epochs, struct diag *diag)
{
	static const char *const folders[] = { "epochs", "images" };
	static const char *const files[] = { "version", "lock", "index", EPOCHS_FUNCTIONS };
	char *directory = NULL;
	int error = own_folder_make(epochs->directory, &directory, diag);

	if (error)
		return error;
	free(epochs->directory);
	epochs->directory = directory;
	for (size_t i = 0; !error && i < ARRAY_LEN(folders); i++)
		error = own_folder_make_in(directory, folders[i], diag);
	for (size_t i = 0; !error && i < ARRAY_LEN(files); i++)
		error = own_folder_check_file(directory, files[i], diag);
	CLEANUP(freep) char *version = epochs_path(epochs, "version", NULL);
	if (!error && access(version, F_OK) < 0 && (error = epochs_make_file(version, VERSION_TEXT)) < 0)
		diag_set(diag, error, "cannot write '%s'", version);
	return error;
}

/* A lock of the process, not of the descriptor, so that child processes do not inherit it. */
static int epochs_lock(struct epochs *epochs, struct diag *diag)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "lock", NULL);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	epochs->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (epochs->lock < 0)
		return diag_set(diag, -errno, "cannot open '%s'", path);
	if (fcntl(epochs->lock, F_SETLK, &lock) == 0)
		return 0;
	diag_set(diag, -EBUSY, "cannot write to the database '%s'", epochs->directory);
	if (fcntl(epochs->lock, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		diag_why(diag, "process %d is writing to it", (int)lock.l_pid);
	else
		diag_why(diag, "another process is writing to it");
	diag_hint(diag, "a database has one daemon: choose another folder with --database");
	return -EBUSY;
}

int epochs_open(const char *directory, bool writes, struct epochs **ret, struct diag *diag)
{
	CLEANUP(epochs_closep) struct epochs *epochs = alloc_zero(1, sizeof(*epochs));
	int error = 0;

	epochs->directory = alloc_text(directory);
	epochs->writes = writes;
	epochs->lock = -1;
	if (writes)
		error = epochs_make(epochs, diag);
	if (!error)
		error = epochs_check_version(epochs, diag);
	if (!error && writes)
		error = epochs_lock(epochs, diag);
	if (error)
		return error;
	epochs_index_read(epochs);
	*ret = TAKE(epochs);
	return 0;
}

const char *epochs_directory(const struct epochs *epochs)
{
	return epochs->directory;
}

void epochs_limit(struct epochs *epochs, size_t epoch_bytes)
{
	epochs->epoch_bytes = epoch_bytes;
}

static void epochs_clear(struct epochs *epochs)
{
	for (size_t i = 0; i < epochs->all.n; i++)
		free(epochs->all.at[i].name);
	vec_clear(&epochs->all);
}

void epochs_close(struct epochs *epochs)
{
	if (!epochs)
		return;
	epochs_clear(epochs);
	epochs_index_clear(epochs);
	vec_done(&epochs->index);
	vec_done(&epochs->all);
	close_fd(&epochs->lock);
	free(epochs->directory);
	free(epochs);
}

/* ---- the list ----------------------------------------------------------------------------------- */

static bool epochs_parse_number(const char **text, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*ret = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* False if this is not the name of an epoch. */
static bool epochs_parse_name(const char *name, struct epoch *ret)
{
	const char *at = name;

	if (!epochs_parse_number(&at, &ret->start_ms))
		return false;
	if (strcmp(at, OPEN_SUFFIX) == 0) {
		ret->is_open = true;
		return true;
	}
	return *at++ == '-' && epochs_parse_number(&at, &ret->end_ms) && strcmp(at, SUFFIX) == 0 &&
	       ret->end_ms >= ret->start_ms;
}

static int epochs_compare(const void *a, const void *b)
{
	const struct epoch *x = a, *y = b;

	if (x->start_ms != y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	return (x->end_ms < y->end_ms) - (x->end_ms > y->end_ms); /* the longer one first */
}

static void epochs_add(struct epochs *epochs, const char *name)
{
	struct epoch epoch = { 0 };
	CLEANUP(freep) char *path = epochs_path(epochs, "epochs", name);
	struct stat st;

	if (!epochs_parse_name(name, &epoch) || lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	uint64_t written_ms = (uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / MS;
	if (epoch.is_open)
		epoch.end_ms = written_ms > epoch.start_ms ? written_ms : epoch.start_ms;
	epoch.bytes = (uint64_t)st.st_size;
	epoch.name = alloc_text(name);
	vec_push(&epochs->all, epoch);
}

/* Epochs that lie within another one have been merged into it. An open one covers only the same epoch,
 * finished: nothing is merged into it, and one that was left open may be as long as the database. */
static void epochs_leave_out_covered(struct epochs *epochs)
{
	uint64_t end_ms = 0;
	size_t n = 0;

	for (size_t i = 0; i < epochs->all.n; i++) {
		struct epoch epoch = epochs->all.at[i];
		const struct epoch *last = n ? &epochs->all.at[n - 1] : NULL;
		bool is_same = last && last->is_open && last->start_ms == epoch.start_ms;
		if (last && (is_same || epoch.end_ms <= end_ms)) {
			free(epoch.name);
			continue;
		}
		if (!epoch.is_open && epoch.end_ms > end_ms)
			end_ms = epoch.end_ms;
		epochs->all.at[n++] = epoch;
	}
	epochs->all.n = n;
}

static uint64_t epochs_hash_name(const char *name)
{
	return hash_bytes((struct bytes){ (const uint8_t *)name, strlen(name) });
}

static void epochs_join_index(struct epochs *epochs)
{
	CLEANUP(map_done) struct map place = { 0 };

	for (uint32_t i = 0; i < epochs->all.n; i++)
		map_put(&place, epochs_hash_name(epochs->all.at[i].name), i);
	for (size_t j = 0; j < epochs->index.n; j++) {
		const struct epoch_process *line = &epochs->index.at[j];
		uint32_t i = line->comm ? MAP_NONE : map_find(&place, epochs_hash_name(line->epoch));
		struct epoch *epoch = i == MAP_NONE ? NULL : &epochs->all.at[i];
		if (!epoch || strcmp(line->epoch, epoch->name) != 0)
			continue;
		epoch->is_indexed = true;
		epoch->samples = line->samples;
		epoch->cpu_ns = line->cpu_ns;
	}
}

const struct epoch *epochs_list_all(struct epochs *epochs, size_t *ret_n)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "epochs", NULL);
	DIR *dir = opendir(path);
	struct dirent *entry;

	epochs_clear(epochs);
	while (dir && (entry = readdir(dir)))
		epochs_add(epochs, entry->d_name);
	if (dir)
		closedir(dir);
	if (epochs->all.n)
		qsort(epochs->all.at, epochs->all.n, sizeof(*epochs->all.at), epochs_compare);
	*ret_n = epochs->all.n;
	return epochs->all.at;
}

const struct epoch *epochs_list(struct epochs *epochs, size_t *ret_n)
{
	epochs_list_all(epochs, ret_n);
	epochs_leave_out_covered(epochs);
	epochs_join_index(epochs);
	*ret_n = epochs->all.n;
	return epochs->all.at;
}

uint64_t epochs_bytes(struct epochs *epochs)
{
	static const char *const folders[] = { "epochs", "images", "outbox" };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		CLEANUP(freep) char *path = epochs_path(epochs, folders[i], NULL);
		DIR *dir = opendir(path);
		struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			CLEANUP(freep) char *file = epochs_path(epochs, folders[i], entry->d_name);
			struct stat st;
			if (entry->d_name[0] != '.' && lstat(file, &st) == 0)
				bytes += (uint64_t)st.st_size;
		}
		if (dir)
			closedir(dir);
	}
	return bytes;
}

/* ---- writing ------------------------------------------------------------------------------------ */

char *epochs_open_path(const struct epochs *epochs, uint64_t start_unix_ns)
{
	CLEANUP(freep) char *name = alloc_printf("%" PRIu64 OPEN_SUFFIX, start_unix_ns / MS);

	return epochs_path(epochs, "epochs", name);
}

int epochs_write(struct epochs *epochs, struct profile **profile, const char *name, size_t max_bytes,
		 struct diag *diag)
{
	int error = epochs_write_file(epochs, profile, name, max_bytes, diag);

	if (error == 0)
		epochs_index_add(epochs, name, *profile);
	return error;
}

static struct build_id epochs_boot(void)
{
	struct build_id boot = { 0 };
	char text[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fgets(text, sizeof(text), file))
		for (const char *at = text;
		     isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1]) && boot.len < 16;
		     at += *at == '-') {
			char digits[] = { at[0], at[1], 0 };
			boot.bytes[boot.len++] = (uint8_t)strtoul(digits, NULL, 16);
			at += 2;
		}
	if (file)
		fclose(file);
	return boot;
}

void epochs_mark_image(struct profile_image *image)
{
	if (image->kind != IMAGE_KERNEL || image->build_id.len)
		return;
	struct build_id boot = epochs_boot();
	if (boot.len == 16)
		image->build_id = boot;
}

void epochs_mark_kernel(struct profile *profile)
{
	for (size_t i = 0; i < profile->images.n; i++)
		epochs_mark_image(&profile->images.at[i]);
}

/* Symbols are stored once per image, except those of JIT-compiled code, which are valid in this epoch only.
 */
static void epochs_strip(struct profile *profile)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->functions.n; i++) {
		struct function_map *map = &profile->functions.at[i];
		if (profile->images.at[map->image].kind == IMAGE_JIT && map->source == MAP_FROM_PERFMAP)
			profile->functions.at[n++] = *map;
		else
			function_map_done(map);
	}
	profile->functions.n = n;
	for (size_t i = 0; i < profile->structures.n; i++)
		structure_done(&profile->structures.at[i]);
	vec_clear(&profile->structures);
	vec_clear(&profile->codes);
	vec_clear(&profile->code_bytes);
	profile->run.is_resolved = 0;
}

char *epochs_name(const struct profile *profile)
{
	return alloc_printf("%" PRIu64 "-%" PRIu64 SUFFIX, profile->run.start_unix_ns / MS,
			    (profile->run.start_unix_ns + profile->run.duration_ns) / MS);
}

int epochs_make_plain(const struct profile *profile, const char *name, struct profile **ret,
		      struct diag *diag)
{
	struct merger *merger =
		merger_new(&(struct merge_options){ .joins = MERGE_BY_NUMBER, .max_numbered = NUMBERED_MAX });
	int error = merger_add(merger, profile, name, diag);

	if (error) {
		merger_free(merger);
		return error;
	}
	*ret = merger_finish(merger);
	(*ret)->run.is_checkpoint = 0;
	epochs_strip(*ret);
	epochs_mark_kernel(*ret);
	return 0;
}

int epochs_put(struct epochs *epochs, const struct profile *profile, struct diag *diag)
{
	CLEANUP(freep) char *open = epochs_open_path(epochs, profile->run.start_unix_ns);
	CLEANUP(freep) char *name = epochs_name(profile);
	CLEANUP(profile_freep) struct profile *plain = NULL;
	int error = epochs_make_plain(profile, name, &plain, diag);

	if (!error && plain->quality.samples)
		error = epochs_write(epochs, &plain, name, epochs->epoch_bytes, diag);
	if (!error)
		unlink(open);
	return error;
}
