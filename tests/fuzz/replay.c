/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay: runs a fuzz target over saved inputs, for compilers without libFuzzer.
 *
 * usage: replay_NAME PATH...
 *
 * Each path is a file or a directory of files (in name order). Each file is passed to the target unchanged
 * and then with some mutations, which depend only on its bytes, so that failures are reproducible. Inputs are
 * allocated with their exact size: a sanitizer detects the first byte read beyond the end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "tests/fuzz/mutate.h"

#define MUTATIONS 300 /* of each file ... */
#ifndef ALL_MUTATIONS
#define ALL_MUTATIONS 6000 /* ... but fewer if there are many: what a large corpus covers is in the files */
#endif
#define MUTATED_BYTES (4u << 20) /* fewer mutations of large files: the test must stay quick */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_inputs, n_mutations = MUTATIONS;

static void run(const uint8_t *data, size_t size)
{
	CLEANUP(freep) uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	n_inputs++;
}

static void run_file(const uint8_t *data, size_t size)
{
	CLEANUP(freep) uint8_t *changed = malloc(size ? size : 1);
	uint64_t state = hash_bytes((struct bytes){ data, size });
	size_t fit = MUTATED_BYTES / (size + 1);

	run(data, size);
	for (size_t i = 0; i < n_mutations && i < fit; i++) {
		memcpy(changed, data, size);
		run(changed, mutate(changed, size, &state));
	}
}

static int read_file(const char *path)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "rb");
	struct stat st;

	if (!file || fstat(fileno(file), &st) < 0) {
		perror(path);
		return 1;
	}

	size_t size = (size_t)st.st_size;
	CLEANUP(freep) uint8_t *data = malloc(size ? size : 1);
	if (fread(data, 1, size, file) != size) {
		perror(path);
		return 1;
	}
	run_file(data, size);
	return 0;
}

static int read_directory(const char *path)
{
	struct dirent **entries;
	int failed = 0, n = scandir(path, &entries, NULL, alphasort);

	if (n < 0)
		return read_file(path);
	n_mutations = n * MUTATIONS > ALL_MUTATIONS ? ALL_MUTATIONS / (size_t)n : MUTATIONS;
	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.') {
			CLEANUP(freep) char *file = alloc_printf("%s/%s", path, entries[i]->d_name);
			failed |= read_file(file);
		}
		free(entries[i]);
	}
	free(entries);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= read_directory(argv[i]);
	printf("%zu inputs\n", n_inputs);
	if (n_inputs == 0)
		fprintf(stderr, "nothing to replay: the corpus is empty\n");
	return failed || n_inputs == 0;
}
