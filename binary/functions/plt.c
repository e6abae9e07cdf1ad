/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/plt.h"

#include <stdlib.h>
#include <string.h>

#define MAX_STUB_INSNS 8

/* What a stub's few instructions load: constants in registers, and the word one of them came from. */
struct tracker {
	uint64_t constant[REG_MAX], slot[REG_MAX];
	uint64_t known, loaded; /* masks */
};

static void plt_track(struct tracker *t, const struct effect *e)
{
	bool has_base = e->base == REG_NONE || (e->base < REG_MAX && (t->known >> e->base & 1));
	uint64_t address = (e->base < REG_MAX ? t->constant[e->base] : 0) + (uint64_t)e->imm;

	if (e->reg >= REG_MAX || (e->kind != EFFECT_SET && e->kind != EFFECT_LOAD))
		return;
	t->known &= ~(1ull << e->reg);
	t->loaded &= ~(1ull << e->reg);
	if (!has_base || e->index != REG_NONE)
		return;
	if (e->kind == EFFECT_SET) {
		t->constant[e->reg] = address;
		t->known |= 1ull << e->reg;
	} else {
		t->slot[e->reg] = address;
		t->loaded |= 1ull << e->reg;
	}
}

/* The GOT word that the code of a stub jumps through; 0 if it does not. */
static uint64_t plt_slot_of(const struct isa *isa, struct bytes code, uint64_t vaddr)
{
	struct tracker t = { .known = 0 };
	struct insn insn;

	for (unsigned n = 0; n < MAX_STUB_INSNS && isa->decode(code, vaddr, &insn) == 0 && insn.len; n++) {
		if (insn.flow == FLOW_JUMP_INDIRECT && insn.slot)
			return insn.slot;
		if (insn.flow == FLOW_JUMP_INDIRECT)
			return insn.through < REG_MAX && (t.loaded >> insn.through & 1) ? t.slot[insn.through]
											: 0;
		if (insn.flow != FLOW_NEXT)
			return 0;
		for (unsigned k = 0; k < insn.n_effects; k++)
			plt_track(&t, &insn.effect[k]);
		code = bytes_from(code, insn.len);
		vaddr += insn.len;
	}
	return 0;
}

/* The first entry of a lazy PLT pushes something: ordinary stubs do not do so before they jump. */
static bool plt_is_lazy_head(const struct isa *isa, struct bytes code, uint64_t vaddr)
{
	struct insn insn;

	for (unsigned n = 0; n < 2 && isa->decode(code, vaddr, &insn) == 0 && insn.len; n++) {
		for (unsigned k = 0; k < insn.n_effects; k++)
			if (insn.effect[k].kind == EFFECT_PUSH || insn.effect[k].kind == EFFECT_STORE)
				return true;
		code = bytes_from(code, insn.len);
		vaddr += insn.len;
	}
	return false;
}

static const struct plt_section {
	const char *name;
	uint64_t stub_size; /* if the section header does not say */
} plt_sections[] = { { ".plt", 16 }, { ".plt.sec", 16 }, { ".plt.got", 8 }, { ".iplt", 16 } };

/* The stub that starts at `at`; code: of the section. */
static struct plt_stub plt_stub_at(const struct isa *isa, const struct section *section, struct bytes code,
				   uint64_t stub_size, uint64_t at)
{
	uint64_t size =
		section->entry_size >= 8 && section->entry_size <= 64 ? section->entry_size : stub_size;
	uint64_t end = section->vaddr + code.len; /* a header may state any size */
	uint64_t head = isa->call_pushes_ra ? 16 : 32;
	struct bytes rest = bytes_from(code, at - section->vaddr);
	bool is_head =
		at == section->vaddr && strcmp(section->name, ".plt") == 0 && plt_is_lazy_head(isa, rest, at);
	struct plt_stub stub = { .start = at, .end = at + (is_head ? head : size), .is_head = is_head };

	if (stub.end > end)
		stub.end = end;
	stub.slot = is_head ? 0 : plt_slot_of(isa, bytes_slice(rest, 0, stub.end - at), at);
	return stub;
}

static struct bytes plt_code(const struct image *image, const struct section *section)
{
	return bytes_slice(image_code(image, section->vaddr), 0, section->size);
}

static void plt_read_section(struct plt *plt, struct image *image, const struct isa *isa,
			     const struct relocs *relocs, const struct section *section, uint64_t stub_size)
{
	struct bytes code = plt_code(image, section);
	uint64_t end = section->vaddr + code.len;

	for (uint64_t at = section->vaddr; at < end && image_take(image, sizeof(struct plt_stub));) {
		struct plt_stub stub = plt_stub_at(isa, section, code, stub_size, at);
		stub.name = stub.slot ? relocs_slot_name(relocs, stub.slot) : NULL;
		vec_push(&plt->stubs, stub);
		at = stub.end;
	}
}

/* All stubs except the first have the same size. */
static const char *plt_name_in(const struct image *image, const struct isa *isa,
			       const struct section *section, uint64_t stub_size, uint64_t vaddr)
{
	struct bytes code = plt_code(image, section);

	if (vaddr < section->vaddr || vaddr - section->vaddr >= code.len)
		return NULL;
	struct plt_stub first = plt_stub_at(isa, section, code, stub_size, section->vaddr);
	struct plt_stub stub = plt_stub_at(isa, section, code, stub_size, vaddr);
	bool is_start = vaddr == first.start ||
			(vaddr >= first.end && (vaddr - first.end) % (stub.end - stub.start) == 0);
	return is_start && stub.slot ? relocs_find_name(image, stub.slot) : NULL;
}

const char *plt_name_at(const struct image *image, const struct isa *isa, uint64_t vaddr)
{
	for (size_t i = 0; isa->decode && i < ARRAY_LEN(plt_sections); i++) {
		const struct section *section = image_section(image, plt_sections[i].name);
		const char *name =
			section ? plt_name_in(image, isa, section, plt_sections[i].stub_size, vaddr) : NULL;
		if (name)
			return name;
	}
	return NULL;
}

static int plt_compare(const void *left, const void *right)
{
	const struct plt_stub *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

void plt_read(struct plt *plt, struct image *image, const struct isa *isa, const struct relocs *relocs)
{
	memset(plt, 0, sizeof(*plt));
	for (size_t i = 0; i < ARRAY_LEN(plt_sections); i++) {
		const struct section *section = image_section(image, plt_sections[i].name);
		if (section)
			plt_read_section(plt, image, isa, relocs, section, plt_sections[i].stub_size);
	}
	if (plt->stubs.n)
		qsort(plt->stubs.at, plt->stubs.n, sizeof(*plt->stubs.at), plt_compare);
}

void plt_done(struct plt *plt)
{
	vec_done(&plt->stubs);
}
