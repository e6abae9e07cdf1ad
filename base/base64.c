/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/alloc.h"

struct encoder {
	FILE *to;
	uint8_t waiting[3]; /* bytes that do not yet make a whole group */
	unsigned n_waiting;
};

static void base64_put_group(struct encoder *e)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t group = (uint32_t)e->waiting[0] << 16 | (uint32_t)e->waiting[1] << 8 | e->waiting[2];
	char text[4] = { digits[group >> 18], digits[group >> 12 & 63], digits[group >> 6 & 63],
			 digits[group & 63] };

	for (unsigned i = e->n_waiting + 1; i < 4; i++)
		text[i] = '=';
	fwrite(text, 1, sizeof(text), e->to);
	e->waiting[0] = e->waiting[1] = e->waiting[2] = 0;
	e->n_waiting = 0;
}

static ssize_t encoder_write(void *cookie, const char *bytes, size_t len)
{
	struct encoder *e = cookie;

	for (size_t i = 0; i < len; i++) {
		e->waiting[e->n_waiting++] = (uint8_t)bytes[i];
		if (e->n_waiting == 3)
			base64_put_group(e);
	}
	return ferror(e->to) ? 0 : (ssize_t)len;
}

static int encoder_close(void *cookie)
{
	struct encoder *e = cookie;

	if (e->n_waiting)
		base64_put_group(e);
	int status = ferror(e->to) ? EOF : 0;
	free(e);
	return status;
}

FILE *base64_stream(FILE *to)
{
	const cookie_io_functions_t functions = { .write = encoder_write, .close = encoder_close };
	struct encoder *e = alloc_zero(1, sizeof(*e));

	e->to = to;
	return fopencookie(e, "w", functions);
}
