/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unwinder/walk_scene.h"

#include "tests/frame_maker.h"

static void put(uint8_t *text, uint64_t vaddr, struct bytes code)
{
	memcpy(text + (vaddr - TEXT), code.at, code.len);
}

static void write_text(uint8_t *text)
{
	memset(text, 0x90, TEXT_SIZE);
	put(text, START, PROGRAM(0xe8, 0xbb, 0, 0, 0, 0xf4)); /* call outer; hlt */
	put(text, START - 2, PROGRAM(0xff, 0xd0));            /* call *rax */
	put(text, OUTER,
	    PROGRAM(0x53, 0xe8, 0xfa, 0, 0, 0, 0x5b, 0xc3)); /* push rbx; call leaf; pop rbx; ret */
	put(text, LEAF, PROGRAM(0x53, 0x90, 0x90, 0x90, 0x5b, 0xc3));
	put(text, BARE,
	    PROGRAM(0x55, 0x48, 0x89, 0xe5, 0x90, 0xff, 0xd0, 0xff,
		    0xe0)); /* push rbp; mov; call *rax; jmp *rax */
	put(text, TRAMPOLINE, PROGRAM(0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05));
	put(text, 0x1500, PROGRAM(0xe8, 0xfb, 0xff, 0xff, 0xff, 0xc3)); /* call itself */
	put(text, STUCK, PROGRAM(0xe8, 0, 0, 0, 0, 0xc3));
	put(text, 0x1700,
	    PROGRAM(0xff, 0xd0, 0x89, 0xc7, 0xb8, 60, 0, 0, 0, 0x0f, 0x05)); /* call *rax; exit(rax) */
	put(text, TAIL, PROGRAM(0xe9, 0xfb, 0xf9, 0xff, 0xff));              /* jmp leaf */
	put(text, 0x1900, PROGRAM(0xe8, 0xfb, 0xfe, 0xff, 0xff, 0xc3));      /* call tail */
	put(text, NOWHERE, PROGRAM(0x90, 0x5b, 0xc3));                       /* nop; pop rbx; ret */
	put(text, EXEC - 7, PROGRAM(0xb8, 59, 0, 0, 0, 0x0f, 0x05, 0xc3));   /* execve; ret */
	put(text, VFORK - 1,
	    PROGRAM(0x5f, 0xb8, 58, 0, 0, 0, 0x0f, 0x05, 0x57, 0xc3)); /* pop rdi; vfork; push rdi; ret */
	put(text, SHORT, PROGRAM(0x53, 0x90, 0x5b, 0xc3));
	put(text, 0x1f00, PROGRAM(0x53, 0xe8, 0xfa, 0xfe, 0xff, 0xff, 0x5b, 0xc3)); /* push rbx; call short */
	put(text, PADDED - 1, PROGRAM(0xcc, 0x53, 0x5b, 0xc3, 0xcc)); /* int3; push rbx; pop rbx; ret; int3 */
	put(text, STUB, PROGRAM(0xff, 0x25, 0, 0, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0));
}

static void write_frames(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(eh, EH, cie, LAST, START - LAST, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, START, 0x10, 0, PROGRAM(0x07, 16));
	frame_fde(eh, EH, cie, OUTER, 8, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8));
	frame_fde(eh, EH, cie, LEAF, 6, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x44, 0x0e, 8));
	frame_fde(eh, EH, cie, 0x1500, 6, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, STUCK, 6, 0, PROGRAM(0x0e, 0));
	frame_fde(eh, EH, cie, 0x1700, 0x10, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, TAIL, 5, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, 0x1900, 6, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, EXEC - 7, 8, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, VFORK - 1, 10, 0, PROGRAM(0x41, 0x0e, 0, 0x09, 16, 5, 0x48, 0x0e, 8, 0x90, 1));
	frame_fde(eh, EH, cie, SHORT, 4, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2));
	frame_fde(eh, EH, cie, 0x1f00, 8, 0, PROGRAM(0x41, 0x0e, 16, 0x83, 2, 0x46, 0x0e, 8));
}

struct scene scene_of(const struct unwinder_options *options)
{
	static const struct scene_program program = { &isa_x86_64, START, BIAS, write_text, write_frames };
	struct scene s = scene_new(&program, options);

	scene_map(&s, &(struct mapping){
			      .start = 0x10000, .len = 0x1000, .image = IMAGE_NONE, .is_executable = true });
	s.event.sample.regs.known = 1u << RIP | 1u << RSP | 1u << RBX | 1u << RBP;
	s.event.sample.regs.value[RSP] = SP;
	s.event.sample.regs.value[RBX] = 0xb;
	return s;
}

struct scene scene(void)
{
	return scene_of(&(struct unwinder_options){ .mode = UNWIND_AUTO });
}

void walk(struct scene *s, uint64_t vaddr, const uint64_t *words, size_t n)
{
	s->event.sample.regs.value[RIP] = BIAS + vaddr;
	scene_walk(s, words, n);
}

void remember_rbx(void *context, const struct walk_step *step)
{
	struct seen *seen = context;

	seen->is_known[seen->n] = regs_known(step->regs, RBX);
	seen->rbx[seen->n++] = step->regs->value[RBX];
}
