/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/mca.h"

#include <elf.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/writer.h"
#include "report/cycles/tool.h"

#define NEWEST 40
#define OLDEST 13
#define MODEL_MAX 64
#define REGIONS_MAX 4096
#define INSNS_MAX 100000 /* in all regions */
#define ITERATIONS "200"
#define STORE_VERSION 3
#define PACKAGE "llvm-19"
#define MARK_X86 0x5a5a0000u /* pushed by an instruction between two regions */

struct mca {
	struct mca_options options;
	char *mc, *mca;
	const char *tool; /* in mca */
	char *cpu, *cpu_option;
	char model[MODEL_MAX];
};

const char *mca_tool(const struct mca *mca)
{
	return mca->tool;
}

const char *mca_model(const struct mca *mca)
{
	return mca->model;
}

static const char *mca_triple(const struct mca *mca)
{
	return mca->options.isa->elf_machine == EM_X86_64 ? "-mtriple=x86_64" : "-mtriple=aarch64";
}

/* The same option, as llvm-mc calls it. */
static const char *mca_mc_triple(const struct mca *mca)
{
	return mca->options.isa->elf_machine == EM_X86_64 ? "--triple=x86_64" : "--triple=aarch64";
}

/* ---- the store --------------------------------------------------------------------------------------- */

/* What is asked, and whom: a program that was replaced is another one. */
static struct store_key mca_key(const struct mca *mca, const char *kind, struct bytes question)
{
	struct store_key key = { .kind = kind, .version = STORE_VERSION };
	struct text who = { 0 };
	struct stat file = { 0 };

	stat(mca->mca, &file);
	text_printf(&who, "%s %lld %lld %s", mca->mca, (long long)file.st_size, (long long)file.st_mtime,
		    mca->cpu);
	key.id[0] = hash_bytes((struct bytes){ (const uint8_t *)who.at, who.len });
	key.id[1] = hash_bytes(question);
	text_done(&who);
	return key;
}

/* ---- the model --------------------------------------------------------------------------------------- */

/* The units of a model are called alike at their start; what they are for follows. */
static void mca_model_of(struct bytes output, char ret[MODEL_MAX])
{
	const char *at = (const char *)output.at, *end = at + output.len;
	size_t len = 0;
	bool is_first = true;

	ret[0] = '\0';
	for (const char *line = at; line < end; line = at + 1) {
		at = memchr(line, '\n', (size_t)(end - line));
		at = at ? at : end;
		const char *dash = *line == '[' ? memmem(line, (size_t)(at - line), "- ", 2) : NULL;
		if (!dash && !is_first)
			break; /* behind the list of resources there are other numbers in brackets */
		if (!dash)
			continue;
		size_t n = (size_t)(at - dash) - 2;
		if (is_first)
			len = (size_t)snprintf(ret, MODEL_MAX, "%.*s",
					       (int)(n < MODEL_MAX ? n : MODEL_MAX - 1), dash + 2);
		for (size_t i = 0; i < len; i++)
			if (i >= n || ret[i] != dash[2 + i])
				len = i;
		is_first = false;
	}
	ret[len < MODEL_MAX ? len : MODEL_MAX - 1] = '\0';
	char *unit = strstr(ret, "Unit"), *port = strstr(ret, "Port");
	if (unit)
		*unit = '\0';
	if (port)
		*port = '\0';
}

static int mca_ask_model(const struct mca *mca, const char *cpu, char ret[MODEL_MAX])
{
	CLEANUP(freep) char *option = alloc_printf("-mcpu=%s", cpu);
	const char *args[] = { mca->tool, mca_triple(mca), option, "-instruction-info=0", "-", NULL };
	static const char nop[] = "nop\n";
	struct store_key key = mca_key(mca, "mca-model", (struct bytes){ (const uint8_t *)cpu, strlen(cpu) });
	struct writer output = { 0 };
	struct bytes kept = mca->options.store ? store_get(mca->options.store, &key) : (struct bytes){ 0 };

	if (kept.len && kept.len < MODEL_MAX) {
		snprintf(ret, MODEL_MAX, "%.*s", (int)kept.len, (const char *)kept.at);
		store_release(kept);
		return 0;
	}
	store_release(kept);
	int status = tool_run(mca->mca, args, (struct bytes){ (const uint8_t *)nop, sizeof(nop) - 1 },
			      mca->options.max_ns, &output);
	if (status == 0)
		mca_model_of(writer_bytes(&output), ret);
	if (status == 0 && mca->options.store && ret[0])
		store_put(mca->options.store, &key, (struct bytes){ (const uint8_t *)ret, strlen(ret) });
	writer_done(&output);
	return status > 0 ? -EINVAL : status;
}

/* Every Neoverse was a Cortex-A57 once, which has half as many units. */
static bool mca_is_stand_in(const struct mca *mca)
{
	return strcmp(mca->model, "A57") == 0 && strstr(mca->cpu, "neoverse");
}

static int mca_check_model(struct mca *mca, struct diag *diag)
{
	const char *generic = mca->options.isa->elf_machine == EM_X86_64 ? "x86-64" : "generic";
	char other[MODEL_MAX];
	int error = mca_ask_model(mca, mca->cpu, mca->model);

	if (!error)
		error = mca_ask_model(mca, generic, other);
	if (error) {
		diag_set(diag, error, "%s failed for the processor '%s'", mca->tool, mca->cpu);
		if (error == -ETIME)
			diag_why(diag, "it did not finish within %llu s",
				 (unsigned long long)(mca->options.max_ns / 1000000000u));
		else
			diag_hint(diag, "%s %s -mcpu=help lists those that it knows", mca->tool,
				  mca_triple(mca));
		return error;
	}
	if (mca->model[0] && strcmp(mca->model, other) != 0 && !mca_is_stand_in(mca))
		return 0;
	diag_set(diag, -ENOTSUP, "%s has no model of this processor (%s)", mca->tool, mca->cpu);
	diag_why(diag, "it would use that of %s, a different processor",
		 mca->model[0] ? mca->model : "a generic processor");
	diag_hint(diag, "install a newer one (package " PACKAGE ", or later)");
	return -ENOTSUP;
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static bool mca_find_pair(struct mca *mca, const char *suffix)
{
	CLEANUP(freep) char *mc_name = alloc_printf("llvm-mc%s", suffix);
	CLEANUP(freep) char *mca_name = alloc_printf("llvm-mca%s", suffix);

	free(mca->mc);
	free(mca->mca);
	mca->mc = tool_find(mc_name);
	mca->mca = tool_find(mca_name);
	if (!mca->mc || !mca->mca)
		return false;
	mca->tool = strrchr(mca->mca, '/') + 1;
	return true;
}

static bool mca_find(struct mca *mca)
{
	char suffix[16];

	for (int version = NEWEST; version >= OLDEST; version--) {
		snprintf(suffix, sizeof(suffix), "-%d", version);
		if (mca_find_pair(mca, suffix))
			return true;
	}
	return mca_find_pair(mca, "");
}

static void mca_closep(struct mca **mca)
{
	mca_close(*mca);
}

int mca_open(const struct mca_options *options, struct mca **ret, struct diag *diag)
{
	CLEANUP(mca_closep) struct mca *mca = alloc_zero(1, sizeof(*mca));

	mca->options = *options;
	if (!mca->options.max_ns)
		mca->options.max_ns = MCA_MAX_NS;
	mca->cpu = alloc_text(options->cpu);
	mca->cpu_option = alloc_printf("-mcpu=%s", options->cpu);
	if (!mca_find(mca)) {
		diag_set(diag, -ENOPKG, "llvm-mca is not installed");
		diag_hint(diag, "install the package " PACKAGE " (Debian, Ubuntu) or llvm");
		return -ENOPKG;
	}
	int error = mca_check_model(mca, diag);
	if (!error)
		*ret = TAKE(mca);
	return error;
}

void mca_close(struct mca *mca)
{
	if (!mca)
		return;
	free(mca->mc);
	free(mca->mca);
	free(mca->cpu);
	free(mca->cpu_option);
	free(mca);
}

/* ---- disassembling --------------------------------------------------------------------------------------
 */

static void mca_put_bytes(struct text *to, struct bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		text_printf(to, "0x%02x ", bytes.at[i]);
	text_printf(to, "\n");
}

/* An instruction that compilers do not generate marks the start of a new region. */
static void mca_put_mark(const struct mca *mca, struct text *to, uint32_t number)
{
	uint32_t mark = MARK_X86 + number;

	if (mca->options.isa->elf_machine == EM_X86_64)
		text_printf(to, "0x68 0x%02x 0x%02x 0x%02x 0x%02x\n", mark & 0xff, mark >> 8 & 0xff,
			    mark >> 16 & 0xff, mark >> 24);
	else
		text_printf(to, "0x%02x 0x%02x 0x00 0x00\n", number & 0xff, number >> 8 & 0xff);
}

static bool mca_is_mark(const struct mca *mca, const char *line, uint32_t *ret)
{
	unsigned long value;

	if (mca->options.isa->elf_machine == EM_X86_64) {
		if (sscanf(line, " pushq $%lu", &value) != 1 || value < MARK_X86 ||
		    value >= MARK_X86 + REGIONS_MAX)
			return false;
		*ret = (uint32_t)(value - MARK_X86);
		return true;
	}
	if (sscanf(line, " udf #%lu", &value) != 1 || value >= REGIONS_MAX)
		return false;
	*ret = (uint32_t)value;
	return true;
}

/* The assembly of all regions, each between the comments that llvm-mca uses. */
static void mca_arrange(const struct mca *mca, char *lines, struct mca_region *regions, size_t n,
			struct text *ret)
{
	uint32_t at = UINT32_MAX, n_insns = 0;
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest);; line = strtok_r(NULL, "\n", &rest)) {
		uint32_t next = UINT32_MAX;
		bool is_mark = line && mca_is_mark(mca, line, &next);
		if ((!line || is_mark) && at < n) {
			text_printf(ret, "# LLVM-MCA-END\n");
			regions[at].is_partial = n_insns != regions[at].n_insns;
		}
		if (!line)
			return;
		if (is_mark && next < n)
			text_printf(ret, "# LLVM-MCA-BEGIN r%u\n", next);
		else if (!is_mark && at < n && line[strspn(line, " \t")] != '.')
			text_printf(ret, "%s\n", line);
		n_insns = is_mark ? 0 : n_insns + 1;
		at = is_mark ? next : at;
	}
}

static int mca_assemble(const struct mca *mca, struct mca_region *regions, size_t n, struct text *ret)
{
	const char *args[] = { "llvm-mc", "--disassemble", mca_mc_triple(mca), mca->cpu_option, NULL };
	struct text input = { 0 };
	struct writer output = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		mca_put_mark(mca, &input, i);
		for (size_t k = 0; k < regions[i].n; k++)
			mca_put_bytes(&input, regions[i].blocks[k]);
	}
	int status = tool_run(mca->mc, args, (struct bytes){ (const uint8_t *)input.at, input.len },
			      mca->options.max_ns, &output);
	text_done(&input);
	if (status == 0) {
		write_u8(&output, 0);
		mca_arrange(mca, (char *)output.at, regions, n, ret);
	}
	writer_done(&output);
	return status < 0 ? status : status > 0 ? -EIO : 0;
}

/* ---- simulating -----------------------------------------------------------------------------------------
 */

static void mca_read(char *lines, struct mca_region *regions, size_t n)
{
	size_t at = SIZE_MAX;
	double iterations = 0, cycles;
	char *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *name = strstr(line, "Code Region - r");
		if (name)
			at = strtoul(name + 15, NULL, 10);
		sscanf(line, "Iterations: %lf", &iterations);
		if (sscanf(line, "Total Cycles: %lf", &cycles) == 1 && at < n && iterations >= 1)
			regions[at].cycles = cycles / iterations;
	}
}

/* One run. skips: ignore unknown instructions, which older versions cannot. */
static int mca_simulate_once(const struct mca *mca, struct bytes assembly, bool skips,
			     struct mca_region *regions, size_t n)
{
	const char *args[] = { mca->tool,
			       mca_triple(mca),
			       mca->cpu_option,
			       "-iterations=" ITERATIONS,
			       "-resource-pressure=0",
			       "-instruction-info=0",
			       "-",
			       skips ? "--skip-unsupported-instructions=any" : NULL,
			       NULL };
	struct writer output = { 0 };
	int status = tool_run(mca->mca, args, assembly, mca->options.max_ns, &output);

	if (status == 0) {
		write_u8(&output, 0);
		mca_read((char *)output.at, regions, n);
	}
	writer_done(&output);
	return status;
}

/* If an old version does not know an instruction, the whole run fails: then each region is run separately. */
static int mca_simulate_apart(const struct mca *mca, const struct text *assembly, struct mca_region *regions,
			      size_t n)
{
	const char *at = assembly->at, *end = at + assembly->len;
	size_t n_failed = 0, n_tried = 0;

	while (at < end) {
		const char *stop = strstr(at, "# LLVM-MCA-END\n");
		stop = stop ? stop + strlen("# LLVM-MCA-END\n") : end;
		int status = mca_simulate_once(
			mca, (struct bytes){ (const uint8_t *)at, (size_t)(stop - at) }, false, regions, n);
		if (status < 0)
			return status;
		n_failed += status > 0;
		if (++n_tried >= 8 && n_failed == n_tried)
			return -EIO;
		at = stop;
	}
	return 0;
}

static int mca_simulate(const struct mca *mca, const struct text *assembly, struct mca_region *regions,
			size_t n)
{
	struct bytes all = { (const uint8_t *)assembly->at, assembly->len };
	int status = mca_simulate_once(mca, all, true, regions, n);

	if (status > 0)
		status = mca_simulate_once(mca, all, false, regions, n);
	return status > 0 ? mca_simulate_apart(mca, assembly, regions, n) : status;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

/* Results in the format of the store: millionths of a cycle, lowest bit: partial. */
static bool mca_recall(const struct mca *mca, const struct store_key *key, struct mca_region *regions,
		       size_t n)
{
	struct bytes kept = mca->options.store ? store_get(mca->options.store, key) : (struct bytes){ 0 };
	struct reader r = reader_of(kept);
	bool is_there = kept.len > 0 && read_uleb(&r) == n;

	for (size_t i = 0; is_there && i < n; i++) {
		uint64_t value = read_uleb(&r);
		regions[i].cycles = (double)(value >> 1) / 1e6;
		regions[i].is_partial = value & 1;
	}
	is_there &= !r.failed;
	store_release(kept);
	return is_there;
}

static void mca_keep(const struct mca *mca, const struct store_key *key, const struct mca_region *regions,
		     size_t n)
{
	struct writer w = { 0 };
	double some = 0;

	write_uleb(&w, n);
	for (size_t i = 0; i < n; i++)
		some += regions[i].cycles;
	for (size_t i = 0; i < n; i++)
		write_uleb(&w, (uint64_t)llround(regions[i].cycles * 1e6) << 1 | regions[i].is_partial);
	if (mca->options.store && some > 0)
		store_put(mca->options.store, key, writer_bytes(&w));
	writer_done(&w);
}

static struct store_key mca_question(const struct mca *mca, const struct mca_region *regions, size_t n)
{
	struct writer w = { 0 };

	for (size_t i = 0; i < n; i++) {
		write_uleb(&w, regions[i].n);
		for (size_t k = 0; k < regions[i].n; k++) {
			write_uleb(&w, regions[i].blocks[k].len);
			write_bytes(&w, regions[i].blocks[k]);
		}
	}
	struct store_key key = mca_key(mca, "mca", writer_bytes(&w));
	writer_done(&w);
	return key;
}

int mca_run(struct mca *mca, struct mca_region *regions, size_t n, struct diag *diag)
{
	uint64_t n_insns = 0;
	struct text assembly = { 0 };

	n = n < REGIONS_MAX ? n : REGIONS_MAX;
	for (size_t i = 0; i < n; i++) {
		n_insns += regions[i].n_insns;
		if (n_insns > INSNS_MAX)
			n = i;
	}
	if (!n)
		return 0;
	struct store_key key = mca_question(mca, regions, n);
	if (mca_recall(mca, &key, regions, n))
		return 0;
	int error = mca_assemble(mca, regions, n, &assembly);
	if (!error && assembly.len)
		error = mca_simulate(mca, &assembly, regions, n);
	text_done(&assembly);
	if (!error)
		mca_keep(mca, &key, regions, n);
	if (error) {
		diag_set(diag, error, "%s failed", mca->tool);
		if (error == -ETIME)
			diag_why(diag, "it did not finish within %.0f s", (double)mca->options.max_ns / 1e9);
	}
	return error;
}
