/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_map: a file mapped to be read, which may shrink meanwhile.
 *
 * A read behind the new end would raise SIGBUS, which ends the process. Here it gives zeroes, and says that
 * the file is not what it was; so does a read that the disk fails. Any thread may map, read and unmap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The first len bytes of a file, until file_unmap. *is_changed is set when bytes turn out to be gone, and
 * must stay where it is for as long. -errno if it cannot be mapped, or too many are: whoever needs the file
 * reads it then.
 */
int file_map(int fd, size_t len, volatile bool *is_changed, void **ret);
/* What was read of it need not stay in memory: it is read again where it is needed. */
void file_map_rest(void *at, size_t len);
/* Takes NULL, too. */
void file_unmap(void *at, size_t len);
