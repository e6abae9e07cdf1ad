/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_names: LLVM's names of processors, by their identification numbers and features.
 *
 * The numbers of an x86-64 processor may be unknown because it is new, or wrong because a virtual machine
 * shows others than the processor's. So its features are used, too: if the numbers are unknown, or if it has
 * a feature that the processor with these numbers does not have. Fewer features are no sign of anything:
 * virtual machines hide some.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "report/cycles/mca.h"

struct arm_cpu {
	unsigned implementer, part;
	const char *name;
};
static const struct arm_cpu arm_cpus[] = {
	{ 0x41, 0xd03, "cortex-a53" },  { 0x41, 0xd05, "cortex-a55" },  { 0x41, 0xd07, "cortex-a57" },
	{ 0x41, 0xd08, "cortex-a72" },  { 0x41, 0xd0b, "cortex-a76" },  { 0x41, 0xd0c, "neoverse-n1" },
	{ 0x41, 0xd40, "neoverse-v1" }, { 0x41, 0xd49, "neoverse-n2" }, { 0x41, 0xd4f, "neoverse-v2" },
	{ 0x41, 0xd84, "neoverse-v3" }, { 0x41, 0xd8e, "neoverse-n3" }, { 0x43, 0x0af, "thunderx2t99" },
	{ 0x46, 0x001, "a64fx" },       { 0x48, 0xd01, "tsv110" },      { 0xc0, 0xac3, "ampere1" },
	{ 0xc0, 0xac4, "ampere1a" },    { 0xc0, 0xac5, "ampere1b" },
};

/* From `model` to `last`. */
struct x86_cpu {
	const char *vendor;
	unsigned family, model, last;
	const char *name; /* NULL = LLVM uses the scheduling model of another processor */
	const char *flag; /* the newest of its features that are in the table below */
};
static const struct x86_cpu x86_cpus[] = {
	{ "GenuineIntel", 6, 42, 42, "sandybridge", "avx" },
	{ "GenuineIntel", 6, 45, 45, "sandybridge", "avx" },
	{ "GenuineIntel", 6, 58, 58, "ivybridge", "f16c" },
	{ "GenuineIntel", 6, 62, 62, "ivybridge", "f16c" },
	{ "GenuineIntel", 6, 60, 60, "haswell", "avx2" },
	{ "GenuineIntel", 6, 63, 63, "haswell", "avx2" },
	{ "GenuineIntel", 6, 69, 70, "haswell", "avx2" },
	{ "GenuineIntel", 6, 61, 61, "broadwell", "adx" },
	{ "GenuineIntel", 6, 71, 71, "broadwell", "adx" },
	{ "GenuineIntel", 6, 79, 79, "broadwell", "adx" },
	{ "GenuineIntel", 6, 86, 86, "broadwell", "adx" },
	{ "GenuineIntel", 6, 78, 78, "skylake", "clflushopt" },
	{ "GenuineIntel", 6, 94, 94, "skylake", "clflushopt" },
	{ "GenuineIntel", 6, 142, 142, "skylake", "clflushopt" },
	{ "GenuineIntel", 6, 158, 158, "skylake", "clflushopt" },
	{ "GenuineIntel", 6, 165, 166, "skylake", "clflushopt" },
	/* and Cascade Lake and Cooper Lake, the same core */
	{ "GenuineIntel", 6, 85, 85, "skylake-avx512", "avx512_bf16" },
	{ "GenuineIntel", 6, 106, 106, "icelake-server", "avx512_vbmi2" },
	{ "GenuineIntel", 6, 108, 108, "icelake-server", "avx512_vbmi2" },
	{ "GenuineIntel", 6, 125, 126, "icelake-client", "avx512_vbmi2" },
	{ "GenuineIntel", 6, 167, 167, "rocketlake", "avx512_vbmi2" },
	{ "GenuineIntel", 6, 140, 141, "tigerlake", "avx512_vp2intersect" },
	{ "GenuineIntel", 6, 143, 143, "sapphirerapids", "amx_tile" },
	{ "GenuineIntel", 6, 207, 207, "emeraldrapids", "amx_tile" },
	{ "GenuineIntel", 6, 173, 174, "graniterapids", "amx_fp16" },
	{ "GenuineIntel", 6, 151, 151, "alderlake", "avx512_fp16" },
	{ "GenuineIntel", 6, 154, 154, "alderlake", "avx512_fp16" },
	{ "GenuineIntel", 6, 183, 183, "raptorlake", "avx512_fp16" },
	{ "GenuineIntel", 6, 186, 186, "raptorlake", "avx512_fp16" },
	{ "GenuineIntel", 6, 191, 191, "raptorlake", "avx512_fp16" },
	{ "GenuineIntel", 6, 170, 170, "meteorlake", "avx_vnni" },
	{ "GenuineIntel", 6, 172, 172, "meteorlake", "avx_vnni" },
	{ "GenuineIntel", 6, 189, 189, "lunarlake", "avx_vnni" },
	{ "GenuineIntel", 6, 197, 197, "arrowlake", "avx_vnni" },
	{ "GenuineIntel", 6, 198, 198, "arrowlake-s", "avx_vnni" },
	/* Knights Landing, Knights Mill; efficient cores only: Sierra Forest, Grand Ridge, Alder Lake N,
	 * Clearwater Forest */
	{ "GenuineIntel", 6, 87, 87, NULL, NULL },
	{ "GenuineIntel", 6, 133, 133, NULL, NULL },
	{ "GenuineIntel", 6, 175, 175, NULL, NULL },
	{ "GenuineIntel", 6, 182, 182, NULL, NULL },
	{ "GenuineIntel", 6, 190, 190, NULL, NULL },
	{ "GenuineIntel", 6, 221, 221, NULL, NULL },
	{ "AuthenticAMD", 23, 0, 47, "znver1", "clzero" },
	{ "AuthenticAMD", 23, 48, 255, "znver2", "wbnoinvd" },
	{ "AuthenticAMD", 25, 0, 15, "znver3", "vaes" },
	{ "AuthenticAMD", 25, 16, 31, "znver4", "avx512f" },
	{ "AuthenticAMD", 25, 32, 95, "znver3", "vaes" },
	{ "AuthenticAMD", 25, 96, 175, "znver4", "avx512f" },
	{ "AuthenticAMD", 26, 0, 255, "znver5", "avx512_vp2intersect" },
};

/* The newest first; as /proc/cpuinfo calls them. */
struct x86_feature {
	const char *vendor, *flag, *name;
};
static const struct x86_feature x86_features[] = {
	{ "GenuineIntel", "amx_fp16", "graniterapids" },
	{ "GenuineIntel", "amx_tile", "sapphirerapids" },
	{ "GenuineIntel", "avx512_fp16", "sapphirerapids" },
	{ "GenuineIntel", "avx_vnni", "alderlake" },
	{ "GenuineIntel", "avx512_vp2intersect", "tigerlake" },
	{ "GenuineIntel", "avx512_vbmi2", "icelake-server" },
	{ "GenuineIntel", "avx512_bf16", "cooperlake" },
	{ "GenuineIntel", "avx512_vnni", "cascadelake" },
	{ "GenuineIntel", "avx512bw", "skylake-avx512" },
	{ "GenuineIntel", "clflushopt", "skylake" },
	{ "GenuineIntel", "adx", "broadwell" },
	{ "GenuineIntel", "avx2", "haswell" },
	{ "GenuineIntel", "f16c", "ivybridge" },
	{ "GenuineIntel", "avx", "sandybridge" },
	{ "AuthenticAMD", "avx512_vp2intersect", "znver5" },
	{ "AuthenticAMD", "avx512f", "znver4" },
	{ "AuthenticAMD", "vaes", "znver3" },
	{ "AuthenticAMD", "wbnoinvd", "znver2" },
	{ "AuthenticAMD", "clzero", "znver1" },
};

static const char *arm_name(unsigned implementer, unsigned part)
{
	for (size_t i = 0; i < ARRAY_LEN(arm_cpus); i++)
		if (arm_cpus[i].implementer == implementer && arm_cpus[i].part == part)
			return arm_cpus[i].name;
	return NULL;
}

static const struct x86_cpu *x86_by_numbers(const char *vendor, unsigned family, unsigned model)
{
	for (size_t i = 0; i < ARRAY_LEN(x86_cpus); i++) {
		const struct x86_cpu *cpu = &x86_cpus[i];
		if (strcmp(cpu->vendor, vendor) == 0 && cpu->family == family && model >= cpu->model &&
		    model <= cpu->last)
			return cpu;
	}
	return NULL;
}

/* Is it one of the words, which are separated by spaces and end with a parenthesis? */
static bool has_flag(const char *flags, const char *flag)
{
	size_t len = strlen(flag);

	for (size_t n = 0; *flags && *flags != ')'; flags += n) {
		flags += strspn(flags, " ");
		n = strcspn(flags, " )");
		if (n == len && memcmp(flags, flag, n) == 0)
			return true;
	}
	return false;
}

/* The newest feature among these words that was introduced after `than`; NULL if there is none. */
static const struct x86_feature *x86_newer(const char *vendor, const char *flags, const char *than)
{
	/* Processors without AVX are small or old; some of them have a few newer features. */
	if (!has_flag(flags, "avx"))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(x86_features); i++) {
		const struct x86_feature *feature = &x86_features[i];
		if (strcmp(feature->vendor, vendor) != 0)
			continue;
		if (than && strcmp(feature->flag, than) == 0)
			return NULL;
		if (has_flag(flags, feature->flag))
			return feature;
	}
	return NULL;
}

const char *mca_cpu_name(const char *description)
{
	unsigned a, b;
	char vendor[16];
	int end = 0;

	if (sscanf(description, "implementer %8x part %8x", &a, &b) == 2)
		return arm_name(a, b);
	if (sscanf(description, "%15s family %9u model %9u (%n", vendor, &a, &b, &end) != 3)
		return NULL;
	const struct x86_cpu *cpu = x86_by_numbers(vendor, a, b);
	if (cpu && !cpu->name)
		return NULL;
	const struct x86_feature *newer =
		end ? x86_newer(vendor, description + end, cpu ? cpu->flag : NULL) : NULL;
	return newer ? newer->name : cpu ? cpu->name : NULL;
}
