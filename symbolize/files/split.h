/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split: units whose entries were left in .dwo files, or in the .dwp package made of them.
 */
#pragma once

#include "symbolize/files/debugfile.h"

/* The unit with the entries of a skeleton; NULL if it is not to be found. Thread-safe. */
const struct unit *split_find(struct debugfile *file, const struct unit *skeleton);
