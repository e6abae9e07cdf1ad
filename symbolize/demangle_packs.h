/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle_packs: whether the parameter packs of a C++ name are found in reasonable time.
 *
 * To print a pack expansion, libiberty searches everything below it for the pack. It follows each reference
 * to an earlier part of the name again, so that a few hundred characters can take it forever, without any
 * output at which it could be stopped.
 */
#pragma once

#include <stdbool.h>

/* False if a search would take too long. True also for names that cannot be parsed. */
bool demangle_packs_are_found(const char *linkage);
