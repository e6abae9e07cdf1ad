/* SPDX-License-Identifier: Apache-2.0 */
/*
 * locator: looks up addresses of one image, for callers that need single answers, not maps. Results of
 * earlier runs are read in place from the store; others are looked up by symbolize().
 */
#pragma once

#include "symbolize/symbolizer.h"

struct locator;
/* For these addresses, sorted and distinct. The image must outlive it. */
struct locator *locator_new(const struct symbolizer_options *options, struct image *image,
			    const uint64_t *vaddrs, size_t n);
void locator_free(struct locator *locator);

/* The chain at an address, innermost first. Returns its length, 0 if the address was not given to
 * locator_new. */
size_t locator_find(const struct locator *locator, uint64_t vaddr, struct location *ret, size_t max);
/* A string of a chain. Valid as long as the locator. */
const char *locator_text(const struct locator *locator, uint32_t id);
