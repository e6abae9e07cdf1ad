/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders: Zydis and XED must give the same struct insn for every instruction of the given files, in a
 * linear sweep of each file's code. Prints a few examples of each kind of difference, and a tally. With -t it
 * only measures the CPU time of each, the minimum of three rounds.
 * usage: decoders [-n MAX | -t] ELF...
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binary/elf/image.h"
#include "binary/isa/x86/x86_operands.h"
#include "tests/unit/binary/show_insn.h"

struct tally {
	uint64_t insns, bad, different;
	uint64_t max_shown;
	bool is_timed;
};

static bool decode(const struct x86_decoder *decoder, struct bytes code, uint64_t vaddr, struct insn *ret)
{
	struct x86_insn x86;

	if (decoder->decode(code, vaddr, &x86) < 0)
		return false;
	x86_reduce(&x86, ret);
	return true;
}

static bool is_same(const struct insn *a, const struct insn *b)
{
	if (a->n_effects != b->n_effects)
		return false;
	for (unsigned i = 0; i < a->n_effects; i++) {
		const struct effect *x = &a->effect[i], *y = &b->effect[i];

		if (x->kind != y->kind || x->reg != y->reg || x->base != y->base || x->index != y->index ||
		    x->shift != y->shift || x->width != y->width || x->is_signed != y->is_signed ||
		    x->is_subtracted != y->is_subtracted || x->index_width != y->index_width ||
		    x->imm != y->imm)
			return false;
	}
	return a->target == b->target && a->slot == b->slot && a->clobbers == b->clobbers &&
	       a->reads == b->reads && a->flow == b->flow && a->len == b->len &&
	       a->condition == b->condition && a->through == b->through && a->is_padding == b->is_padding &&
	       a->is_entry_mark == b->is_entry_mark && a->is_syscall == b->is_syscall &&
	       a->is_address == b->is_address && a->writes_flags == b->writes_flags;
}

static void show(const struct x86_decoder *decoder, bool is_valid, const struct insn *insn, struct bytes code,
		 uint64_t vaddr)
{
	char text[128];
	struct line line;

	decoder->format(code, vaddr, text, sizeof text);
	printf("  %-6s %-40s len %d: %s\n", decoder->name, text, is_valid ? insn->len : 0,
	       is_valid ? show_insn(&line, &isa_x86_64, insn) : "invalid");
}

static void show_difference(const struct insn *zydis, bool zydis_valid, const struct insn *xed,
			    bool xed_valid, struct bytes code, uint64_t vaddr)
{
	printf("0x%llx:", (unsigned long long)vaddr);
	for (size_t i = 0; i < X86_MAX_LEN && i < code.len; i++)
		printf(" %02x", code.at[i]);
	putchar('\n');
	show(&x86_zydis, zydis_valid, zydis, code, vaddr);
	show(&x86_xed, xed_valid, xed, code, vaddr);
}

static void sweep(struct bytes code, uint64_t vaddr, struct tally *tally)
{
	for (size_t at = 0; at < code.len;) {
		struct bytes here = bytes_from(code, at);
		struct insn zydis = { 0 }, xed = { 0 };
		bool zydis_valid = decode(&x86_zydis, here, vaddr + at, &zydis);
		bool xed_valid = decode(&x86_xed, here, vaddr + at, &xed);

		if (zydis_valid != xed_valid || (zydis_valid && !is_same(&zydis, &xed))) {
			if (tally->different++ < tally->max_shown)
				show_difference(&zydis, zydis_valid, &xed, xed_valid, here, vaddr + at);
		}
		tally->insns += zydis_valid;
		tally->bad += !zydis_valid;
		at += zydis_valid ? zydis.len : 1;
	}
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void time_one(const struct x86_decoder *decoder, struct bytes code, uint64_t vaddr)
{
	double best = 1e9;

	for (int round = 0; round < 3; round++) {
		double start = cpu_seconds();
		struct insn insn;
		for (size_t at = 0; at < code.len;)
			at += decode(decoder, bytes_from(code, at), vaddr + at, &insn) ? insn.len : 1;
		double took = cpu_seconds() - start;
		best = took < best ? took : best;
	}
	printf("%s %.2f s\n", decoder->name, best);
}

static void sweep_section(struct bytes code, uint64_t vaddr, struct tally *tally)
{
	if (!tally->is_timed) {
		sweep(code, vaddr, tally);
		return;
	}
	tally->insns++;
	if (code.len < 1 << 20) /* skip PLT stubs and other small sections */
		return;
	time_one(&x86_zydis, code, vaddr);
	time_one(&x86_xed, code, vaddr);
}

static bool sweep_file(const char *path, struct tally *tally)
{
	struct images *images = images_new();
	struct diag diag = { 0 };
	image_id id;

	if (images_open(images, path, &id, &diag) < 0) {
		printf("%s: %s\n", diag.what, diag.why);
		images_free(images);
		return false;
	}

	const struct image *image = images_get(images, id);

	for (size_t i = 0; i < image->n_sections; i++) {
		const struct section *section = &image->sections[i];

		if (section->type == SHT_PROGBITS && section->flags & SHF_EXECINSTR)
			sweep_section(bytes_slice(image->file, section->offset, section->size),
				      section->vaddr, tally);
	}
	images_free(images);
	return true;
}

int main(int argc, char **argv)
{
	struct tally total = { .max_shown = 20 };
	bool is_read = true;
	int first = 1;

	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		total.max_shown = strtoull(argv[2], NULL, 10);
		first = 3;
	} else if (argc > 1 && strcmp(argv[1], "-t") == 0) {
		total.is_timed = true;
		first = 2;
	}
	for (int i = first; i < argc; i++) {
		struct tally tally = { .max_shown = total.max_shown, .is_timed = total.is_timed };

		is_read = sweep_file(argv[i], &tally) && is_read;
		if (!total.is_timed)
			printf("%s: %llu instructions, %llu undecodable, %llu different\n", argv[i],
			       (unsigned long long)tally.insns, (unsigned long long)tally.bad,
			       (unsigned long long)tally.different);
		total.insns += tally.insns;
		total.different += tally.different;
	}
	return is_read && total.insns > 0 && total.different == 0 ? 0 : 1;
}
