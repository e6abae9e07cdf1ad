/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_take: what a fenced child found out (resolve_apart.h) becomes part of the profile. Its message is
 * foreign input: it is read and checked like any file, and of images that it was not asked about nothing is
 * taken. So a child that somebody took over can lie about its own images only.
 */
#pragma once

#include "profile/resolve.h"

/* In the child: all is let go that the parent would not take. */
void resolve_take_prepare(struct profile *profile, const struct images *images,
			  const struct resolve_options *asked);
/* In the parent. False, and nothing is changed, if it makes no sense. */
bool resolve_take(struct profile *profile, const struct images *images, const struct resolve_options *asked,
		  struct bytes message);
