/* SPDX-License-Identifier: Apache-2.0 */
/*
 * label: the label of a scope in a report. Labels contain foreign names and must be escaped.
 */
#pragma once

#include "base/text.h"
#include "profile/profile.h"
#include "structure/scope.h"

/* "solve", "loop at vec.h:7", "vec.h:12", "libfoo.so+0x1234", "[incomplete stacks]", "[all]". */
void label_scope(const struct profile *profile, const struct scope *scope, struct text *ret);
/* The image's file name, "[unknown]" for none. */
const char *label_image(const struct profile *profile, image_id image);
/* "vec.h:12"; nothing if the file is not known. */
void label_place(const struct profile *profile, uint32_t file, uint32_t line, struct text *ret);
/* What was profiled, as a short title. */
void label_run(const struct profile *profile, struct text *ret);
/* Last component of a path. */
const char *label_file(const char *path);
