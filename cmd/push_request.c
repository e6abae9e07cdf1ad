/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/push_request.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"

#define PATH_INGEST "/ingest"
#define PATH_CONNECT "/push.v1.PusherService/Push"
#define PATH_PARCA "/profiles/writeraw"
#define PATH_OTLP "/v1development/profiles"
#define SUFFIX_PPROF ".pprof"
#define SUFFIX_OTLP ".otlp"

/* ---- names -------------------------------------------------------------------------------------- */

/* As in a URL; the remaining characters have no special meaning in a file name. */
static void push_escape(const char *text, struct text *ret)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || *text == '-' || *text == '_')
			text_add(ret, text, 1);
		else
			text_printf(ret, "%%%02X", (unsigned char)*text);
}

static bool push_unescape(const char *text, size_t len, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < size; i++) {
		if (text[i] != '%') {
			ret[n++] = text[i];
			continue;
		}
		if (len - i < 3 || !isxdigit((unsigned char)text[i + 1]) ||
		    !isxdigit((unsigned char)text[i + 2]))
			return false;
		ret[n++] = (char)strtoul((const char[]){ text[i + 1], text[i + 2], '\0' }, NULL, 16);
		i += 2;
	}
	ret[n] = '\0';
	return n > 0;
}

void push_item_name(const struct push_item *item, struct text *ret)
{
	text_printf(ret, "%013" PRIu64 "-%013" PRIu64 "-", item->start_ms, item->end_ms);
	push_escape(item->service, ret);
	text_printf(ret, "%s", item->is_otlp ? SUFFIX_OTLP : SUFFIX_PPROF);
}

/* A number that ends with '-', and moves *at behind that. */
static bool push_parse_number(const char **at, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*ret = strtoull(*at, &end, 10);
	*at = end + 1;
	return errno == 0 && *end == '-';
}

bool push_item_parse(const char *name, struct push_item *ret)
{
	const char *suffix = strrchr(name, '.');

	*ret = (struct push_item){ .is_otlp = suffix && strcmp(suffix, SUFFIX_OTLP) == 0 };
	if (!suffix || (!ret->is_otlp && strcmp(suffix, SUFFIX_PPROF) != 0))
		return false;
	if (!push_parse_number(&name, &ret->start_ms) || !push_parse_number(&name, &ret->end_ms))
		return false;
	return name < suffix &&
	       push_unescape(name, (size_t)(suffix - name), ret->service, sizeof(ret->service));
}

/* ---- places ------------------------------------------------------------------------------------- */

int push_check_url(const char *url, struct diag *diag)
{
	const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
			   : strncmp(url, "https://", 8) == 0 ? url + 8
							      : NULL;

	if (host && *host && *host != '/' && !strpbrk(url, "?# \t\r\n"))
		return 0;
	diag_set(diag, -EINVAL, "cannot push to '%s'", url);
	diag_why(diag, "it must be http://HOST[:PORT][/PATH] or https://..., without a query");
	return -EINVAL;
}

void push_place(const char *url, struct text *ret)
{
	const char *host = strstr(url, "://");
	const char *at = host ? strchr(host + 3, '@') : NULL;

	if (!at || memchr(host + 3, '/', (size_t)(at - host - 3))) {
		text_printf(ret, "%s", url);
		return;
	}
	text_add(ret, url, (size_t)(host + 3 - url));
	text_printf(ret, "%s", at + 1);
}

static bool push_has_path(const char *url, const char *path)
{
	size_t len = strlen(url), path_len = strlen(path);

	return len > path_len && strcmp(url + len - path_len, path) == 0;
}

static void push_add_path(const char *url, const char *path, struct text *ret)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	text_add(ret, url, len);
	if (!push_has_path(ret->at, path))
		text_printf(ret, "%s", path);
}

/* ---- words -------------------------------------------------------------------------------------- */

static void push_put_label(struct json *json, const char *name, const char *value)
{
	json_object(json);
	json_text_of(json, "name", name);
	json_text_of(json, "value", value);
	json_end_object(json);
}

static void push_put_labels(struct json *json, const struct push_item *item, const char *host)
{
	json_array(json);
	push_put_label(json, "__name__", "process_cpu");
	push_put_label(json, "service_name", item->service);
	push_put_label(json, "host", host);
	json_end_array(json);
}

/* Both servers accept a list of series, each with labels and profiles; in Parca, labels are nested one level
 * deeper. */
static void push_put_series(FILE *to, const struct push_item *item, const char *host, const char *base64,
			    bool is_parca)
{
	struct json json;

	json_init(&json, to);
	json_object(&json);
	json_name(&json, "series");
	json_array(&json);
	json_object(&json);
	json_name(&json, "labels");
	if (is_parca) {
		json_object(&json);
		json_name(&json, "labels");
	}
	push_put_labels(&json, item, host);
	if (is_parca)
		json_end_object(&json);
	json_name(&json, "samples");
	json_array(&json);
	json_object(&json);
	json_text_of(&json, "rawProfile", base64);
	json_end_object(&json);
	json_end_array(&json);
	json_end_object(&json);
	json_end_array(&json);
	if (is_parca)
		json_bool_of(&json, "normalized", true); /* addresses are those of the file */
	json_end_object(&json);
	json_done(&json);
}

static void push_take_stream(char *at, size_t len, struct text *ret)
{
	text_add(ret, at, len);
	free(at);
}

static void push_put_json(const struct push_item *item, const char *host, const struct text *profile,
			  bool is_parca, struct text *ret)
{
	struct text base64 = { 0 };
	char *at = NULL;
	size_t len = 0;
	FILE *stream = open_memstream(&at, &len);
	FILE *coder = base64_stream(stream);

	fwrite(profile->at, 1, profile->len, coder);
	fclose(coder);
	fclose(stream);
	push_take_stream(at, len, &base64);
	stream = open_memstream(&at, &len);
	push_put_series(stream, item, host, base64.at, is_parca);
	fclose(stream);
	push_take_stream(at, len, ret);
	text_done(&base64);
}

static void push_make_ingest(const char *url, const struct push_item *item, const char *host,
			     struct text *profile, struct push_request *ret)
{
	struct text name = { 0 };

	push_add_path(url, PATH_INGEST, &ret->url);
	text_printf(&name, "%s{host=%s}", item->service, host);
	text_printf(&ret->url, "?name=");
	push_escape(name.at, &ret->url);
	text_printf(&ret->url, "&from=%" PRIu64 "&until=%" PRIu64 "&format=pprof&spyName=cpprof",
		    item->start_ms / 1000, item->end_ms / 1000);
	text_add(&ret->body, profile->at, profile->len);
	text_done(&name);
}

void push_request_make(const char *url, const struct push_item *item, const char *host, struct text *profile,
		       struct push_request *ret)
{
	bool is_parca = push_has_path(url, PATH_PARCA);

	*ret = (struct push_request){ .content_type = "Content-Type: application/octet-stream" };
	if (item->is_otlp) {
		push_add_path(url, PATH_OTLP, &ret->url);
		text_add(&ret->body, profile->at, profile->len);
		ret->content_type = "Content-Type: application/x-protobuf";
	} else if (is_parca || push_has_path(url, PATH_CONNECT)) {
		text_printf(&ret->url, "%s", url);
		push_put_json(item, host, profile, is_parca, &ret->body);
		ret->content_type = "Content-Type: application/json";
	} else {
		push_make_ingest(url, item, host, profile, ret);
	}
}

void push_request_done(struct push_request *request)
{
	text_done(&request->url);
	text_done(&request->body);
}
