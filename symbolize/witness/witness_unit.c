/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/witness/witness_unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/search.h"
#include "symbolize/dwarf/lines.h"
#include "symbolize/witness/witness_message.h"

#define FLUSH_BYTES 65536

static size_t witness_first_at(const struct witness_question *question, uint64_t vaddr)
{
	return search_first(i, question->n, question->vaddrs[i] >= vaddr);
}

bool witness_wants(const struct witness_session *session, uint64_t start, uint64_t end)
{
	const struct witness_question *question = session->question;
	size_t first = witness_first_at(question, start);

	return first < question->n && question->vaddrs[first] < end;
}

uint32_t witness_path(struct witness_session *session, const char *path)
{
	struct text folded = { 0 };

	text_add(&folded, "", 0);
	lines_add_path(&folded, path);
	uint32_t id = intern_add_n(&session->strings, folded.at, folded.len);
	text_done(&folded);
	return id;
}

void witness_unit_clear(struct witness_unit *unit)
{
	vec_clear(&unit->rows);
	vec_clear(&unit->scopes);
	vec_clear(&unit->ranges);
}

/* ---- what is at an address ------------------------------------------------------------------ */

/* Records that the unit has something at an address. */
static struct witness_found *witness_touch(struct witness_session *session, size_t index)
{
	struct witness_found *found = &session->found[index];

	if (found->scope == SCOPE_NONE && found->row == SCOPE_NONE)
		vec_push(&session->touched, (uint32_t)index);
	return found;
}

/* The row at each address. Sequences that start at 0 belong to functions that the linker removed. */
static void witness_place_rows(struct witness_session *session, const struct witness_unit *unit)
{
	const struct witness_question *question = session->question;
	bool is_start = true, is_dead = false;

	for (size_t i = 0; i + 1 < unit->rows.n; i++) {
		const struct witness_row *row = &unit->rows.at[i];
		is_dead = is_start ? row->vaddr == 0 : is_dead;
		is_start = row->is_end;
		if (row->is_end || is_dead)
			continue;
		for (size_t k = witness_first_at(question, row->vaddr);
		     k < question->n && question->vaddrs[k] < row[1].vaddr; k++)
			witness_touch(session, k)->row = (uint32_t)i;
	}
}

/* The innermost scope at each address, the last of several. */
static void witness_place_scopes(struct witness_session *session, const struct witness_unit *unit)
{
	const struct witness_question *question = session->question;

	for (size_t i = 0; i < unit->ranges.n; i++) {
		const struct witness_range *range = &unit->ranges.at[i];
		uint32_t depth = unit->scopes.at[range->scope].depth;
		if (range->start == 0)
			continue;
		for (size_t k = witness_first_at(question, range->start);
		     k < question->n && question->vaddrs[k] < range->end; k++) {
			struct witness_found *found = witness_touch(session, k);
			if (found->scope == SCOPE_NONE || unit->scopes.at[found->scope].depth <= depth)
				found->scope = range->scope;
		}
	}
}

/* ---- sending ---------------------------------------------------------------------------------- */

static void witness_flush(struct witness_session *session)
{
	for (size_t done = 0; done < session->out.len;) {
		ssize_t n = write(session->fd, session->out.at + done, session->out.len - done);
		if (n <= 0)
			_exit(1); /* the reader is gone */
		done += (size_t)n;
	}
	writer_clear(&session->out);
}

/* Strings that the other side does not have yet are sent first. */
static void witness_send_strings(struct witness_session *session)
{
	for (; session->n_sent < session->strings.strings.n; session->n_sent++) {
		uint32_t len = session->strings.lengths.at[session->n_sent];
		write_u8(&session->out, MESSAGE_STRING);
		write_u32(&session->out, len);
		write_bytes(
			&session->out,
			(struct bytes){ (const uint8_t *)session->strings.strings.at[session->n_sent], len });
	}
}

static void witness_send(struct witness_session *session, size_t index, const struct witness_frame *frames,
			 uint32_t n)
{
	witness_send_strings(session);
	write_u8(&session->out, MESSAGE_ANSWER);
	write_u32(&session->out, (uint32_t)index);
	write_u32(&session->out, n);
	for (uint32_t i = 0; i < n; i++) {
		write_u32(&session->out, frames[i].function);
		write_u32(&session->out, frames[i].file);
		write_u32(&session->out, frames[i].line);
		write_u8(&session->out, frames[i].is_inlined);
		write_u8(&session->out, frames[i].is_primary);
	}
}

void witness_send_version(struct witness_session *session, const char *version)
{
	uint32_t id = intern_add(&session->strings, version ? version : "");

	witness_send_strings(session);
	write_u8(&session->out, MESSAGE_VERSION);
	write_u32(&session->out, id);
	witness_flush(session);
}

static void witness_answer(struct witness_session *session, const struct witness_unit *unit, size_t index,
			   const struct witness_found *found)
{
	struct witness_frame frames[WITNESS_MAX_DEPTH] = { 0 };
	struct witness_frame here = { 0 };
	uint32_t n = 0, scope = found->scope;

	if (found->row != SCOPE_NONE)
		here = (struct witness_frame){ .file = unit->rows.at[found->row].file,
					       .line = unit->rows.at[found->row].line,
					       .is_primary = unit->rows.at[found->row].is_primary };
	for (bool is_inlined = true; is_inlined && scope != SCOPE_NONE && n < WITNESS_MAX_DEPTH; n++) {
		const struct witness_scope *at = &unit->scopes.at[scope];
		here.function = session->name(session->context, at->entry);
		here.is_inlined = is_inlined = at->is_inlined;
		frames[n] = here;
		here = (struct witness_frame){ .file = at->call_file, .line = at->call_line };
		scope = at->parent;
	}
	if (n == 0)
		frames[n++] = here;
	witness_send(session, index, frames, n);
}

void witness_answer_unit(struct witness_session *session, const struct witness_unit *unit)
{
	const struct witness_question *question = session->question;
	const struct witness_found nothing = { SCOPE_NONE, SCOPE_NONE };

	if (!session->found) {
		session->found = alloc_zero(question->n, sizeof(*session->found));
		for (size_t i = 0; i < question->n; i++)
			session->found[i] = nothing;
	}
	witness_place_rows(session, unit);
	witness_place_scopes(session, unit);
	for (size_t i = 0; i < session->touched.n; i++) {
		uint32_t index = session->touched.at[i];
		witness_answer(session, unit, index, &session->found[index]);
		session->found[index] = nothing;
		if (session->out.len >= FLUSH_BYTES)
			witness_flush(session);
	}
	vec_clear(&session->touched);
	witness_flush(session);
}
