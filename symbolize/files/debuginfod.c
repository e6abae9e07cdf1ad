/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod: the functions we call, by their documented types; no header is needed to build.
 */
#include "symbolize/files/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT_SECONDS "20" /* without progress; the library's own default is 90 */

struct library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find)(void *client, const unsigned char *build_id, int len, char **path);
	/* Not in older libraries; without them there is no progress report. */
	void (*set_progress)(void *client, int (*progress)(void *client, long done, long total));
	void (*set_data)(void *client, void *data);
};

/* What the library hands back to us. */
struct watch {
	debuginfod_progress progress;
	void *context;
};

bool debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[0];
}

static int debuginfod_load(struct library *library)
{
	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ENOENT;
	library->begin = (void *(*)(void))dlsym(library->handle, "debuginfod_begin");
	library->end = (void (*)(void *))dlsym(library->handle, "debuginfod_end");
	library->find = (int (*)(void *, const unsigned char *, int, char **))dlsym(
		library->handle, "debuginfod_find_debuginfo");
	*(void **)&library->set_progress = dlsym(library->handle, "debuginfod_set_progressfn");
	*(void **)&library->set_data = dlsym(library->handle, "debuginfod_set_user_data");
	if (library->begin && library->end && library->find)
		return 0;
	dlclose(library->handle);
	return -ENOSYS;
}

/* All it is given is the client, and only the library knows what belongs to that. */
static int debuginfod_tell(void *client, long done, long total)
{
	void *(*get_data)(void *);
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	*(void **)&get_data = handle ? dlsym(handle, "debuginfod_get_user_data") : NULL;
	const struct watch *watch = get_data ? get_data(client) : NULL;
	if (watch)
		watch->progress(watch->context, done > 0 ? (uint64_t)done : 0,
				total > 0 ? (uint64_t)total : 0);
	if (handle)
		dlclose(handle); /* one reference of many */
	return 0;                /* go on */
}

static void watch_client(struct watch *watch, const struct library *library, void *client)
{
	if (!watch->progress || !library->set_progress || !library->set_data)
		return;
	library->set_data(client, watch);
	library->set_progress(client, debuginfod_tell);
}

int debuginfod_find(const struct build_id *build_id, debuginfod_progress progress, void *context, char **ret)
{
	struct library library;
	int error = debuginfod_load(&library);
	struct watch watch = { progress, context };

	if (error < 0)
		return error;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_SECONDS, 0);
	void *client = library.begin();
	if (client)
		watch_client(&watch, &library, client);
	int fd = client ? library.find(client, build_id->bytes, build_id->len, ret) : -ENOMEM;
	if (client)
		library.end(client);
	/* The library stays loaded: it may have started threads. */
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
