/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_post: sends bytes to a server with libcurl, if it is installed. The library is loaded on first use; no
 * header is needed to build.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"

struct http_answer {
	long status;   /* of HTTP; 0 = no answer */
	char why[256]; /* the error, as text */
};

/* Can libcurl be loaded? */
bool http_is_there(void);
/* headers: lines of the request, ended by NULL. 0 if there was an answer, whatever its status. */
int http_post(const char *url, const char *const *headers, struct bytes body, struct http_answer *ret);
