/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stem: what of a name stays the same from one build to the next.
 */
#pragma once

#include <stddef.h>

/* Each gives the length of the part of the name that counts. */

/*
 * Of a function's name: without what compilers and linkers add to pieces and copies of it: ".cold",
 * ".part.0",
 * ".isra.0", ".constprop.2", " [clone .cold]", Rust's "::h0123456789abcdef".
 */
size_t stem_function(const char *name);
/* Of a demangled name: also without its arguments. */
size_t stem_arguments(const char *name);
/* Of a file name: "libfoo.so.1.2", "libfoo-1.2.so" and "libfoo.so" are one, and "python3.11" is "python".
 * What follows ".so" does not count either. */
size_t stem_module(const char *file);
