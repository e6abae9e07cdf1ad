/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle: demangles linkage names: C++, Rust (both schemes), D, procedures of Fortran modules.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Does the name look mangled? */
bool demangle_knows(const char *linkage);
/* Appends the readable form; false, and nothing appended, if the name is not mangled. */
bool demangle(const char *linkage, struct text *ret);
