/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_file: writes a damaged copy of a file, to test commands with. Checksums and size of a profile are
 * corrected, so that the damage reaches the code behind them.
 *
 * usage: mutate_file IN OUT NUMBER       the same number gives the same damage
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "tests/fuzz/mutate.h"
#include "tests/support/reseal.h"

#define MAX_SIZE (16u << 20)

static void mutate_file_seal(uint8_t *data, size_t size)
{
	uint64_t file_size = size;

	if (size < 24 || memcmp(data, "cpprof\n", 8) != 0)
		return;
	memcpy(data + 16, &file_size, 8);
	profile_reseal(data, size);
}

int main(int argc, char **argv)
{
	CLEANUP(freep) uint8_t *data = malloc(MAX_SIZE);
	CLEANUP(fclosep) FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
	CLEANUP(fclosep) FILE *out = argc == 4 ? fopen(argv[2], "wb") : NULL;

	if (!in || !out) {
		fprintf(stderr, "usage: mutate_file IN OUT NUMBER\n");
		return 2;
	}
	size_t size = fread(data, 1, MAX_SIZE, in);
	uint64_t state = hash_u64(strtoull(argv[3], NULL, 10));
	size = mutate(data, size, &state);
	mutate_file_seal(data, size);
	return fwrite(data, 1, size, out) == size ? 0 : 1;
}
