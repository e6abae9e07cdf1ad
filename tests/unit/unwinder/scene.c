/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unwinder/scene.h"

#include "tests/elf_maker.h"

void scene_map(struct scene *s, const struct mapping *mapping)
{
	struct event map = { .kind = EVENT_MAPPING, .pid = PID, .tid = PID, .mapping = *mapping };

	unwinder_event(s->unwinder, &map);
}

struct scene scene_new(const struct scene_program *program, const struct unwinder_options *options)
{
	struct scene s = { .images = images_new(),
			   .event = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID } };
	uint8_t text[TEXT_SIZE];
	struct writer eh = { 0 };
	struct mapping map = {
		.start = program->bias + TEXT, .len = TEXT_SIZE, .bias = program->bias, .is_executable = true
	};

	program->write_text(text);
	program->write_frames(&eh);
	struct elf_part parts[] = { { ".text", TEXT, PF_R | PF_X, { text, sizeof(text) }, 0 },
				    { ".eh_frame", EH, PF_R, writer_bytes(&eh), 0 } };
	elf_image(s.images, "program", program->isa->elf_machine, program->entry, ELF_WITH_SECTIONS, parts,
		  ARRAY_LEN(parts), &map.image);
	writer_done(&eh);
	s.unwinder = unwinder_new(s.images, program->isa, options);
	scene_map(&s, &map);
	return s;
}

void scene_done(struct scene *s)
{
	stack_done(&s->stack);
	unwinder_free(s->unwinder);
	images_free(s->images);
}

void scene_walk(struct scene *s, const uint64_t *words, size_t n)
{
	s->event.sample.stack = (struct bytes){ (const uint8_t *)words, n * sizeof(*words) };
	unwinder_walk(s->unwinder, &s->event, &s->stack);
}
