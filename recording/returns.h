/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns: whether it is safe to probe return addresses.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "binary/elf/image.h"
#include "collector/probe/probe_links.h"

/* Should the return address of a function be probed? has_exits: all its exits are known in the code.
 * may_return: nothing in its process forbids probing returns. */
bool returns_are_taken(enum call_exits exits, bool has_exits, unsigned elf_machine, bool may_return);
/* Why returns of an image may not be probed in a process, whose stacks or system calls this would disturb;
 * NULL if they may. may_throw: an exception may pass through these functions. */
const char *returns_refused(pid_t pid, const struct image *image, bool may_throw);
/* Has the process mapped code that unwinds the stack itself, to throw an exception or to end a thread? */
bool returns_meet_unwinder(pid_t pid);
/* May the image's code throw exceptions? Is it a Go program? */
bool returns_throw(const struct image *image);
bool returns_of_go(const struct image *image);
