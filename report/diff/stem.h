/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stem: the part of a name that stays the same from one build to the next.
 */
#pragma once

#include <stddef.h>

/* Each returns the length of that part. */

/*
 * For a function's name: without the suffixes that compilers and linkers add to pieces and copies: ".cold",
 * ".part.0", ".isra.0", ".constprop.2", " [clone .cold]", Rust's "::h0123456789abcdef".
 */
size_t stem_function(const char *name);
/* For a demangled name: also without its arguments. */
size_t stem_arguments(const char *name);
/* For a file name: "libfoo.so.1.2", "libfoo-1.2.so" and "libfoo.so" are the same, and "python3.11" is
 * "python". What follows ".so" is ignored. */
size_t stem_module(const char *file);
