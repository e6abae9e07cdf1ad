/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/names.h"

#include <string.h>

#include "base/cleanup.h"
#include "symbolize/demangle.h"
#include "symbolize/files/debugfile.h"

#define MAX_ADDRESSES (64u << 20)

const char *names_known_text(enum names_known known)
{
	static const char *const texts[KNOWN_N] = {
		[KNOWN_LIBDWARF_FILES] =
			"libdwarf 20210528 starts a line table of DWARF 5 with file 0, not 1",
		[KNOWN_LIBDW_GAPS] = "libdw 0.188 sorts the last row of a sequence after its end",
		[KNOWN_LIBDW_RELATIVE] =
			"libdw 0.188 omits the compilation directory before a relative directory",
		[KNOWN_SUPPLEMENTARY] = "this version loses or misreads data in a file made by dwz -5",
	};

	return texts[known];
}

/* ---- which addresses ---------------------------------------------------------------------------- */

static void names_sample(struct functions *functions, uint64_t every, struct names_report *ret)
{
	const struct isa *isa = functions->isa;

	for (size_t i = 0; i < functions->n; i++) {
		const struct function *f = &functions->at[i];
		if (f->kind == FUNCTION_STUB || f->kind == FUNCTION_STUB_HEAD)
			continue;
		for (uint64_t at = f->start; at < f->end && ret->vaddrs.n < MAX_ADDRESSES;) {
			struct insn insn;
			uint64_t len = isa->min_insn;
			if (len == 1 && isa->decode(image_code(functions->image, at), at, &insn) == 0)
				len = insn.len;
			if (ret->n_instructions++ % every == 0)
				vec_push(&ret->vaddrs, at);
			at += len;
		}
	}
}

/* ---- one address -------------------------------------------------------------------------------- */

/* Length of a name without the suffixes for clones and pieces of the function. */
static size_t names_base(const char *name)
{
	static const char *const suffixes[] = { ".cold",     ".part",       ".isra", ".constprop",
						".lto_priv", ".localalias", " [." };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *found = strstr(name, suffixes[i]);
		if (found && found > name && (size_t)(found - name) < len)
			len = (size_t)(found - name);
	}
	return len;
}

static bool names_equal(const char *a, const char *b)
{
	size_t len = names_base(a);

	return len == names_base(b) && memcmp(a, b, len) == 0;
}

/* Is it one of the names that the symbol table has for the function at vaddr? */
static bool names_is_alias(const struct symbols *symbols, uint64_t vaddr, const char *name)
{
	const struct symbol *best = symbols_find(symbols, vaddr);

	for (const struct symbol *s = best; s && s < symbols->at + symbols->n && s->vaddr == best->vaddr; s++)
		if (names_equal(s->name, name))
			return true;
	return false;
}

struct names_pair {
	const struct locator *locator;
	const struct symbols *symbols;
	bool is_sup; /* the file has a supplementary file, by DWARF 5 */
	uint64_t vaddr;
	struct location own[LOCATION_MAX_DEPTH];
	size_t n_own;
	const struct testimony *testimony;
	const struct witness_frame *other;
	size_t n_other;
};

/* Our reader adds the function that contains a lambda before its name: DWARF has only "operator()". */
static const char *names_in_lambda(const char *name)
{
	const char *in = name;

	for (const char *at = name; (at = strstr(at, "::{lambda#"));) {
		at = strstr(at, "}::");
		if (!at)
			break;
		in = at += 3;
	}
	return in;
}

static const char *names_own(const struct names_pair *pair, size_t at)
{
	const struct location *own = &pair->own[at];

	return own->linkage ? locator_text(pair->locator, own->linkage)
			    : names_in_lambda(locator_text(pair->locator, own->function));
}

static const char *names_said(const struct names_pair *pair, uint32_t id)
{
	return intern_text(&pair->testimony->strings, id);
}

/* Both libraries add a relative compilation directory to a file name that already contains it. */
static bool names_same_file(const struct names_pair *pair, size_t at)
{
	const char *own = pair->own[at].file ? locator_text(pair->locator, pair->own[at].file) : "";
	const char *said = names_said(pair, pair->other[at].file);
	size_t len = strlen(own), len_said = strlen(said);

	if (strcmp(own, said) == 0)
		return true;
	return len && own[0] != '/' && len_said > len && said[len_said - len - 1] == '/' &&
	       strcmp(said + len_said - len, own) == 0;
}

static bool names_same_chain(const struct names_pair *pair)
{
	if (pair->n_own != pair->n_other)
		return false;
	for (size_t i = 0; i + 1 < pair->n_own; i++) {
		const char *said = names_said(pair, pair->other[i].function);
		if (!names_equal(names_own(pair, i), said[0] ? said : "??") ||
		    pair->own[i + 1].line != pair->other[i + 1].line || !names_same_file(pair, i + 1))
			return false;
	}
	return true;
}

/*
 * For a function with only a plain name in DWARF (in unnamed scopes, Fortran's main program), our reader
 * shows that name or, if the symbol is mangled, the demangled symbol: then the plain name is part of it.
 */
static bool names_same_function(const struct names_pair *pair, const char *said)
{
	const struct location *own = &pair->own[pair->n_own - 1];
	const char *shown = locator_text(pair->locator, own->function),
		   *linkage = names_own(pair, pair->n_own - 1);
	CLEANUP(freep) char *plain = strndup(said, strcspn(said, "<"));

	if (names_equal(linkage, said) || names_equal(shown, said) ||
	    names_is_alias(pair->symbols, pair->vaddr, said))
		return true;
	return demangle_knows(linkage) && !demangle_knows(said) && plain && plain[0] &&
	       strstr(shown, plain) && names_is_alias(pair->symbols, pair->vaddr, linkage);
}

/* Do the two agree? Returns a mask of the differences. */
static unsigned names_compare(const struct names_pair *pair)
{
	const char *said = pair->n_other ? names_said(pair, pair->other[pair->n_other - 1].function) : "";
	unsigned differ = 0;

	if (pair->n_own == 0 || pair->n_other == 0)
		return 1u << NAMES_FUNCTION;
	if (said[0] && !names_same_function(pair, said))
		differ |= 1u << NAMES_FUNCTION;
	if (said[0] && !names_same_chain(pair))
		differ |= 1u << NAMES_CHAIN;
	if (!names_same_file(pair, 0))
		differ |= 1u << NAMES_FILE;
	if (pair->own[0].line != pair->other[0].line)
		differ |= 1u << NAMES_LINE;
	return differ;
}

static bool names_load(struct names_pair *pair, const struct names_result *result, size_t index)
{
	const struct witness_answer *answer = &result->testimony.answers.at[index];

	pair->testimony = &result->testimony;
	pair->other = answer->n ? &result->testimony.frames.at[answer->first] : NULL;
	pair->n_other = answer->n;
	return answer->n > 0;
}

static bool names_same_lines(const struct names_pair *pair)
{
	for (size_t i = 0; i < pair->n_own && i < pair->n_other; i++)
		if (pair->own[i].line != pair->other[i].line)
			return false;
	return pair->n_own == pair->n_other;
}

/* Do the inlined functions have the same names, except for those without a name in the library? */
static bool names_same_functions(const struct names_pair *pair, bool may_lack)
{
	for (size_t i = 0; i + 1 < pair->n_own && i + 1 < pair->n_other; i++) {
		const char *said = names_said(pair, pair->other[i].function);
		if (!names_equal(names_own(pair, i), said) && !(may_lack && !said[0]))
			return false;
	}
	return true;
}

/* Are the files of the calls the same? Only the innermost file is from the line table. */
static bool names_same_call_files(const struct names_pair *pair)
{
	for (size_t i = 1; i < pair->n_own && i < pair->n_other; i++)
		if (!names_same_file(pair, i))
			return false;
	return true;
}

/* If files differ, is the library's a relative path, and a suffix of ours, apart from leading ".."? */
static bool names_lacks_directory(const struct names_pair *pair)
{
	for (size_t i = 0; i < pair->n_own && i < pair->n_other; i++) {
		const char *own = pair->own[i].file ? locator_text(pair->locator, pair->own[i].file) : "";
		const char *said = names_said(pair, pair->other[i].file);
		bool is_whole = said[0] == '/';
		while (strncmp(said, "../", 3) == 0)
			said += 3;
		size_t len = strlen(own), len_said = strlen(said);
		bool is_end = len_said && len_said <= len && strcmp(own + len - len_said, said) == 0 &&
			      (len_said == len || own[len - len_said - 1] == '/');
		if (!names_same_file(pair, i) && (is_whole || !is_end))
			return false;
	}
	return true;
}

static bool names_is_version(const struct names_pair *pair, const char *version)
{
	return strcmp(names_said(pair, pair->testimony->version), version) == 0;
}

static enum names_known names_why(const struct names_pair *pair, enum library_kind kind, unsigned differ)
{
	bool is_old = kind == LIBRARY_LIBDWARF ? names_is_version(pair, "20210528")
					       : names_is_version(pair, "0.188");
	bool is_gap =
		pair->n_own == 1 && !pair->own[0].line && pair->n_other == 1 && !pair->other[0].function;
	bool has_name = !(differ & 1u << NAMES_FUNCTION);

	if (!is_old || !pair->n_own)
		return KNOWN_NOT;
	if (kind == LIBRARY_LIBDW && is_gap)
		return KNOWN_LIBDW_GAPS;
	if (!names_same_lines(pair))
		return KNOWN_NOT;
	if (kind == LIBRARY_LIBDWARF && has_name && names_same_functions(pair, false) &&
	    pair->other[0].is_primary && names_same_call_files(pair))
		return KNOWN_LIBDWARF_FILES;
	if (kind == LIBRARY_LIBDW && has_name && names_same_functions(pair, false) &&
	    names_lacks_directory(pair))
		return KNOWN_LIBDW_RELATIVE;
	if (pair->is_sup && !(differ & 1u << NAMES_FILE) &&
	    (kind == LIBRARY_LIBDW || names_same_functions(pair, true)))
		return KNOWN_SUPPLEMENTARY;
	return KNOWN_NOT;
}

/* ---- all addresses ------------------------------------------------------------------------------ */

static void names_count(struct names_report *report, struct names_pair *pair, enum library_kind kind,
			size_t index, size_t max_examples)
{
	struct names_result *result = &report->by[kind], *other = &report->by[LIBRARY_N - 1 - kind];

	if (!names_load(pair, result, index)) {
		result->n_silent++;
		return;
	}
	unsigned differ = names_compare(pair);
	result->n_compared++;
	result->n_agree += differ == 0;
	if (!differ)
		return;
	enum names_known known = names_why(pair, kind, differ);
	result->known[known]++;
	for (unsigned class = 0; class < NAMES_N; class ++)
		result->differ[class] += differ >> class & 1;
	if (known == KNOWN_NOT && result->examples.n < max_examples)
		vec_push(&result->examples, (struct names_example){ (uint32_t)index, (uint8_t)differ });
	if (other->is_asked && names_load(pair, other, index) && names_compare(pair) == 0)
		result->n_alone++;
}

static void names_ask(const struct debugfile *file, struct names_report *report)
{
	struct witness_question question = { .path = file->debug ? file->debug->path : file->image->path,
					     .alt_path = file->alt_image ? file->alt_image->path : NULL,
					     .vaddrs = report->vaddrs.at,
					     .n = report->vaddrs.n };

	for (int kind = 0; kind < LIBRARY_N; kind++) {
		report->by[kind].is_asked = witness_is_built((enum library_kind)kind);
		witness_ask((enum library_kind)kind, &question, &report->by[kind].testimony);
	}
}

void verify_names(struct functions *functions, const struct names_options *options, struct names_report *ret)
{
	struct image *image = functions->image;
	struct names_pair pair = { 0 };
	struct debugfile file;
	atomic_uint ids = 0;

	*ret = (struct names_report){ 0 };
	names_sample(functions, options->every ? options->every : 1, ret);
	debugfile_open(&file, image, &options->symbols.search, &ids);
	names_ask(&file, ret);
	struct symbols *symbols = symbols_read_with(image, file.debug);
	ret->locator = locator_new(&options->symbols, image, ret->vaddrs.at, ret->vaddrs.n);
	pair.locator = ret->locator;
	pair.symbols = symbols;
	pair.is_sup = file.alt_image && image_section(file.alt_image, ".debug_sup");
	for (size_t i = 0; i < ret->vaddrs.n; i++) {
		pair.vaddr = ret->vaddrs.at[i];
		pair.n_own = locator_find(ret->locator, pair.vaddr, pair.own, LOCATION_MAX_DEPTH);
		for (int kind = 0; kind < LIBRARY_N; kind++)
			if (ret->by[kind].is_asked)
				names_count(ret, &pair, (enum library_kind)kind, i, options->max_examples);
	}
	symbols_free(symbols);
	debugfile_done(&file);
}

void names_report_done(struct names_report *report)
{
	for (int kind = 0; kind < LIBRARY_N; kind++) {
		testimony_done(&report->by[kind].testimony);
		vec_done(&report->by[kind].examples);
	}
	locator_free(report->locator);
	vec_done(&report->vaddrs);
}
