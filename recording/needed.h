/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needed: which libraries a program will load when it starts, as far as its files show; the dynamic linker
 * decides. They are searched in the usual directories, and where the program and the environment say.
 */
#pragma once

#include "base/vec.h"
#include "binary/elf/image.h"

#define NEEDED_MAX 256

typedef VEC(char *) needed_paths;

/* Paths of the dynamic linker and all libraries that the file and its libraries need, without duplicates.
 * free() each. */
void needed_find(struct images *images, image_id file, needed_paths *ret);
