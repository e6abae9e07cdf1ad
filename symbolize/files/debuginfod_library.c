/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod_library: the functions we call, with their documented types; no header is needed to build.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbolize/files/debuginfod_ways.h"

#define LIBRARY "libdebuginfod.so.1"

struct library {
	void *handle;
	void *(*begin)(void);
	void (*end)(void *client);
	int (*find)(void *client, const unsigned char *build_id, int len, char **path);
	/* Not in older libraries; without them there is no progress report. */
	void (*set_progress)(void *client, int (*progress)(void *client, long done, long total));
	void (*set_data)(void *client, void *data);
};

static int library_load(struct library *library)
{
	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ENOPKG;
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

/* The callback only gets the client; only the library knows what belongs to that. */
static int library_tell(void *client, long done, long total)
{
	void *(*get_data)(void *);
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	*(void **)&get_data = handle ? dlsym(handle, "debuginfod_get_user_data") : NULL;
	const struct debuginfod_watch *watch = get_data ? get_data(client) : NULL;
	if (watch)
		watch->progress(watch->context, done > 0 ? (uint64_t)done : 0,
				total > 0 ? (uint64_t)total : 0);
	if (handle)
		dlclose(handle); /* drops one of several references */
	return 0;                /* continue */
}

static void library_watch(const struct library *library, void *client, const struct debuginfod_watch *watch)
{
	if (!watch->progress || !library->set_progress || !library->set_data)
		return;
	library->set_data(client, (void *)watch);
	library->set_progress(client, library_tell);
}

int debuginfod_library_find(const struct build_id *build_id, const struct debuginfod_watch *watch, char **ret)
{
	struct library library;
	int error = library_load(&library);

	if (error < 0)
		return error;
	void *client = library.begin();
	if (client)
		library_watch(&library, client, watch);
	int fd = client ? library.find(client, build_id->bytes, build_id->len, ret) : -ENOMEM;
	if (client)
		library.end(client);
	/* The library remains loaded: it may have started threads. */
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
