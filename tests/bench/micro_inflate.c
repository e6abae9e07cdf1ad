/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_inflate: megabytes per second of inflating a zlib stream by our own code, by zlib and, if
 * installed, by libdeflate; best of several rounds, in CPU time. The stream is a file that is compressed
 * first. usage: micro_inflate FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>
#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "base/inflate.h"

#define ROUNDS 5

struct work {
	uint8_t *plain, *packed, *room;
	size_t size, packed_size;
};

static bool unpack_ours(const struct work *work)
{
	struct inflater *inflater =
		inflater_new((struct bytes){ work->packed, work->packed_size }, work->room, work->size);
	size_t got = inflater_run(inflater, work->size);

	inflater_free(inflater);
	return got == work->size;
}

static bool unpack_zlib(const struct work *work)
{
	uLongf size = work->size;

	return uncompress(work->room, &size, work->packed, work->packed_size) == Z_OK && size == work->size;
}

#ifdef HAVE_LIBDEFLATE
static bool unpack_libdeflate(const struct work *work)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result result =
		libdeflate_zlib_decompress(d, work->packed, work->packed_size, work->room, work->size, NULL);

	libdeflate_free_decompressor(d);
	return result == LIBDEFLATE_SUCCESS;
}
#endif

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct method {
	const char *name;
	bool (*unpack)(const struct work *work);
	double best; /* seconds */
};

static bool measure(struct method *method, const struct work *work)
{
	memset(work->room, 0, work->size);
	double start = cpu_seconds();
	if (!method->unpack(work) || memcmp(work->room, work->plain, work->size) != 0) {
		fprintf(stderr, "%s does not restore the file\n", method->name);
		return false;
	}
	double took = cpu_seconds() - start;
	method->best = took < method->best ? took : method->best;
	return true;
}

static bool prepare(struct work *work, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	work->size = (size_t)ftell(file);
	rewind(file);
	work->packed_size = compressBound(work->size);
	work->plain = malloc(work->size + 1);
	work->packed = malloc(work->packed_size);
	work->room = malloc(work->size + 1);
	bool is_read = work->size > 0 && fread(work->plain, 1, work->size, file) == work->size;
	fclose(file);
	return is_read && compress2(work->packed, &work->packed_size, work->plain, work->size, 6) == Z_OK;
}

int main(int argc, char **argv)
{
	struct method methods[] = {
		{ "ours", unpack_ours, 1e9 },
		{ "zlib", unpack_zlib, 1e9 },
#ifdef HAVE_LIBDEFLATE
		{ "libdeflate", unpack_libdeflate, 1e9 },
#endif
	};
	const size_t n = sizeof(methods) / sizeof(*methods);
	struct work work;
	bool is_good = true;

	if (argc != 2 || !prepare(&work, argv[1])) {
		fprintf(stderr, "usage: micro_inflate FILE\n");
		return 2;
	}
	/* Alternately, so that disturbances affect all. */
	for (size_t i = 0; i < ROUNDS * n && is_good; i++)
		is_good = measure(&methods[i % n], &work);
	for (size_t i = 0; i < n && is_good; i++)
		printf("%s %.0f\n", methods[i].name, (double)work.size / 1e6 / methods[i].best);
	free(work.plain);
	free(work.packed);
	free(work.room);
	return is_good ? 0 : 1;
}
