/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/witness/witness_image.h"

void witness_ask_image(enum library_kind kind, struct image *image, const struct debug_search *search,
		       const uint64_t *vaddrs, size_t n, struct testimony *ret)
{
	struct debugfile file;
	atomic_uint ids = 0;

	debugfile_open(&file, image, search, &ids);
	struct witness_question question = { .path = file.debug ? file.debug->path : image->path,
					     .alt_path = file.alt_image ? file.alt_image->path : NULL,
					     .vaddrs = vaddrs,
					     .n = n };
	witness_ask(kind, &question, ret);
	debugfile_done(&file);
}
