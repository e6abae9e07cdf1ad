/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that uses libdwarf, version 20210528. Nothing is freed: the child process that runs this is
 * short-lived. */
#include <dlfcn.h>
#include <fcntl.h>
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "symbolize/witness/witness_unit.h"

#define MAX_DEPTH 512
#define MAX_HOPS 16 /* from an entry to the one that names it */
#define DWO_GROUP 2 /* libdwarf's number for the .dwo sections that are in no group of their own */

/* Loaded by the child process that uses it: libdwarf and libdw have functions of the same names. */
/* clang-format off */
#define FUNCTIONS(X) \
	X(dwarf_package_version) X(dwarf_attr) X(dwarf_child) X(dwarf_dealloc) \
	X(dwarf_dealloc_rnglists_head) X(dwarf_load_rnglists) X(dwarf_get_rnglist_offset_index_value) \
	X(dwarf_dieoffset) X(dwarf_formsdata) X(dwarf_formstring) \
	X(dwarf_formudata) X(dwarf_get_ranges_b) X(dwarf_get_rnglists_entry_fields_a) \
	X(dwarf_global_formref) X(dwarf_highpc_b) X(dwarf_init_b) X(dwarf_line_srcfileno) \
	X(dwarf_lineaddr) X(dwarf_lineendsequence) X(dwarf_lineno) X(dwarf_lowpc) \
	X(dwarf_next_cu_header_d) X(dwarf_offdie_b) X(dwarf_prologue_end_etc) X(dwarf_ranges_dealloc) \
	X(dwarf_rnglists_get_rle_head) X(dwarf_set_tied_dbg) X(dwarf_siblingof_b) X(dwarf_srcfiles) \
	X(dwarf_srclines_b) X(dwarf_srclines_dealloc_b) X(dwarf_srclines_from_linecontext) X(dwarf_tag) \
	X(dwarf_whatform)
/* clang-format on */

#define DECLARE(name) __typeof__(&name) name;
static struct {
	FUNCTIONS(DECLARE)
	Dwarf_Error error; /* not evaluated: what cannot be read is left out */
} libdwarf;

bool witness_libdwarf_load(void)
{
	void *library = dlopen("libdwarf.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return false;
#define LOAD(name)                                        \
	*(void **)&libdwarf.name = dlsym(library, #name); \
	if (!libdwarf.name)                               \
		return false;
	FUNCTIONS(LOAD)
	return true;
#undef LOAD
}

/* A file and the supplementary file that it refers to. */
struct libdwarf_file {
	Dwarf_Debug dwarf, alt; /* alt: NULL = none */
};

struct libdwarf_walk {
	struct witness_session *session;
	struct witness_unit unit;
	struct libdwarf_file file; /* with the skeletons */
	struct libdwarf_file body; /* with the entries of the current unit */
	Dwarf_Debug package;       /* .dwp; NULL = none */
	Dwarf_Debug skeletons;     /* the file a second time, for split units; NULL = there were none yet */
	uint64_t ranges_base;      /* of the skeleton, before DWARF 5 */
	Dwarf_Half version;
	const char *directory;
	VEC(uint32_t) paths; /* string ids by file number */
};

/* The file remains open until the process ends: the library continues to read it. */
static Dwarf_Debug libdwarf_open(int fd, unsigned group)
{
	Dwarf_Debug dwarf = NULL;

	if (fd >= 0)
		libdwarf.dwarf_init_b(fd, DW_DLC_READ, group, NULL, NULL, &dwarf, &libdwarf.error);
	return dwarf;
}

/* ---- attributes --------------------------------------------------------------------------------- */

static Dwarf_Attribute libdwarf_attribute(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute = NULL;

	return libdwarf.dwarf_attr(die, name, &attribute, &libdwarf.error) == DW_DLV_OK ? attribute : NULL;
}

static const char *libdwarf_text(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute = libdwarf_attribute(die, name);
	char *text = NULL;

	return attribute && libdwarf.dwarf_formstring(attribute, &text, &libdwarf.error) == DW_DLV_OK ? text
												      : NULL;
}

/* A number, or an offset of a section. */
static uint64_t libdwarf_number(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute = libdwarf_attribute(die, name);
	Dwarf_Unsigned value = 0;
	Dwarf_Signed negative = 0;
	Dwarf_Off offset = 0;

	if (!attribute)
		return 0;
	if (libdwarf.dwarf_formudata(attribute, &value, &libdwarf.error) == DW_DLV_OK)
		return value;
	if (libdwarf.dwarf_formsdata(attribute, &negative, &libdwarf.error) == DW_DLV_OK)
		return (uint64_t)negative;
	return libdwarf.dwarf_global_formref(attribute, &offset, &libdwarf.error) == DW_DLV_OK ? offset : 0;
}

/* The entry that an attribute refers to, in this file or the supplementary file; NULL if there is none. */
static Dwarf_Die libdwarf_follow(struct libdwarf_file *file, Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute attribute = libdwarf_attribute(die, name);
	Dwarf_Half form = 0;
	Dwarf_Off offset = 0;
	Dwarf_Die found = NULL;

	if (!attribute || libdwarf.dwarf_whatform(attribute, &form, &libdwarf.error) != DW_DLV_OK ||
	    libdwarf.dwarf_global_formref(attribute, &offset, &libdwarf.error) != DW_DLV_OK)
		return NULL;
	if (form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8)
		*file = (struct libdwarf_file){ file->alt, NULL };
	if (!file->dwarf ||
	    libdwarf.dwarf_offdie_b(file->dwarf, offset, 1, &found, &libdwarf.error) != DW_DLV_OK)
		return NULL;
	return found;
}

static uint32_t libdwarf_name(void *context, uint64_t entry)
{
	struct libdwarf_walk *walk = context;
	struct libdwarf_file file = walk->body;
	Dwarf_Die die = NULL;
	const char *name = NULL, *linkage = NULL;

	if (libdwarf.dwarf_offdie_b(file.dwarf, entry, 1, &die, &libdwarf.error) != DW_DLV_OK)
		return 0;
	for (int hop = 0; die && !linkage && hop < MAX_HOPS; hop++) {
		linkage = libdwarf_text(die, DW_AT_linkage_name);
		linkage = linkage ? linkage : libdwarf_text(die, DW_AT_MIPS_linkage_name);
		name = name ? name : libdwarf_text(die, DW_AT_name);
		Dwarf_Die next = libdwarf_follow(&file, die, DW_AT_abstract_origin);
		die = next ? next : libdwarf_follow(&file, die, DW_AT_specification);
	}
	name = linkage ? linkage : name;
	return name ? intern_add(&walk->session->strings, name) : 0;
}

/* ---- address ranges ------------------------------------------------------------------------------ */

typedef VEC(struct witness_range) libdwarf_ranges;

static void libdwarf_add_new_ranges(struct libdwarf_walk *walk, Dwarf_Attribute attribute, Dwarf_Half form,
				    Dwarf_Unsigned offset, libdwarf_ranges *ret)
{
	Dwarf_Rnglists_Head head = NULL;
	Dwarf_Unsigned n = 0, where = 0, n_tables = 0;

	/* The library cannot find the list of a split unit by its number: it is in the only table. */
	if (form == DW_FORM_rnglistx && walk->body.dwarf != walk->file.dwarf &&
	    libdwarf.dwarf_load_rnglists(walk->body.dwarf, &n_tables, &libdwarf.error) == DW_DLV_OK &&
	    n_tables == 1 &&
	    libdwarf.dwarf_get_rnglist_offset_index_value(walk->body.dwarf, 0, offset, &where, &offset,
							  &libdwarf.error) == DW_DLV_OK)
		form = DW_FORM_sec_offset;
	if (libdwarf.dwarf_rnglists_get_rle_head(attribute, form, offset, &head, &n, &where,
						 &libdwarf.error) != DW_DLV_OK)
		return;
	for (Dwarf_Unsigned i = 0; i < n; i++) {
		unsigned length = 0, kind = 0;
		Dwarf_Unsigned raw[2], cooked[2] = { 0 };
		Dwarf_Bool lacks_table = 0;
		if (libdwarf.dwarf_get_rnglists_entry_fields_a(head, i, &length, &kind, &raw[0], &raw[1],
							       &lacks_table, &cooked[0], &cooked[1],
							       &libdwarf.error) != DW_DLV_OK)
			break;
		if (!lacks_table && cooked[0] < cooked[1]) /* bases and end entries have no second value */
			vec_push(ret, (struct witness_range){ cooked[0], cooked[1], 0 });
	}
	libdwarf.dwarf_dealloc_rnglists_head(head);
}

static void libdwarf_add_old_ranges(struct libdwarf_walk *walk, Dwarf_Die die, uint64_t offset, uint64_t base,
				    libdwarf_ranges *ret)
{
	Dwarf_Ranges *ranges = NULL;
	Dwarf_Signed n = 0;
	Dwarf_Unsigned bytes = 0, real = 0;
	Dwarf_Debug dwarf = walk->file.dwarf;

	/* The lists of a split unit are in the file of its skeleton, which has their start. */
	if (walk->body.dwarf != dwarf) {
		offset += walk->ranges_base;
		die = NULL;
	}
	if (libdwarf.dwarf_get_ranges_b(dwarf, offset, die, &real, &ranges, &n, &bytes, &libdwarf.error) !=
	    DW_DLV_OK)
		return;
	for (Dwarf_Signed i = 0; i < n; i++) {
		if (ranges[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = ranges[i].dwr_addr2;
		else if (ranges[i].dwr_type == DW_RANGES_ENTRY && ranges[i].dwr_addr1 < ranges[i].dwr_addr2)
			vec_push(ret, (struct witness_range){ base + ranges[i].dwr_addr1,
							      base + ranges[i].dwr_addr2, 0 });
	}
	libdwarf.dwarf_ranges_dealloc(dwarf, ranges, n);
}

static void libdwarf_add_bounds(Dwarf_Die die, libdwarf_ranges *ret)
{
	Dwarf_Addr low = 0, high = 0;
	Dwarf_Half form = 0;
	enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;

	if (libdwarf.dwarf_lowpc(die, &low, &libdwarf.error) != DW_DLV_OK ||
	    libdwarf.dwarf_highpc_b(die, &high, &form, &class, &libdwarf.error) != DW_DLV_OK)
		return;
	if (class == DW_FORM_CLASS_CONSTANT)
		high += low;
	if (low < high)
		vec_push(ret, (struct witness_range){ low, high, 0 });
}

/* base: low_pc of the unit. */
static void libdwarf_add_ranges(struct libdwarf_walk *walk, Dwarf_Die die, uint64_t base,
				libdwarf_ranges *ret)
{
	Dwarf_Attribute attribute = libdwarf_attribute(die, DW_AT_ranges);
	Dwarf_Half form = 0;

	vec_clear(ret);
	if (!attribute) {
		libdwarf_add_bounds(die, ret);
		return;
	}
	if (libdwarf.dwarf_whatform(attribute, &form, &libdwarf.error) != DW_DLV_OK)
		return;
	uint64_t offset = libdwarf_number(die, DW_AT_ranges);
	if (walk->version >= 5)
		libdwarf_add_new_ranges(walk, attribute, form, offset, ret);
	else
		libdwarf_add_old_ranges(walk, die, offset, base, ret);
}

/* ---- lines ------------------------------------------------------------------------------------- */

/* Paths by file number, which counts from 0 in DWARF 5 and from 1 before. */
static bool libdwarf_read_paths(struct libdwarf_walk *walk, Dwarf_Die unit)
{
	char **names = NULL;
	Dwarf_Signed n = 0;

	vec_clear(&walk->paths);
	if (libdwarf.dwarf_srcfiles(unit, &names, &n, &libdwarf.error) != DW_DLV_OK)
		return false;
	if (walk->version < 5)
		vec_push(&walk->paths, 0);
	for (Dwarf_Signed i = 0; i < n; i++)
		vec_push(&walk->paths, witness_path(walk->session, names[i]));
	return true;
}

static uint32_t libdwarf_path(const struct libdwarf_walk *walk, uint64_t number)
{
	return number < walk->paths.n ? walk->paths.at[number] : 0;
}

/* This version also takes most rows at which an epilogue begins for the end of a sequence. */
static bool libdwarf_is_end(Dwarf_Line line)
{
	Dwarf_Bool is_end = 0, is_body = 0, is_epilogue = 0;
	Dwarf_Unsigned isa, discriminator;

	libdwarf.dwarf_lineendsequence(line, &is_end, &libdwarf.error);
	libdwarf.dwarf_prologue_end_etc(line, &is_body, &is_epilogue, &isa, &discriminator, &libdwarf.error);
	return is_end && !is_epilogue;
}

static void libdwarf_read_rows(struct libdwarf_walk *walk, Dwarf_Die unit)
{
	Dwarf_Line_Context context = NULL;
	Dwarf_Unsigned version = 0;
	Dwarf_Small n_tables = 0;
	Dwarf_Line *lines = NULL;
	Dwarf_Signed n = 0;

	if (libdwarf.dwarf_srclines_b(unit, &version, &n_tables, &context, &libdwarf.error) != DW_DLV_OK ||
	    libdwarf.dwarf_srclines_from_linecontext(context, &lines, &n, &libdwarf.error) != DW_DLV_OK)
		return;
	for (Dwarf_Signed i = 0; i < n; i++) {
		Dwarf_Unsigned line = 0, file = 0;
		Dwarf_Addr vaddr = 0;
		libdwarf.dwarf_lineaddr(lines[i], &vaddr, &libdwarf.error);
		libdwarf.dwarf_lineno(lines[i], &line, &libdwarf.error);
		libdwarf.dwarf_line_srcfileno(lines[i], &file, &libdwarf.error);
		vec_push(&walk->unit.rows,
			 (struct witness_row){ vaddr, libdwarf_path(walk, file), (uint32_t)line,
					       libdwarf_is_end(lines[i]), file == 0 && walk->version >= 5 });
	}
	libdwarf.dwarf_srclines_dealloc_b(context);
}

/* ---- entries ------------------------------------------------------------------------------------ */

static uint32_t libdwarf_add_scope(struct libdwarf_walk *walk, Dwarf_Die die, uint64_t base, uint32_t parent,
				   libdwarf_ranges *scratch)
{
	Dwarf_Half tag = 0;
	Dwarf_Off offset = 0;
	uint32_t number = (uint32_t)walk->unit.scopes.n;

	if (libdwarf.dwarf_tag(die, &tag, &libdwarf.error) != DW_DLV_OK ||
	    (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine))
		return parent;
	libdwarf_add_ranges(walk, die, base, scratch);
	if (scratch->n == 0 || libdwarf.dwarf_dieoffset(die, &offset, &libdwarf.error) != DW_DLV_OK)
		return tag == DW_TAG_subprogram ? SCOPE_NONE : parent;
	for (size_t i = 0; i < scratch->n; i++)
		vec_push(&walk->unit.ranges,
			 (struct witness_range){ scratch->at[i].start, scratch->at[i].end, number });
	struct witness_scope scope = { .parent = parent, .entry = offset };
	if (tag == DW_TAG_inlined_subroutine && parent != SCOPE_NONE) {
		scope.is_inlined = true;
		scope.depth = walk->unit.scopes.at[parent].depth + 1;
		scope.call_file = libdwarf_path(walk, libdwarf_number(die, DW_AT_call_file));
		scope.call_line = (uint32_t)libdwarf_number(die, DW_AT_call_line);
	}
	vec_push(&walk->unit.scopes, scope);
	return number;
}

static void libdwarf_walk_children(struct libdwarf_walk *walk, Dwarf_Die die, uint64_t base, uint32_t parent,
				   libdwarf_ranges *scratch, unsigned depth)
{
	Dwarf_Die child = NULL, next = NULL;

	if (depth == MAX_DEPTH || libdwarf.dwarf_child(die, &child, &libdwarf.error) != DW_DLV_OK)
		return;
	for (;;) {
		uint32_t scope = libdwarf_add_scope(walk, child, base, parent, scratch);
		libdwarf_walk_children(walk, child, base, scope, scratch, depth + 1);
		int more = libdwarf.dwarf_siblingof_b(walk->body.dwarf, child, 1, &next, &libdwarf.error);
		libdwarf.dwarf_dealloc(walk->body.dwarf, child, DW_DLA_DIE);
		if (more != DW_DLV_OK)
			return;
		child = next;
	}
}

/* ---- units --------------------------------------------------------------------------------------- */

/* The next unit of a file: its root, or NULL after the last. */
static Dwarf_Die libdwarf_next_unit(Dwarf_Debug dwarf, Dwarf_Half *ret_version, Dwarf_Half *ret_type,
				    Dwarf_Sig8 *ret_id)
{
	Dwarf_Unsigned length, type_offset, next;
	Dwarf_Off abbrevs;
	Dwarf_Half address_size, length_size, extension_size;
	Dwarf_Die root = NULL;

	memset(ret_id, 0, sizeof(*ret_id));
	if (libdwarf.dwarf_next_cu_header_d(dwarf, 1, &length, ret_version, &abbrevs, &address_size,
					    &length_size, &extension_size, ret_id, &type_offset, &next,
					    ret_type, &libdwarf.error) != DW_DLV_OK)
		return NULL;
	return libdwarf.dwarf_siblingof_b(dwarf, NULL, 1, &root, &libdwarf.error) == DW_DLV_OK ? root : NULL;
}

/* The id of a split unit: in the header of DWARF 5, in the root entry before. */
static uint64_t libdwarf_split_id(Dwarf_Die root, const Dwarf_Sig8 *id)
{
	uint64_t value = 0;

	memcpy(&value, id, sizeof(value));
	return value ? value : libdwarf_number(root, DW_AT_GNU_dwo_id);
}

/* The unit with that id. The whole file is iterated, so that the next search starts at its beginning. */
static Dwarf_Die libdwarf_find_unit(Dwarf_Debug dwarf, uint64_t id)
{
	Dwarf_Die found = NULL, root;
	Dwarf_Half version, type;
	Dwarf_Sig8 own;

	while ((root = libdwarf_next_unit(dwarf, &version, &type, &own)))
		if (!found && type != DW_UT_split_type && type != DW_UT_type &&
		    libdwarf_split_id(root, &own) == id)
			found = root;
	return found;
}

/*
 * A file of split units, whose addresses are in the file of their skeletons. It gets a separate handle for
 * that: libdwarf searches for a skeleton only after the current unit of the handle.
 */
static Dwarf_Debug libdwarf_open_split(struct libdwarf_walk *walk, const char *path, unsigned group)
{
	Dwarf_Debug dwarf = libdwarf_open(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), group);

	if (dwarf && !walk->skeletons)
		walk->skeletons = libdwarf_open(walk->session->files[0], DW_GROUPNUMBER_ANY);
	if (dwarf && walk->skeletons)
		libdwarf.dwarf_set_tied_dbg(dwarf, walk->skeletons, &libdwarf.error);
	return dwarf;
}

/* The root of the entries that belong to a skeleton; the skeleton itself if it has them or they are not
 * found. */
static Dwarf_Die libdwarf_find_body(struct libdwarf_walk *walk, Dwarf_Die root, const Dwarf_Sig8 *id)
{
	const char *name = libdwarf_text(root, DW_AT_dwo_name);

	walk->body = walk->file;
	name = name ? name : libdwarf_text(root, DW_AT_GNU_dwo_name);
	if (!name)
		return root;
	Dwarf_Debug dwarf = walk->package;
	Dwarf_Die found = dwarf ? libdwarf_find_unit(dwarf, libdwarf_split_id(root, id)) : NULL;
	if (!found) {
		char *path = name[0] == '/' ? alloc_text(name) : alloc_printf("%s/%s", walk->directory, name);
		dwarf = libdwarf_open_split(walk, path, DWO_GROUP);
		found = dwarf ? libdwarf_find_unit(dwarf, libdwarf_split_id(root, id)) : NULL;
	}
	if (!found)
		return root;
	walk->body = (struct libdwarf_file){ dwarf, NULL };
	return found;
}

/* A unit that does not say what it covers may cover anything. */
static bool libdwarf_is_wanted(struct libdwarf_walk *walk, Dwarf_Die root, uint64_t base,
			       libdwarf_ranges *scratch)
{
	walk->body = walk->file;
	libdwarf_add_ranges(walk, root, base, scratch);
	for (size_t i = 0; i < scratch->n; i++)
		if (witness_wants(walk->session, scratch->at[i].start, scratch->at[i].end))
			return true;
	return scratch->n == 0;
}

static void libdwarf_read_unit(struct libdwarf_walk *walk, Dwarf_Die root, const Dwarf_Sig8 *id,
			       libdwarf_ranges *scratch)
{
	const char *directory = libdwarf_text(root, DW_AT_comp_dir);
	Dwarf_Addr base = 0;
	Dwarf_Half tag = 0;

	if (libdwarf.dwarf_tag(root, &tag, &libdwarf.error) != DW_DLV_OK || tag == DW_TAG_partial_unit)
		return;
	libdwarf.dwarf_lowpc(root, &base, &libdwarf.error);
	if (!libdwarf_is_wanted(walk, root, base, scratch))
		return;
	witness_unit_clear(&walk->unit);
	walk->directory = directory ? directory : "";
	walk->ranges_base = libdwarf_number(root, DW_AT_GNU_ranges_base);
	libdwarf_read_paths(walk, root);
	libdwarf_read_rows(walk, root);
	Dwarf_Die body = libdwarf_find_body(walk, root, id);
	if (body != root && !libdwarf_read_paths(walk, body))
		libdwarf_read_paths(walk, root);
	libdwarf_walk_children(walk, body, base, SCOPE_NONE, scratch, 0);
	witness_answer_unit(walk->session, &walk->unit);
}

bool witness_libdwarf_run(struct witness_session *session)
{
	struct libdwarf_walk walk = { .session = session };
	const struct witness_question *question = session->question;
	char *package = alloc_printf("%s.dwp", question->path);
	libdwarf_ranges scratch = { 0 };
	Dwarf_Half type;
	Dwarf_Sig8 id;
	Dwarf_Die root;

	if (!witness_libdwarf_load())
		return false;
	witness_send_version(session, libdwarf.dwarf_package_version());
	walk.file.dwarf = libdwarf_open(session->files[0], DW_GROUPNUMBER_ANY);
	if (!walk.file.dwarf)
		return false;
	walk.package = libdwarf_open_split(&walk, package, DW_GROUPNUMBER_ANY);
	if (question->alt_path)
		walk.file.alt = libdwarf_open(session->files[1], DW_GROUPNUMBER_ANY);
	if (walk.file.alt)
		libdwarf.dwarf_set_tied_dbg(walk.file.dwarf, walk.file.alt, &libdwarf.error);
	session->name = libdwarf_name;
	session->context = &walk;
	while ((root = libdwarf_next_unit(walk.file.dwarf, &walk.version, &type, &id)))
		if (type == DW_UT_compile || type == DW_UT_skeleton || walk.version < 5)
			libdwarf_read_unit(&walk, root, &id, &scratch);
	return true;
}
