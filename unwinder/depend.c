/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/depend.h"

#include "unwinder/needs.h"

void depend_done(struct depend *depend)
{
	vec_done(&depend->log.notes);
	vec_done(&depend->words);
}

void depend_begin(struct depend *depend, struct cursor *cursor)
{
	vec_clear(&depend->log.notes);
	vec_clear(&depend->words);
	depend->is_known = false;
	cursor_note_into(cursor, &depend->log);
}

void depend_end(struct depend *depend, const struct isa *isa, struct cursor *cursor, bool is_final)
{
	struct needs needs = { .frame = UINT64_MAX };

	cursor_note_into(cursor, NULL);
	depend->is_known = is_final;
	for (size_t i = depend->log.notes.n; i-- > 0 && depend->is_known;) {
		const struct cursor_note *note = &depend->log.notes.at[i];
		if (!needs_take(&needs, isa, note))
			continue;
		depend->is_known = note->status == MEMORY_OK && note->size == sizeof(uint64_t);
		vec_push(&depend->words, ((struct depend_word){ note->addr, note->value }));
	}
	depend->regs = needs.needed | needs.used | 1ull << isa->sp;
}
