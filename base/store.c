/* SPDX-License-Identifier: Apache-2.0 */
#include "base/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/vec.h"
#include "base/writer.h"

#define MAGIC 0x31657a6970706370u /* changes when the header does */
#define MAX_ENTRY (1ull << 30)
#define MAX_NAME 128
#define UNFINISHED ".new"    /* suffix of a file that is still being written */
#define ABANDONED_S 3600     /* older temporary files were left by a killed process */
#define IN_REALM 0x80000000u /* in the version of a key: it belongs to a realm; never a real version */

struct store {
	int directory;           /* -1: reached through the channel */
	struct channel *channel; /* in a fenced child; otherwise NULL */
	uint64_t realm;          /* the child's */
	uint64_t limit;
	bool has_written;
};

/* Precedes every entry; it repeats the key, so that a renamed file gives nothing away. */
struct header {
	uint64_t magic, version, id[2], len, hash;
	char kind[16];
};
_Static_assert(sizeof(struct header) % 16 == 0, "what follows is read in place and must stay aligned");

/* ---- the directory ------------------------------------------------------------------------- */

static bool is_ours(const struct stat *st, mode_t type)
{
	return (st->st_mode & S_IFMT) == type && st->st_uid == geteuid() &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Root with another user's environment (sudo -E) must not create folders in that user's home. */
static bool may_make(const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(freep)
	char *parent = slash ? alloc_text_n(path, (size_t)(slash - path) + 1) : alloc_text(".");
	struct stat st;

	return stat(parent, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0);
}

/* Opens, and creates if necessary, a directory that no other user can write to. */
static int open_directory(const char *path)
{
	struct stat st;

	if (may_make(path) && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -1;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) == 0 && is_ours(&st, S_IFDIR))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_default(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	CLEANUP(freep) char *parent = NULL;
	CLEANUP(freep) char *path = NULL;

	/* The specification ignores relative paths; we have even more reason to. */
	if (cache && cache[0] == '/')
		parent = alloc_text(cache);
	else if (home && home[0] == '/')
		parent = alloc_printf("%s/.cache", home);
	else
		return -1;
	CLEANUP(close_fd) int checked = open_directory(parent);
	if (checked < 0)
		return -1;
	path = alloc_printf("%s/cpprof", parent);
	return open_directory(path);
}

struct store *store_open(const char *directory, uint64_t limit)
{
	int fd = directory ? open_directory(directory) : open_default();

	if (fd < 0)
		return NULL;
	struct store *store = alloc_zero(1, sizeof(*store));
	store->directory = fd;
	store->limit = limit ? limit : STORE_LIMIT;
	return store;
}

int store_directory(const struct store *store)
{
	return store->channel ? -1 : store->directory;
}

struct store *store_open_channel(struct channel *channel, uint64_t realm)
{
	struct store *store = alloc_zero(1, sizeof(*store));

	store->directory = -1;
	store->channel = channel;
	store->realm = realm;
	store->limit = STORE_LIMIT;
	return store;
}

/* ---- entries ------------------------------------------------------------------------------- */

static void format_name(const struct store_key *key, char name[MAX_NAME])
{
	snprintf(name, MAX_NAME, "%s-%" PRIu32 "-%016" PRIx64 "%016" PRIx64, key->kind, key->version,
		 key->id[0], key->id[1]);
}

static struct header header_of(const struct store_key *key, struct bytes bytes)
{
	struct header header = { .magic = MAGIC,
				 .version = key->version,
				 .id = { key->id[0], key->id[1] },
				 .len = bytes.len,
				 .hash = hash_bulk(bytes) };

	snprintf(header.kind, sizeof(header.kind), "%s", key->kind);
	return header;
}

static void store_write_key(const struct store_key *key, struct writer *ret)
{
	write_bytes(ret, (struct bytes){ (const uint8_t *)key->kind, strlen(key->kind) + 1 });
	write_u32(ret, key->version);
	write_u64(ret, key->id[0]);
	write_u64(ret, key->id[1]);
}

/* The realm takes up the whole first number, so that no choice of the others leads out of it. */
static struct store_key store_confine(const struct store_key *key, uint64_t realm)
{
	struct store_key plain = { key->kind, key->version & ~IN_REALM, { key->id[0], key->id[1] } };
	struct store_key confined = { key->kind,
				      key->version | IN_REALM,
				      { realm, hash_u64(hash_u64(key->id[0]) ^ key->id[1]) } };

	return realm ? confined : plain;
}

/* Opens the file of an entry; -1 if there is none that we own. */
static int store_open_entry(struct store *store, const struct store_key *key)
{
	char name[MAX_NAME];
	struct stat st;

	format_name(key, name);
	int fd = openat(store->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && is_ours(&st, S_IFREG)) {
		futimens(fd, NULL); /* recently used: kept longer */
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static int store_ask(struct store *store, const struct store_key *key)
{
	struct writer request = { 0 };

	store_write_key(key, &request);
	int fd = channel_ask(store->channel, CHANNEL_GET, writer_bytes(&request), NULL);
	writer_done(&request);
	return fd;
}

struct bytes store_get(struct store *store, const struct store_key *key)
{
	struct stat st;
	struct header found, expected;

	if (!store)
		return (struct bytes){ 0 };
	CLEANUP(close_fd) int fd = store->channel ? store_ask(store, key) : store_open_entry(store, key);
	if (fd < 0 || fstat(fd, &st) < 0)
		return (struct bytes){ 0 };
	if ((uint64_t)st.st_size < sizeof(found) || (uint64_t)st.st_size > MAX_ENTRY)
		return (struct bytes){ 0 };
	/* Entries are replaced, never changed, and the directory is ours alone: a mapping cannot shrink. */
	uint8_t *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (map == MAP_FAILED)
		return (struct bytes){ 0 };
	struct bytes bytes = { map + sizeof(found), (size_t)st.st_size - sizeof(found) };
	memcpy(&found, map, sizeof(found));
	struct store_key confined = store_confine(key, store->realm);
	expected = header_of(&confined, bytes);
	if (memcmp(&found, &expected, sizeof(found)) != 0 || bytes.len == 0) {
		munmap(map, (size_t)st.st_size);
		return (struct bytes){ 0 };
	}
	return bytes;
}

void store_release(struct bytes bytes)
{
	if (bytes.at)
		munmap((void *)(bytes.at - sizeof(struct header)), bytes.len + sizeof(struct header));
}

static bool store_write_all(int fd, const void *bytes, size_t len)
{
	for (const char *at = bytes; len > 0;) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void store_send(struct store *store, const struct store_key *key, struct bytes bytes)
{
	struct writer request = { 0 };

	store_write_key(key, &request);
	write_bytes(&request, bytes);
	channel_tell(store->channel, CHANNEL_PUT, writer_bytes(&request));
	writer_done(&request);
}

static bool store_write_entry(int fd, const struct header *header, struct bytes bytes)
{
	return store_write_all(fd, header, sizeof(*header)) && store_write_all(fd, bytes.at, bytes.len);
}

/* The entry has no name before it is complete, so a killed process leaves nothing behind. False where the
 * file system or the fence around this process does not allow this. */
static bool store_put_unnamed(struct store *store, const char *name, const struct header *header,
			      struct bytes bytes)
{
	CLEANUP(close_fd) int fd = openat(store->directory, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	char path[64];

	if (fd < 0 || !store_write_entry(fd, header, bytes))
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	unlinkat(store->directory, name, 0); /* linkat does not replace a file */
	return linkat(AT_FDCWD, path, store->directory, name, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
}

static void store_put_named(struct store *store, const char *name, const struct header *header,
			    struct bytes bytes)
{
	char temporary[MAX_NAME + 32];

	snprintf(temporary, sizeof(temporary), "%s.%d" UNFINISHED, name, (int)getpid());
	unlinkat(store->directory, temporary, 0); /* left by a process that died and had our pid */
	CLEANUP(close_fd)
	int fd = openat(store->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (!store_write_entry(fd, header, bytes) ||
	    renameat(store->directory, temporary, store->directory, name) < 0)
		unlinkat(store->directory, temporary, 0);
}

void store_put(struct store *store, const struct store_key *key, struct bytes bytes)
{
	char name[MAX_NAME];

	if (!store || bytes.len == 0 || bytes.len > MAX_ENTRY - sizeof(struct header) ||
	    bytes.len > store->limit / 4)
		return;
	if (store->channel) {
		store_send(store, key, bytes);
		return;
	}
	struct header header = header_of(key, bytes);
	format_name(key, name);
	if (!store_put_unnamed(store, name, &header, bytes))
		store_put_named(store, name, &header, bytes);
	store->has_written = true;
}

/* ---- for a fenced child ---------------------------------------------------------------------- */

/* A kind is part of a file name. */
static bool store_read_key(struct reader *r, struct store_key *ret)
{
	ret->kind = read_cstr(r);
	ret->version = read_u32(r);
	ret->id[0] = read_u64(r);
	ret->id[1] = read_u64(r);
	size_t len = strlen(ret->kind);
	return !r->failed && len > 0 && len < sizeof(((struct header *)0)->kind) &&
	       strspn(ret->kind, "abcdefghijklmnopqrstuvwxyz-") == len;
}

int store_serve_get(struct store *store, uint64_t realm, struct bytes request)
{
	struct reader r = reader_of(request);
	struct store_key key;

	if (!store || !store_read_key(&r, &key))
		return -ENOENT;
	key = store_confine(&key, realm);
	int fd = store_open_entry(store, &key);
	return fd >= 0 ? fd : -ENOENT;
}

void store_serve_put(struct store *store, uint64_t realm, struct bytes request)
{
	struct reader r = reader_of(request);
	struct store_key key;

	if (!store || !store_read_key(&r, &key))
		return;
	key = store_confine(&key, realm);
	store_put(store, &key, read_bytes(&r, reader_left(&r)));
}

/* ---- size ---------------------------------------------------------------------------------- */

struct old_file {
	char *name;
	uint64_t size;
	struct timespec used;
};

static int compare_age(const void *left, const void *right)
{
	const struct old_file *a = left, *b = right;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

/* The process that was writing it was killed. */
static bool is_abandoned(const char *name, const struct stat *st)
{
	size_t len = strlen(name), end = strlen(UNFINISHED);

	return len > end && strcmp(name + len - end, UNFINISHED) == 0 &&
	       st->st_mtim.tv_sec + ABANDONED_S < time(NULL);
}

static void trim(struct store *store)
{
	VEC(struct old_file) files = { 0 };
	uint64_t total = 0;
	int fd = openat(store->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		struct stat st;
		if (fstatat(store->directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		if (is_abandoned(entry->d_name, &st) && unlinkat(store->directory, entry->d_name, 0) == 0)
			continue;
		vec_push(&files,
			 (struct old_file){ alloc_text(entry->d_name), (uint64_t)st.st_size, st.st_mtim });
		total += (uint64_t)st.st_size;
	}
	if (files.n)
		qsort(files.at, files.n, sizeof(*files.at), compare_age);
	for (size_t i = 0; i < files.n; i++) {
		if (total > store->limit && unlinkat(store->directory, files.at[i].name, 0) == 0)
			total -= files.at[i].size;
		free(files.at[i].name);
	}
	vec_done(&files);
	if (directory)
		closedir(directory);
	else if (fd >= 0)
		close(fd);
}

void store_close(struct store *store)
{
	if (!store)
		return;
	if (store->has_written)
		trim(store);
	if (store->directory >= 0)
		close(store->directory);
	free(store);
}
