/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/file_text.h"

/* It is in the table of a thread, of a profile and of a message at the same time, and then in the reader's.
 */
#define COPIES 4

uint32_t file_text_add(struct intern *strings, struct image *image, const char *text, size_t len)
{
	size_t n_before = strings->strings.n;

	if (image && !image_take(image, COPIES * len))
		return 0;
	uint32_t id = intern_add_n(strings, text, len);
	if (image && strings->strings.n == n_before)
		image_give_back(image, COPIES * len);
	return id;
}
