/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve_apart: like resolve, but files of a target or its user (ELF, DWARF, perf maps) are read by a fenced
 * child process (base/fence.h): without privileges, as the target's user, with limits on memory and time.
 *
 * The child has a copy of our memory, and sends back a profile with only names and structures, which is read
 * and checked like any file. It has no access to files, the store and debuginfod, and requests them from its
 * parent (base/channel.h). If it dies, images are looked up one by one, each in a child of its own: the image
 * that makes it die gets no names, and a note in the profile says so.
 */
#pragma once

#include "profile/resolve.h"

/* No other thread may change the input meanwhile. */
int resolve_apart(struct profile *profile, struct images *images, const struct resolve_options *options,
		  struct diag *diag);
