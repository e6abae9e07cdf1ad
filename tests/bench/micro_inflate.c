/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_inflate: megabytes a second that come out of a zlib stream, by our own inflate, by zlib and, where it
 * is installed, by libdeflate; the best of several rounds, in CPU time. The stream is a file's, packed first.
 * usage: micro_inflate FILE
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

static bool measure(const char *name, bool (*unpack)(const struct work *), const struct work *work)
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		memset(work->room, 0, work->size);
		double start = cpu_seconds();
		if (!unpack(work) || memcmp(work->room, work->plain, work->size) != 0) {
			fprintf(stderr, "%s does not give the file back\n", name);
			return false;
		}
		double took = cpu_seconds() - start;
		best = took < best ? took : best;
	}
	printf("%s %.0f\n", name, (double)work->size / 1e6 / best);
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
	struct work work;

	if (argc != 2 || !prepare(&work, argv[1])) {
		fprintf(stderr, "usage: micro_inflate FILE\n");
		return 2;
	}
	bool is_good = measure("ours", unpack_ours, &work) && measure("zlib", unpack_zlib, &work);
#ifdef HAVE_LIBDEFLATE
	is_good = is_good && measure("libdeflate", unpack_libdeflate, &work);
#endif
	free(work.plain);
	free(work.packed);
	free(work.room);
	return is_good ? 0 : 1;
}
