/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_code: what the machine code of a source loop says of it: how often the compiler copied it, whether and
 * how it is vectorised, whether it calls.
 */
#pragma once

#include "profile/profile.h"

struct loop_code {
	const struct structure *structure; /* of its function, and there its scope */
	uint32_t scope;
	uint32_t n_copies; /* versions, peeled iterations, vector body and remainder */
	uint32_t n_calls;  /* in its own code, not in loops in it */
	uint32_t width; /* bytes that its vector instructions work on at once; 0 = it has none or that is not
			   known, 255 = as many as the processor has */
	bool is_innermost;
	uint32_t n_on_line,
		index_on_line; /* loops of its procedure that start on its line; which it is, from 1 */
};

/* By its header. False if nothing is known. */
bool loop_code_find(const struct profile *profile, image_id image, uint64_t header, struct loop_code *ret);
/* Is the address in a copy that is vectorised? */
bool loop_code_is_vector(const struct loop_code *loop, uint64_t vaddr);
