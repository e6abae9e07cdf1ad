/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_post: bytes sent to a server, by libcurl where it is installed. It is loaded when it is first needed,
 * and only by who needs it; no header is needed to build.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"

struct http_answer {
	long status;   /* of HTTP; 0 = there was no answer */
	char why[256]; /* what went wrong, for people */
};

/* Can libcurl be loaded? */
bool http_is_there(void);
/* Headers: lines of the request, ended by NULL. 0 if there was an answer, whatever it says. */
int http_post(const char *url, const char *const *headers, struct bytes body, struct http_answer *ret);
