/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dwarf_abbrev: the table of entry shapes that a unit uses.
 *
 * Most entries of a debug file are types and variables, which are only skipped. So each shape has a short
 * list of skip steps, in which attributes of fixed size are combined.
 */
#include <stdlib.h>

#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_names.h"

#define MAX_ABBREVS (1u << 20)
#define MAX_SPECS (8u << 20)
#define MAX_SPECS_EACH 512 /* compilers use fewer than 40; each entry of this shape costs that much time */

static void add_step(struct abbrevs *abbrevs, struct abbrev *abbrev, uint32_t *bytes, uint16_t form)
{
	while (*bytes > UINT16_MAX) {
		vec_push(&abbrevs->steps, (struct skip_step){ 0, UINT16_MAX });
		*bytes -= UINT16_MAX;
		abbrev->n_steps++;
	}
	vec_push(&abbrevs->steps, (struct skip_step){ form, (uint16_t)*bytes });
	abbrev->n_steps++;
	*bytes = 0;
}

static void read_specs(struct abbrevs *abbrevs, struct abbrev *abbrev, const struct unit *unit,
		       struct reader *r)
{
	uint32_t bytes = 0;

	while (!r->failed && abbrevs->specs.n < MAX_SPECS) {
		uint64_t name = read_uleb(r), form = read_uleb(r);
		int64_t constant = form == DW_FORM_implicit_const ? read_sleb(r) : 0;
		if (name == 0 && form == 0)
			break;
		if (name > UINT16_MAX || form > UINT16_MAX || form == 0 ||
		    abbrev->n_specs == MAX_SPECS_EACH) {
			reader_fail(r);
			break;
		}
		vec_push(&abbrevs->specs,
			 (struct attribute_spec){ (uint16_t)name, (uint16_t)form, constant });
		abbrev->n_specs++;

		int size = form_size(unit, (uint16_t)form);
		if (size < 0)
			add_step(abbrevs, abbrev, &bytes, (uint16_t)form);
		else
			bytes += (uint32_t)size;
	}
	if (bytes)
		add_step(abbrevs, abbrev, &bytes, 0);
}

static int abbrev_compare(const void *left, const void *right)
{
	const struct abbrev *a = left, *b = right;

	return a->code < b->code ? -1 : a->code > b->code;
}

void abbrevs_read(const struct unit *unit, struct abbrevs *ret)
{
	struct reader r = reader_of(bytes_from(unit->dwarf->section[DWARF_ABBREV], unit->abbrev_offset));

	*ret = (struct abbrevs){ .is_dense = true };
	while (!r.failed && ret->list.n < MAX_ABBREVS) {
		struct abbrev abbrev = { .code = read_uleb(&r) };
		if (abbrev.code == 0)
			break;
		uint64_t tag = read_uleb(&r);
		abbrev.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
		abbrev.has_children = read_u8(&r) != 0;
		abbrev.first_spec = (uint32_t)ret->specs.n;
		abbrev.first_step = (uint32_t)ret->steps.n;
		read_specs(ret, &abbrev, unit, &r);
		if (r.failed)
			break;
		vec_push(&ret->list, abbrev);
		ret->is_dense = ret->is_dense && abbrev.code == ret->list.n;
	}
	if (!ret->is_dense && ret->list.n)
		qsort(ret->list.at, ret->list.n, sizeof(*ret->list.at), abbrev_compare);
}

void abbrevs_done(struct abbrevs *abbrevs)
{
	vec_done(&abbrevs->list);
	vec_done(&abbrevs->specs);
	vec_done(&abbrevs->steps);
}

const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code)
{
	if (abbrevs->is_dense)
		return code - 1 < abbrevs->list.n ? &abbrevs->list.at[code - 1] : NULL;

	struct abbrev key = { .code = code };
	return abbrevs->list.n ? bsearch(&key, abbrevs->list.at, abbrevs->list.n, sizeof(key), abbrev_compare)
			       : NULL;
}

void abbrev_skip(const struct abbrevs *abbrevs, const struct abbrev *abbrev, const struct unit *unit,
		 struct reader *r)
{
	for (uint32_t i = 0; i < abbrev->n_steps; i++) {
		const struct skip_step *step = &abbrevs->steps.at[abbrev->first_step + i];
		if (reader_left(r) < step->bytes) {
			reader_fail(r);
			return;
		}
		r->at += step->bytes;
		if (step->form)
			attribute_skip(r, unit, step->form);
	}
}
