/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_libdw: the only file that uses libdw (elfutils).
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <unistd.h>

#include "symbolize/witness/witness_unit.h"

#define MAX_DEPTH 512

/*
 * The library is loaded by the child process that uses it: libdwarf and libdw have functions of the same
 * names, so a program cannot be linked with both.
 */
#define FUNCTIONS(X)             \
	X(dwfl_version)          \
	X(dwarf_attr)            \
	X(dwarf_attr_integrate)  \
	X(dwarf_begin)           \
	X(dwarf_child)           \
	X(dwarf_filesrc)         \
	X(dwarf_formstring)      \
	X(dwarf_formudata)       \
	X(dwarf_get_units)       \
	X(dwarf_getsrcfiles)     \
	X(dwarf_getsrclines)     \
	X(dwarf_lineaddr)        \
	X(dwarf_lineendsequence) \
	X(dwarf_lineno)          \
	X(dwarf_linesrc)         \
	X(dwarf_onesrcline)      \
	X(dwarf_ranges)          \
	X(dwarf_setalt)          \
	X(dwarf_siblingof)       \
	X(dwarf_tag)

#define DECLARE(name) __typeof__(&name) name;
static struct {
	FUNCTIONS(DECLARE)
} libdw;
#undef DECLARE

static bool libdw_load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define LOAD(name)                                     \
	*(void **)&libdw.name = dlsym(library, #name); \
	if (!libdw.name)                               \
		return false;
	FUNCTIONS(LOAD)
#undef LOAD
	return true;
}

struct libdw_walk {
	struct witness_session *session;
	struct witness_unit unit;
	VEC(Dwarf_Die) entries; /* of the scopes */
	Dwarf_Files *files;     /* of the unit; NULL = none */
	size_t n_files;
};

static const char *libdw_text(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return libdw.dwarf_formstring(libdw.dwarf_attr_integrate(die, name, &attribute));
}

static uint32_t libdw_name(void *context, uint64_t entry)
{
	struct libdw_walk *walk = context;
	Dwarf_Die *die = &walk->entries.at[entry];
	const char *name = libdw_text(die, DW_AT_linkage_name);

	name = name ? name : libdw_text(die, DW_AT_MIPS_linkage_name);
	name = name ? name : libdw_text(die, DW_AT_name);
	return name ? intern_add(&walk->session->strings, name) : 0;
}

static uint32_t libdw_file(struct libdw_walk *walk, uint64_t index)
{
	const char *path = walk->files && index < walk->n_files
				   ? libdw.dwarf_filesrc(walk->files, index, NULL, NULL)
				   : NULL;

	return path ? witness_path(walk->session, path) : 0;
}

static uint64_t libdw_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	return libdw.dwarf_formudata(libdw.dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/* Adds a scope if the entry is one and has code. Returns the parent of its children. */
static uint32_t libdw_add_scope(struct libdw_walk *walk, Dwarf_Die *die, uint32_t parent)
{
	int tag = libdw.dwarf_tag(die);
	uint32_t number = (uint32_t)walk->unit.scopes.n;
	Dwarf_Addr base = 0, start = 0, end = 0;
	size_t before = walk->unit.ranges.n;

	if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
		return parent;
	for (ptrdiff_t at = 0; (at = libdw.dwarf_ranges(die, at, &base, &start, &end)) > 0;)
		if (start < end)
			vec_push(&walk->unit.ranges, (struct witness_range){ start, end, number });
	if (walk->unit.ranges.n == before)
		return tag == DW_TAG_subprogram ? SCOPE_NONE : parent;
	struct witness_scope scope = { .parent = parent, .entry = walk->entries.n };
	if (tag == DW_TAG_inlined_subroutine && parent != SCOPE_NONE) {
		scope.is_inlined = true;
		scope.depth = walk->unit.scopes.at[parent].depth + 1;
		scope.call_file = libdw_file(walk, libdw_number(die, DW_AT_call_file));
		scope.call_line = (uint32_t)libdw_number(die, DW_AT_call_line);
	}
	vec_push(&walk->entries, *die);
	vec_push(&walk->unit.scopes, scope);
	return number;
}

static void libdw_walk_children(struct libdw_walk *walk, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || libdw.dwarf_child(die, &child) != 0)
		return;
	do
		libdw_walk_children(walk, &child, libdw_add_scope(walk, &child, parent), depth + 1);
	while (libdw.dwarf_siblingof(&child, &child) == 0);
}

static void libdw_add_rows(struct libdw_walk *walk, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (libdw.dwarf_getsrclines(unit, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = libdw.dwarf_onesrcline(lines, i);
		struct witness_row row = { 0 };
		int number = 0;
		libdw.dwarf_lineaddr(line, &row.vaddr);
		libdw.dwarf_lineendsequence(line, &row.is_end);
		libdw.dwarf_lineno(line, &number);
		row.line = (uint32_t)number;
		const char *path = row.is_end ? NULL : libdw.dwarf_linesrc(line, NULL, NULL);
		row.file = path ? witness_path(walk->session, path) : 0;
		vec_push(&walk->unit.rows, row);
	}
}

/* A unit that does not say what it covers may cover anything. */
static bool libdw_is_wanted(const struct witness_session *session, Dwarf_Die *unit)
{
	Dwarf_Addr base = 0, start = 0, end = 0;
	bool says = false;

	for (ptrdiff_t at = 0; (at = libdw.dwarf_ranges(unit, at, &base, &start, &end)) > 0;) {
		says = true;
		if (witness_wants(session, start, end))
			return true;
	}
	return !says;
}

static void libdw_read_unit(struct libdw_walk *walk, Dwarf_Die *unit, Dwarf_Die *body)
{
	witness_unit_clear(&walk->unit);
	vec_clear(&walk->entries);
	if (libdw.dwarf_getsrcfiles(body, &walk->files, &walk->n_files) != 0 &&
	    libdw.dwarf_getsrcfiles(unit, &walk->files, &walk->n_files) != 0)
		walk->files = NULL;
	libdw_add_rows(walk, unit);
	libdw_walk_children(walk, body, SCOPE_NONE, 0);
	witness_answer_unit(walk->session, &walk->unit);
}

bool witness_libdw_run(struct witness_session *session)
{
	if (!libdw_load())
		return false;
	witness_send_version(session, libdw.dwfl_version(NULL));

	int fd = open(session->question->path, O_RDONLY | O_CLOEXEC);
	const char *alt_path = session->question->alt_path;
	int alt_fd = alt_path ? open(alt_path, O_RDONLY | O_CLOEXEC) : -1;
	Dwarf *dwarf = libdw.dwarf_begin(fd, DWARF_C_READ);
	Dwarf *alt = alt_fd >= 0 ? libdw.dwarf_begin(alt_fd, DWARF_C_READ) : NULL;
	struct libdw_walk walk = { .session = session };
	Dwarf_CU *unit = NULL;
	Dwarf_Die root, split;
	uint8_t type;

	if (!dwarf)
		return false;
	if (alt)
		libdw.dwarf_setalt(dwarf, alt);
	session->name = libdw_name;
	session->context = &walk;
	while (libdw.dwarf_get_units(dwarf, unit, &unit, NULL, &type, &root, &split) == 0) {
		bool is_split = type == DW_UT_skeleton && libdw.dwarf_tag(&split) == DW_TAG_compile_unit;
		if (type != DW_UT_type && libdw.dwarf_tag(&root) != DW_TAG_partial_unit &&
		    libdw_is_wanted(session, &root))
			libdw_read_unit(&walk, &root, is_split ? &split : &root);
	}
	return true;
}
