/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_image: queries a witness about an image, whose debug information is found in the same way as by our
 * reader.
 */
#pragma once

#include "symbolize/files/debugfile.h"
#include "symbolize/witness/witness.h"

/* vaddrs: sorted and distinct. Never faults: if there is no debug information, there are no answers. */
void witness_ask_image(enum library_kind kind, struct image *image, const struct debug_search *search,
		       const uint64_t *vaddrs, size_t n, struct testimony *ret);
