/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/http_post.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"
#define CONNECT_S 10L /* timeout for an unreachable server */
#define ANSWER_S 30L  /* timeout for a server that does not answer */

/* Numbers that libcurl guarantees not to change. */
enum {
	OPT_ERRORBUFFER = 10010,
	OPT_TIMEOUT = 13,
	OPT_POSTFIELDS = 10015,
	OPT_USERAGENT = 10018,
	OPT_HTTPHEADER = 10023,
	OPT_POST = 47,
	OPT_CONNECTTIMEOUT = 78,
	OPT_NOSIGNAL = 99,
	OPT_PROTOCOLS = 181,
	OPT_URL = 10002,
	OPT_WRITEFUNCTION = 20011,
	OPT_POSTFIELDSIZE_LARGE = 30120,
	INFO_RESPONSE_CODE = 0x200002,
	PROTOCOLS_HTTP = 3, /* and https */
};

struct curl {
	void *handle;
	void *(*init)(void);
	void (*cleanup)(void *easy);
	int (*setopt)(void *easy, int option, ...);
	int (*perform)(void *easy);
	int (*getinfo)(void *easy, int info, ...);
	const char *(*strerror)(int code);
	void *(*append)(void *list, const char *text);
	void (*free_all)(void *list);
};

static int curl_load(struct curl *curl)
{
#ifdef CPPROF_STATIC /* a static program loads no libraries */
	(void)curl;
	return -ENOPKG;
#else
	curl->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!curl->handle)
		return -ENOPKG;
	*(void **)&curl->init = dlsym(curl->handle, "curl_easy_init");
	*(void **)&curl->cleanup = dlsym(curl->handle, "curl_easy_cleanup");
	*(void **)&curl->setopt = dlsym(curl->handle, "curl_easy_setopt");
	*(void **)&curl->perform = dlsym(curl->handle, "curl_easy_perform");
	*(void **)&curl->getinfo = dlsym(curl->handle, "curl_easy_getinfo");
	*(void **)&curl->strerror = dlsym(curl->handle, "curl_easy_strerror");
	*(void **)&curl->append = dlsym(curl->handle, "curl_slist_append");
	*(void **)&curl->free_all = dlsym(curl->handle, "curl_slist_free_all");
	return curl->init && curl->cleanup && curl->setopt && curl->perform && curl->getinfo &&
			       curl->strerror && curl->append && curl->free_all
		       ? 0
		       : -ENOSYS;
#endif
}

bool http_is_there(void)
{
	struct curl curl;

	return curl_load(&curl) == 0;
}

/* The body of the answer is ignored. */
static size_t curl_ignore(const void *at, size_t size, size_t n, void *context)
{
	(void)at;
	(void)context;
	return size * n;
}

static void curl_prepare(const struct curl *curl, void *easy, const char *url, void *headers,
			 struct bytes body, char *why)
{
	curl->setopt(easy, OPT_URL, url);
	curl->setopt(easy, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP);
	curl->setopt(easy, OPT_NOSIGNAL, 1L);
	curl->setopt(easy, OPT_CONNECTTIMEOUT, CONNECT_S);
	curl->setopt(easy, OPT_TIMEOUT, ANSWER_S);
	curl->setopt(easy, OPT_USERAGENT, "cpprof");
	curl->setopt(easy, OPT_ERRORBUFFER, why);
	curl->setopt(easy, OPT_WRITEFUNCTION, curl_ignore);
	curl->setopt(easy, OPT_HTTPHEADER, headers);
	curl->setopt(easy, OPT_POST, 1L);
	curl->setopt(easy, OPT_POSTFIELDSIZE_LARGE, (long long)body.len);
	curl->setopt(easy, OPT_POSTFIELDS, body.at);
}

int http_post(const char *url, const char *const *headers, struct bytes body, struct http_answer *ret)
{
	struct curl curl;
	int error = curl_load(&curl);

	*ret = (struct http_answer){ 0 };
	void *easy = error ? NULL : curl.init();
	if (!easy) {
		snprintf(ret->why, sizeof(ret->why), "%s is not usable", LIBRARY);
		return error ? error : -ENOMEM;
	}
	void *list = curl.append(NULL,
				 "Expect:"); /* waiting for "100 Continue" costs a second with some servers */
	for (; *headers; headers++)
		list = curl.append(list, *headers);
	curl_prepare(&curl, easy, url, list, body, ret->why);
	int code = curl.perform(easy);
	if (code == 0)
		curl.getinfo(easy, INFO_RESPONSE_CODE, &ret->status);
	else if (!ret->why[0])
		snprintf(ret->why, sizeof(ret->why), "%s", curl.strerror(code));
	curl.free_all(list);
	curl.cleanup(easy);
	return code == 0 ? 0 : -EIO;
}
