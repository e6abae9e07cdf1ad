/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_child: messages from a compromised sandboxed child to its parent: the names that it found, and keys of
 * the store. Whatever they contain, the profile must stay usable.
 *
 * input: u8 kind (even: a profile of names, whose checksums are corrected; odd: a request for an entry of the
 * store); the rest is the message
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/store.h"
#include "profile/check.h"
#include "profile/resolve_take.h"
#include "tests/support/reseal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void child_ask_store(struct bytes message)
{
	static struct store *store;
	char folder[] = "/tmp/cpprof-fuzz-XXXXXX";

	if (!store && mkdtemp(folder)) {
		store = store_open(folder, 1 << 20);
		rmdir(folder); /* nothing is stored */
	}
	if (store_serve_get(store, 1, message) >= 0)
		abort(); /* the store is empty */
}

/* The parent has a profile that matches the message, and has requested its second image. */
static void child_take(struct bytes message)
{
	struct images *images = images_new();
	struct resolve_options asked = { .part = RESOLVE_IMAGE, .image = 1 };
	CLEANUP(profile_freep) struct profile *profile = NULL;
	struct diag diag = { 0 };

	if (profile_parse(message, "fuzzed", &profile, &diag) == 0) {
		size_t n_functions = profile->functions.n, n_structures = profile->structures.n;
		bool was_good = profile_check(profile, "fuzzed", &diag) == 0;
		bool is_taken = resolve_take(profile, images, &asked, message);
		if (profile->functions.n != n_functions || profile->structures.n != n_structures)
			abort();
		if (is_taken && was_good && profile_check(profile, "fuzzed", &diag) < 0)
			abort();
	}
	images_free(images);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(freep) uint8_t *message = malloc(size + 1);
	uint64_t length = size ? size - 1 : 0;

	if (size == 0)
		return 0;
	memcpy(message, data + 1, (size_t)length);
	if (data[0] & 1) {
		child_ask_store((struct bytes){ message, (size_t)length });
		return 0;
	}
	if (length >= 24)
		memcpy(message + 16, &length, 8);
	profile_reseal(message, (size_t)length);
	child_take((struct bytes){ message, (size_t)length });
	return 0;
}
