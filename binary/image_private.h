/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_private: what image.c keeps of a file and image_bytes.c reads.
 */
#pragma once

#include <pthread.h>

#include "base/compress.h"
#include "binary/image.h"

struct image_private {
	void *map; /* mapped or malloc'ed bytes of the file */
	size_t map_len;
	bool is_mapped;
	struct buffer *decompressed; /* per section */
	struct segment *segments;
	struct section *sections;
	pthread_mutex_t lock; /* of decompressed */
};
