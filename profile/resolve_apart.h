/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_apart: as resolve, but what a target or its user made (ELF, DWARF, perf maps) is read by a fenced
 * child (base/fence.h): without rights, as the target's user, with limits on memory and time.
 *
 * The child has all of our memory as it is now, and sends back a profile that has names and structures and
 * nothing else, which is read and checked like any file. Files, the store and debuginfod are ours: it asks
 * for them (base/channel.h). Where it dies, images are asked about one by one, each by a child of its own:
 * the one it dies of stays without names, and a note of the profile says so.
 */
#pragma once

#include "profile/resolve.h"

/* No other thread may change what is read here meanwhile. */
int resolve_apart(struct profile *profile, struct images *images, const struct resolve_options *options,
		  struct diag *diag);
