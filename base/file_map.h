/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_map: a file mapped for reading, which may shrink meanwhile.
 *
 * A read beyond the new end would raise SIGBUS, which kills the process. Here it returns zeroes and sets
 * *is_changed; so does a disk error. Any thread may map, read and unmap.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Maps the first len bytes of a file until file_unmap. *is_changed is set when bytes turn out to be gone, and
 * must stay valid for as long. -errno if it cannot be mapped, or if too many files are: the caller then reads
 * it instead.
 */
int file_map(int fd, size_t len, volatile bool *is_changed, void **ret);
/* Drops the pages that were read from memory; they are read again if needed. */
void file_map_rest(void *at, size_t len);
/* Accepts NULL. */
void file_unmap(void *at, size_t len);
