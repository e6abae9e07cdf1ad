/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_pack: the index of functions as bytes, for the store.
 *
 * Only names that the analysis uses are kept: of stubs, of functions that never return, of stack probes, of
 * parts. The bytes are not trusted: they are rejected if functions overlap or a name is not terminated.
 */
#include <string.h>

#include "binary/flow/noreturn.h"
#include "binary/functions/function_private.h"

/* Functions follow, then the text. */
struct packed_header {
	uint32_t version, n, n_text, reserved;
};

struct packed_function {
	uint64_t start;
	uint32_t size, name; /* position in the text + 1; 0 = none */
	uint16_t sources;
	uint8_t kind, returns, reserved[4];
};
_Static_assert(sizeof(struct packed_header) == 16 && sizeof(struct packed_function) == 24,
	       "the layout is stored: raise FUNCTION_PACK_VERSION");

/* ---- writing ------------------------------------------------------------------------------- */

/* Nothing was analysed yet, so functions that never return are recognised by name. A function that has a
 * symbol is not a part. */
static bool pack_is_wanted(const struct function *f)
{
	return f->name && (f->kind != FUNCTION_WHOLE || f->returns == RETURNS_NEVER ||
			   !(f->sources & FROM_SYMBOL) || probe_by_name(f->name));
}

static uint32_t pack_put_name(const char *name, struct writer *text)
{
	uint32_t place = (uint32_t)text->len + 1;

	write_bytes(text, (struct bytes){ (const uint8_t *)name, strlen(name) + 1 });
	return place;
}

void functions_pack(const struct functions *functions, struct writer *ret)
{
	struct packed_header header = { .version = FUNCTION_PACK_VERSION, .n = (uint32_t)functions->n };
	struct writer text = { 0 };
	bool is_small = functions->n < UINT32_MAX;

	write_space(ret, sizeof(header));
	for (size_t i = 0; is_small && i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		struct packed_function packed = { .start = f->start,
						  .size = (uint32_t)(f->end - f->start),
						  .name = pack_is_wanted(f) ? pack_put_name(f->name, &text)
									    : 0,
						  .kind = f->kind,
						  .sources = f->sources,
						  .returns = f->returns };
		is_small = f->end - f->start <= UINT32_MAX && text.len < UINT32_MAX / 2;
		write_bytes(ret, (struct bytes){ (const uint8_t *)&packed, sizeof(packed) });
	}
	header.n_text = (uint32_t)text.len;
	memcpy(ret->at, &header, sizeof(header));
	write_bytes(ret, writer_bytes(&text));
	if (!is_small)
		writer_clear(ret);
	writer_done(&text);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* False, and nothing is written, if it is not valid. */
static bool pack_read_function(const struct packed_function *from, struct bytes text, struct function *ret)
{
	bool has_name = from->name && from->name <= text.len;

	if (from->start + from->size < from->start || from->kind > FUNCTION_STUB_HEAD ||
	    from->returns > RETURNS_NEVER || (from->name && !has_name))
		return false;
	*ret = (struct function){ .start = from->start,
				  .end = from->start + from->size,
				  .name = has_name ? (const char *)text.at + from->name - 1 : NULL,
				  .parent = FUNCTION_NONE,
				  .kind = from->kind,
				  .sources = from->sources,
				  .returns = from->returns };
	return true;
}

static bool pack_read_all(struct functions *functions, const struct packed_function *packed, size_t n,
			  struct bytes text)
{
	struct functions_private *p = functions->private;

	vec_reserve(&p->list, n);
	for (; p->list.n < n; p->list.n++) {
		struct function *f = &p->list.at[p->list.n];
		if (!pack_read_function(&packed[p->list.n], text, f) || (p->list.n && f->start < f[-1].end))
			return false;
	}
	functions->at = p->list.at;
	functions->n = p->n_stated = n;
	functions_make_pages(functions);
	return true;
}

struct functions *functions_unpack(struct image *image, const struct frames *frames, struct bytes bytes)
{
	struct reader r = reader_of(bytes);
	struct packed_header header = {
		.version = read_u32(&r), .n = read_u32(&r), .n_text = read_u32(&r), .reserved = read_u32(&r)
	};
	struct bytes list = read_bytes(&r, header.n * sizeof(struct packed_function)),
		     text = read_bytes(&r, header.n_text);
	bool is_whole = header.version == FUNCTION_PACK_VERSION && !r.failed && reader_left(&r) == 0;
	bool ends = !text.len || text.at[text.len - 1] == '\0';
	struct functions *functions = is_whole && ends ? functions_begin(image, frames, NULL) : NULL;

	if (functions && !pack_read_all(functions, (const struct packed_function *)list.at, header.n, text)) {
		functions_free(functions);
		return NULL;
	}
	return functions;
}
