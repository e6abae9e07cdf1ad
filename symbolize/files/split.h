/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split: units whose entries are in .dwo files, or in a .dwp package made from those.
 */
#pragma once

#include "symbolize/files/debugfile.h"

/* The unit with the entries of a skeleton; NULL if it cannot be found. Thread-safe. */
const struct unit *split_find(struct debugfile *file, const struct unit *skeleton);
