/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_json: reads a JSON file once, with our streaming reader or with cJSON. For tests/bench/packages,
 * which measures the process. usage: micro_json ours|cjson FILE
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_CJSON
#include <cjson/cJSON.h>
#endif

#include "base/json_reader.h"

static int read_ours(FILE *file)
{
	struct json_reader reader;
	enum json_event event;
	size_t n = 0;

	json_reader_init_stream(&reader, file);
	while ((event = json_reader_next(&reader)) != JSON_END && event != JSON_BAD)
		n++;
	json_reader_done(&reader);
	printf("%zu events\n", n);
	return event == JSON_BAD || n == 0;
}

static int read_cjson(FILE *file)
{
#ifdef HAVE_CJSON
	fseek(file, 0, SEEK_END);
	size_t size = (size_t)ftell(file);
	char *text = malloc(size);
	rewind(file);
	if (!text || fread(text, 1, size, file) != size)
		return 1;
	cJSON *root = cJSON_ParseWithLength(text, size);
	bool is_read = root != NULL;
	cJSON_Delete(root);
	free(text);
	return !is_read;
#else
	(void)file;
	printf("skipped: this build has no cJSON\n");
	return 77;
#endif
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "rb") : NULL;

	if (!file) {
		fprintf(stderr, "usage: micro_json ours|cjson FILE\n");
		return 2;
	}
	int code = strcmp(argv[1], "cjson") == 0 ? read_cjson(file) : read_ours(file);
	fclose(file);
	return code;
}
