/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod: the three functions we call, by their documented types; no header is needed to build.
 */
#include "symbolize/debuginfod.h"

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
};

bool debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[0];
}

static int load(struct library *library)
{
	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library->handle)
		return -ENOENT;
	library->begin = (void *(*)(void))dlsym(library->handle, "debuginfod_begin");
	library->end = (void (*)(void *))dlsym(library->handle, "debuginfod_end");
	library->find = (int (*)(void *, const unsigned char *, int, char **))dlsym(library->handle,
										     "debuginfod_find_debuginfo");
	if (library->begin && library->end && library->find)
		return 0;
	dlclose(library->handle);
	return -ENOSYS;
}

int debuginfod_find(const struct build_id *build_id, char **ret)
{
	struct library library;
	int error = load(&library);

	if (error < 0)
		return error;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_SECONDS, 0);
	void *client = library.begin();
	int fd = client ? library.find(client, build_id->bytes, build_id->len, ret) : -ENOMEM;
	if (client)
		library.end(client);
	/* The library stays loaded: it may have started threads. */
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}
