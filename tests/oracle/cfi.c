/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cfi: compares our reading of every unwind entry of a file with readelf's.
 *
 * usage: cfi ELF          exit 0: no difference, 1: differences (the first are printed)
 *
 * readelf prints a table per FDE: a row per address, a column per register that has a rule in any row.
 * At each of its addresses our recipe must be the same, and our rows may not start anywhere else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "binary/cfi/entry_point.h"
#include "recipes/cfi.h"

#define MAX_COLUMNS 128
#define MAX_SHOWN 10
#define LINE 4096

struct oracle {
	struct image *image;
	const struct isa *isa;
	struct frames *frames;
	struct recipes recipes;
	struct recipe_rows rows;  /* of the current FDE */
	uint64_t start, end;      /* of the current FDE; end 0: none */
	int columns[MAX_COLUMNS]; /* register, or -1: one that we do not track */
	size_t n_columns;
	size_t n_seen; /* how many of our rows start at an address of readelf's */
	uint64_t last_loc;
	uint64_t n_fdes, n_rows, n_different;
};

static void differ(struct oracle *o, uint64_t vaddr, const char *theirs, const char *ours)
{
	if (o->n_different++ < MAX_SHOWN)
		printf("0x%" PRIx64 ": readelf says %s, we say %s\n", vaddr, theirs, ours);
}

static int register_named(const struct isa *isa, const char *name)
{
	if (strcmp(name, "ra") == 0)
		return isa->ra;
	for (int i = 0; i < isa->n_regs; i++)
		if (strcmp(isa->reg_names[i], name) == 0)
			return i;
	return -1;
}

/* ---- one cell ------------------------------------------------------------------------------------ */

static void cfa_cell(const struct oracle *o, const struct recipe *recipe, char *ret, size_t size)
{
	if (recipe->cfa_kind == CFA_REG)
		snprintf(ret, size, "%s%+d", o->isa->reg_names[recipe->cfa_reg], recipe->cfa_offset);
	else
		snprintf(ret, size, "exp");
}

/* Only in these tables, readelf calls register 15 r15 on every machine. */
static void name_cell(const struct oracle *o, unsigned reg, const char *theirs, char *ret, size_t size)
{
	snprintf(ret, size, "r%u", reg);
	if (strcmp(theirs, ret) != 0)
		snprintf(ret, size, "%s", o->isa->reg_names[reg]);
}

/* readelf does not distinguish a register without a rule from an undefined one. */
static void rule_cell(const struct oracle *o, const struct recipe *recipe, int reg, const char *theirs,
		      char *ret, size_t size)
{
	const struct rule *rule = recipe_rule(&o->recipes, recipe, (unsigned)reg);
	bool is_kept = reg == o->isa->ra || (o->isa->callee_saved >> reg & 1);

	if (!rule) {
		snprintf(ret, size, "%s", is_kept && strcmp(theirs, "s") == 0 ? "s" : "u");
		return;
	}
	switch ((enum rule_kind)rule->kind) {
	case RULE_SAME:
		snprintf(ret, size, "s");
		break;
	case RULE_UNDEFINED:
		snprintf(ret, size, "u");
		break;
	case RULE_AT_CFA:
		snprintf(ret, size, "c%+d", rule->offset);
		break;
	case RULE_IS_CFA:
		snprintf(ret, size, "v%+d", rule->offset);
		break;
	case RULE_REG:
		name_cell(o, rule->from, theirs, ret, size);
		break;
	case RULE_AT_REG:
	case RULE_AT_EXPR:
		snprintf(ret, size, "exp");
		break;
	case RULE_IS_EXPR:
		snprintf(ret, size, "vexp");
		break;
	}
}

/* ---- lines --------------------------------------------------------------------------------------- */

static void end_fde(struct oracle *o)
{
	if (o->end && o->n_columns && o->n_seen != o->rows.rows.n) {
		char ours[64];
		snprintf(ours, sizeof(ours), "%zu rows", o->rows.rows.n);
		differ(o, o->start, "fewer", ours);
	}
	o->end = 0;
}

/* The entry of _start may also cover the next function: there ours ends earlier. */
static uint64_t begin_entry_point(const struct oracle *o, const struct fde *fde)
{
	uint64_t end = entry_point_end(o->image, o->end);

	return fde->start < end && end < o->end ? end : o->end;
}

static void begin_fde(struct oracle *o, const char *pcs)
{
	struct fde fde;

	end_fde(o);
	if (sscanf(pcs, "%" SCNx64 "..%" SCNx64, &o->start, &o->end) != 2 ||
	    !image_is_code(o->image, o->start)) {
		o->end = 0;
		return;
	}
	vec_clear(&o->rows.rows);
	o->n_seen = o->n_columns = 0;
	o->last_loc = UINT64_MAX;
	o->n_fdes++;
	bool is_found = frames_find(o->frames, o->start, &fde) == 0 && fde.start == o->start;
	if (is_found && o->start == o->image->entry)
		o->end = begin_entry_point(o, &fde);
	if (!is_found || fde.start + fde.size != o->end) {
		differ(o, o->start, "an entry", "none");
		o->end = 0;
		return;
	}
	if (cfi_compile(&fde, o->isa, &o->recipes, &o->rows) < 0)
		differ(o, o->start, "a program", "damaged");
}

static void read_columns(struct oracle *o, char *line)
{
	char *save, *word = strtok_r(line, " \n", &save); /* LOC */

	o->n_columns = 0;
	for (strtok_r(NULL, " \n", &save);
	     (word = strtok_r(NULL, " \n", &save)) && o->n_columns < MAX_COLUMNS;)
		o->columns[o->n_columns++] = register_named(o->isa, word);
	o->n_columns++; /* the CFA, in tables without registers as well */
}

/* A register saved in a register is printed as "r8 (r8)". */
static char *next_cell(char **save)
{
	char *word;

	do
		word = strtok_r(NULL, " \n", save);
	while (word && word[0] == '(');
	return word;
}

static void check_row(struct oracle *o, char *line)
{
	char *save, *word = strtok_r(line, " \n", &save), ours[64];
	uint64_t loc = strtoull(word, NULL, 16);
	uint32_t index = recipe_rows_find(o->rows.rows.at, o->rows.rows.n, loc - o->start);

	if (loc >= o->end)
		return; /* compilers write rows after the last instruction */
	o->n_rows++;
	for (size_t i = 0; i < o->rows.rows.n && loc != o->last_loc; i++)
		o->n_seen += o->rows.rows.at[i].start == loc - o->start;
	o->last_loc = loc;
	word = strtok_r(NULL, " \n", &save);
	if (!word || index == RECIPE_NONE) {
		differ(o, loc, word ? word : "nothing", "no recipe");
		return;
	}
	const struct recipe *recipe = &o->recipes.recipes.at[index];
	if (strstr(save, "c+"))
		return; /* a register saved above the CFA: we correct some of those entries */
	cfa_cell(o, recipe, ours, sizeof(ours));
	if (strcmp(word, ours) != 0)
		differ(o, loc, word, ours);
	for (size_t i = 0; i + 1 < o->n_columns && (word = next_cell(&save)); i++) {
		if (o->columns[i] < 0)
			continue;
		rule_cell(o, recipe, o->columns[i], word, ours, sizeof(ours));
		if (strcmp(word, ours) != 0)
			differ(o, loc, word, ours);
	}
}

static void read_line(struct oracle *o, char *line)
{
	char *pcs = strstr(line, " FDE "), *cie = strstr(line, " CIE ");

	if (strstr(line, "ZERO terminator"))
		return;
	if (pcs && (pcs = strstr(pcs, "pc=")))
		begin_fde(o, pcs + 3);
	else if (cie)
		end_fde(o);
	else if (o->end && strstr(line, "LOC"))
		read_columns(o, line);
	else if (o->end && o->n_columns && strspn(line, "0123456789abcdef") >= 8)
		check_row(o, line);
}

int main(int argc, char **argv)
{
	struct images *images = images_new();
	struct oracle o = { 0 };
	struct diag diag = { 0 };
	struct text command = { 0 };
	char line[LINE];
	image_id id;

	if (argc != 2 || images_open(images, argv[1], &id, &diag) < 0) {
		fprintf(stderr, "usage: cfi ELF (%s %s)\n", diag.what, diag.why);
		return 2;
	}
	o.image = images_get(images, id);
	o.isa = isa_for_machine(o.image->elf_machine);
	o.frames = frames_read(o.image);
	recipes_init(&o.recipes);
	text_printf(&command, "readelf --debug-dump=frames-interp '%s' 2>/dev/null", argv[1]);
	FILE *readelf = popen(command.at, "r");
	while (readelf && fgets(line, sizeof(line), readelf))
		read_line(&o, line);
	end_fde(&o);
	if (readelf)
		pclose(readelf); /* its exit code is ignored: missing debug files make it fail, too */
	printf("%s: %" PRIu64 " entries, %" PRIu64 " rows, %" PRIu64 " differences, %zu recipes\n", argv[1],
	       o.n_fdes, o.n_rows, o.n_different, o.recipes.recipes.n);
	text_done(&command);
	vec_done(&o.rows.rows);
	recipes_done(&o.recipes);
	frames_free(o.frames);
	images_free(images);
	return o.n_different || o.n_fdes == 0;
}
