/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_take: adds the results of a fenced child (resolve_apart.h) to the profile. Its message is foreign
 * input: it is read and checked like any file, and results about images that it was not asked about are
 * ignored. So a compromised child can only falsify the results for its own images.
 */
#pragma once

#include "profile/resolve.h"

/* In the child: removes everything that the parent would not take. */
void resolve_take_prepare(struct profile *profile, const struct images *images,
			  const struct resolve_options *asked);
/* In the parent. False, and nothing is changed, if the message is not valid. */
bool resolve_take(struct profile *profile, const struct images *images, const struct resolve_options *asked,
		  struct bytes message);
