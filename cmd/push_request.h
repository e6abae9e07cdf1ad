/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push_request: the requests to servers that accept profiles. The protocol is determined by the path of the
 * URL:
 *
 * .../push.v1.PusherService/Push Pyroscope, like its own clients .../profiles/writeraw Parca any other
 * Pyroscope's POST /ingest, which is added if it is not there
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/text.h"

/* One profile: that of one service in one epoch. It is a file whose name says so. */
struct push_item {
	uint64_t start_ms, end_ms;
	char service[64];
	bool is_otlp;
};

/* The name of its file; and the reverse: false if the name is not one of ours. */
void push_item_name(const struct push_item *item, struct text *ret);
bool push_item_parse(const char *name, struct push_item *ret);

/* Is it a URL that can be pushed to? */
int push_check_url(const char *url, struct diag *diag);
/* For messages: without a possible password. */
void push_place(const char *url, struct text *ret);

struct push_request {
	struct text url, body;
	const char *content_type;
};
void push_request_make(const char *url, const struct push_item *item, const char *host, struct text *profile,
		       struct push_request *ret);
void push_request_done(struct push_request *request);
