/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database: a database of epochs in a temporary folder, for one test at a time.
 */
#pragma once

#include "profile/epochs.h"

struct epochs *database_new(void);
/* Closes it and removes the folder. */
void database_done(struct epochs *epochs);
/* Its folder. */
const char *database_folder(void);
