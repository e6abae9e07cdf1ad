/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isa_dump: prints every AArch64 instruction of an ELF file as decoded by us, one per line, for scripts
 * that compare it with another disassembler:
 *
 *     vaddr word flow target written-registers-mask text
 *
 * `isa_dump --words FILE` reads raw little-endian words instead of an ELF file. With --quiet only the
 * count is printed, to measure the decoder's speed.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"

static uint64_t written(const struct insn *insn)
{
	uint64_t mask = insn->clobbers;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (e->kind == EFFECT_SET || e->kind == EFFECT_AND || e->kind == EFFECT_LOAD)
			mask |= UINT64_C(1) << e->reg;
	}
	return mask;
}

static size_t dump(struct bytes code, uint64_t vaddr, bool is_quiet)
{
	static const char *const flows[] = { "next",          "jump",          "branch", "call",
					     "call-indirect", "jump-indirect", "return", "stop" };
	const struct isa *isa = &isa_aarch64;
	struct insn insn;
	size_t n = 0;

	for (; code.len >= 4; code = bytes_from(code, 4), vaddr += 4, n++) {
		int error = isa->decode(code, vaddr, &insn);
		char text[128];

		if (is_quiet)
			continue;
		isa->format(code, vaddr, text, sizeof(text));
		printf("%" PRIx64 " %02x%02x%02x%02x ", vaddr, code.at[3], code.at[2], code.at[1],
		       code.at[0]);
		if (error)
			printf("bad 0 0 %s\n", text);
		else
			printf("%s %" PRIx64 " %" PRIx64 " %s\n", flows[insn.flow], insn.target,
			       written(&insn), text);
	}
	return n;
}

static size_t dump_image(const char *path, bool is_quiet)
{
	struct images *images = images_new();
	struct diag diag;
	image_id id;
	size_t n = 0;

	if (images_open(images, path, &id, &diag) < 0) {
		fprintf(stderr, "isa_dump: %s: %s\n", diag.what, diag.why);
		images_free(images);
		return 0;
	}
	struct image *image = images_get(images, id);
	for (size_t i = 0; image->elf_machine == EM_AARCH64 && i < image->n_sections; i++)
		if (image->sections[i].flags & SHF_EXECINSTR)
			n += dump(image_section_bytes(image, &image->sections[i]), image->sections[i].vaddr,
				  is_quiet);
	images_free(images);
	return n;
}

static size_t dump_words(const char *path)
{
	CLEANUP(fclosep) FILE *file = fopen(path, "rb");
	uint8_t word[4];
	size_t n = 0;

	for (uint64_t vaddr = 0; file && fread(word, 1, 4, file) == 4; vaddr += 4)
		n += dump((struct bytes){ word, 4 }, vaddr, false);
	return n;
}

int main(int argc, char **argv)
{
	size_t n = 0;

	if (argc == 3 && strcmp(argv[1], "--words") == 0)
		n = dump_words(argv[2]);
	else if (argc == 3 && strcmp(argv[1], "--quiet") == 0)
		n = dump_image(argv[2], true);
	else if (argc == 2)
		n = dump_image(argv[1], false);
	fprintf(stderr, "%zu instructions\n", n);
	return n ? 0 : 1;
}
