/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_decode: instructions per second through isa->decode, in a linear sweep of an ELF file's code.
 * usage: micro_decode ELF [ROUNDS]
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "binary/elf/image.h"
#include "binary/isa/isa.h"

struct tally {
	uint64_t insns, bytes, bad, effects;
};

/* Bytes that do not decode are data in the text: continue where the next instruction could start. */
static void sweep(const struct isa *isa, struct bytes code, uint64_t vaddr, struct tally *tally)
{
	for (size_t at = 0; at < code.len;) {
		struct insn insn;

		if (isa->decode(bytes_from(code, at), vaddr + at, &insn) < 0) {
			tally->bad++;
			at += isa->min_insn;
			continue;
		}
		tally->insns++;
		tally->effects += insn.n_effects;
		at += insn.len;
	}
	tally->bytes += code.len;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void sweep_image(const struct isa *isa, const struct image *image, struct tally *tally)
{
	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *section = &image->sections[i];

		if (section->type == SHT_PROGBITS && section->flags & SHF_EXECINSTR)
			sweep(isa, bytes_slice(image_code(image, section->vaddr), 0, section->size),
			      section->vaddr, tally);
	}
}

int main(int argc, char **argv)
{
	struct diag diag = { 0 };
	struct images *images = images_new();
	image_id id;

	if (argc < 2) {
		fprintf(stderr, "usage: micro_decode ELF [ROUNDS]\n");
		return 2;
	}
	if (images_open(images, argv[1], &id, &diag) < 0) {
		fprintf(stderr, "micro_decode: %s: %s\n", diag.what, diag.why);
		return 1;
	}

	const struct image *image = images_get(images, id);
	const struct isa *isa = isa_for_machine(image->elf_machine);

	if (!isa) {
		fprintf(stderr, "micro_decode: '%s' has an unsupported architecture\n", argv[1]);
		return 1;
	}
	for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 3); round++) {
		struct tally tally = { 0 };
		double start = seconds();

		sweep_image(isa, image, &tally);

		double took = seconds() - start;

		printf("%s: %llu instructions, %llu bytes, %llu effects, %llu undecodable, %.3f s, %.2f "
		       "M/s\n",
		       isa->name, (unsigned long long)tally.insns, (unsigned long long)tally.bytes,
		       (unsigned long long)tally.effects, (unsigned long long)tally.bad, took,
		       (double)tally.insns / took / 1e6);
	}
	images_free(images);
	return 0;
}
