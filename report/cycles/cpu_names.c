/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_names: LLVM's names of processors, by their identification numbers.
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
	const char *name;
};
static const struct x86_cpu x86_cpus[] = {
	{ "GenuineIntel", 6, 42, 42, "sandybridge" },      { "GenuineIntel", 6, 45, 45, "sandybridge" },
	{ "GenuineIntel", 6, 58, 58, "ivybridge" },        { "GenuineIntel", 6, 62, 62, "ivybridge" },
	{ "GenuineIntel", 6, 60, 60, "haswell" },          { "GenuineIntel", 6, 63, 63, "haswell" },
	{ "GenuineIntel", 6, 69, 70, "haswell" },          { "GenuineIntel", 6, 61, 61, "broadwell" },
	{ "GenuineIntel", 6, 71, 71, "broadwell" },        { "GenuineIntel", 6, 79, 79, "broadwell" },
	{ "GenuineIntel", 6, 86, 86, "broadwell" },        { "GenuineIntel", 6, 78, 78, "skylake" },
	{ "GenuineIntel", 6, 94, 94, "skylake" },          { "GenuineIntel", 6, 142, 142, "skylake" },
	{ "GenuineIntel", 6, 158, 158, "skylake" },        { "GenuineIntel", 6, 165, 166, "skylake" },
	{ "GenuineIntel", 6, 85, 85, "skylake-avx512" }, /* and Cascade Lake, the same core */
	{ "GenuineIntel", 6, 106, 106, "icelake-server" }, { "GenuineIntel", 6, 108, 108, "icelake-server" },
	{ "GenuineIntel", 6, 125, 126, "icelake-client" }, { "GenuineIntel", 6, 140, 141, "tigerlake" },
	{ "GenuineIntel", 6, 143, 143, "sapphirerapids" }, { "GenuineIntel", 6, 207, 207, "emeraldrapids" },
	{ "GenuineIntel", 6, 173, 174, "graniterapids" },  { "GenuineIntel", 6, 151, 151, "alderlake" },
	{ "GenuineIntel", 6, 154, 154, "alderlake" },      { "GenuineIntel", 6, 183, 183, "raptorlake" },
	{ "GenuineIntel", 6, 186, 186, "raptorlake" },     { "GenuineIntel", 6, 191, 191, "raptorlake" },
	{ "AuthenticAMD", 23, 0, 47, "znver1" },           { "AuthenticAMD", 23, 48, 255, "znver2" },
	{ "AuthenticAMD", 25, 0, 15, "znver3" },           { "AuthenticAMD", 25, 16, 31, "znver4" },
	{ "AuthenticAMD", 25, 32, 95, "znver3" },          { "AuthenticAMD", 25, 96, 175, "znver4" },
	{ "AuthenticAMD", 26, 0, 255, "znver5" },
};

const char *mca_cpu_name(const char *description)
{
	unsigned a, b;
	char vendor[16];

	if (sscanf(description, "implementer %8x part %8x", &a, &b) == 2) {
		for (size_t i = 0; i < ARRAY_LEN(arm_cpus); i++)
			if (arm_cpus[i].implementer == a && arm_cpus[i].part == b)
				return arm_cpus[i].name;
		return NULL;
	}
	if (sscanf(description, "%15s family %9u model %9u", vendor, &a, &b) != 3)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(x86_cpus); i++) {
		const struct x86_cpu *cpu = &x86_cpus[i];
		if (strcmp(cpu->vendor, vendor) == 0 && cpu->family == a && b >= cpu->model && b <= cpu->last)
			return cpu->name;
	}
	return NULL;
}
