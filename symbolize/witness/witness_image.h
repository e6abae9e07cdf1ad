/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_image: a witness asked about an image, whose debug information is found as our reader finds it.
 */
#pragma once

#include "symbolize/files/debugfile.h"
#include "symbolize/witness/witness.h"

/* vaddrs: sorted, no two alike. Never faults: where there is no debug information nothing is answered. */
void witness_ask_image(enum library_kind kind, struct image *image, const struct debug_search *search,
		       const uint64_t *vaddrs, size_t n, struct testimony *ret);
