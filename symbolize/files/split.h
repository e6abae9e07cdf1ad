/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split: units whose entries were left in .dwo files, or in the .dwp package made of them.
 */
#pragma once

#include "symbolize/files/debugfile.h"

struct split_file {
	const struct unit *skeleton;
	struct dwarf dwarf;
	const struct unit *unit; /* NULL: looked for and not found */
};

void splits_free(struct debugfile *file);
