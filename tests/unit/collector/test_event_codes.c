/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodings of event names by libpfm4 for processors other than this one: LIBPFM_ENCODE_INACTIVE is set,
 * which libpfm4 reads only once, so this is a separate program. The values are those of the vendors' manuals.
 * libpfm4 supports the processors of the architecture that it was built for.
 */
#include "tests/test.h"

#include <stdlib.h>

#include "collector/live/events.h"

#define RAW 4 /* PERF_TYPE_RAW */

struct known_code {
	const char *name;
	uint64_t config, config1;
	uint8_t precise;
};

#if defined(__x86_64__)
static const struct known_code known_codes[] = {
	/* Intel: event select in the low byte, unit mask in the next. */
	{ "skl::INST_RETIRED:ANY_P", 0x00c0, 0, 0 },
	{ "skl::UNHALTED_CORE_CYCLES", 0x003c, 0, 0 },
	{ "skl::LONGEST_LAT_CACHE:MISS", 0x412e, 0, 0 },
	{ "skl::L1D_PEND_MISS:PENDING", 0x0148, 0, 0 },
	{ "skl::BR_MISP_RETIRED:CONDITIONAL:precise=2", 0x01c5, 0, 2 },
	{ "skl::UOPS_ISSUED:ANY:c=1:i", 0x0180010e, 0, 0 }, /* counter mask 1, inverted */
	{ "skl::MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=30", 0x01cd, 30, 0 },
	{ "spr::INST_RETIRED:ANY_P", 0x00c0, 0, 0 },
	{ "spr::LONGEST_LAT_CACHE:MISS", 0x412e, 0, 0 },
	{ "spr::TOPDOWN:SLOTS_P", 0x01a4, 0, 0 },
	{ "spr::MEM_LOAD_RETIRED:L3_MISS", 0x20d1, 0, 0 },
	/* AMD: PMCx076, PMCx0C0, PMCx0C3. */
	{ "amd64_fam17h_zen2::CYCLES_NOT_IN_HALT", 0x76, 0, 0 },
	{ "amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", 0xc0, 0, 0 },
	{ "amd64_fam19h_zen3::RETIRED_INSTRUCTIONS", 0xc0, 0, 0 },
	{ "amd64_fam19h_zen4::CYCLES_NOT_IN_HALT", 0x76, 0, 0 },
	{ "amd64_fam19h_zen4::RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", 0xc3, 0, 0 },
};
#else
static const struct known_code known_codes[] = {
	/* The Arm architecture numbers the common events. */
	{ "arm_ac57::CPU_CYCLES", 0x11, 0, 0 },      { "arm_ac57::INST_RETIRED", 0x08, 0, 0 },
	{ "arm_ac57::BRANCH_MISPRED", 0x10, 0, 0 },  { "arm_ac57::L2D_CACHE_REFILL", 0x17, 0, 0 },
	{ "arm_ac57::L1D_READ_REFILL", 0x42, 0, 0 }, /* specific to this core */
	{ "arm_n1::CPU_CYCLES", 0x11, 0, 0 },        { "arm_n1::INST_RETIRED", 0x08, 0, 0 },
	{ "arm_n1::L1D_CACHE_REFILL", 0x03, 0, 0 },  { "arm_n1::BR_MIS_PRED_RETIRED", 0x22, 0, 0 },
	{ "arm_n1::LL_CACHE_MISS_RD", 0x37, 0, 0 },  { "arm_v1::INST_RETIRED", 0x08, 0, 0 },
	{ "arm_v1::STALL_BACKEND", 0x24, 0, 0 },     { "arm_n2::STALL_SLOT", 0x3f, 0, 0 },
	{ "arm_a64fx::CPU_CYCLES", 0x11, 0, 0 },
};
#endif

TEST(event_codes_are_those_of_the_manuals)
{
	CHECK(getenv("LIBPFM_ENCODE_INACTIVE") != NULL);
	for (size_t i = 0; i < sizeof(known_codes) / sizeof(known_codes[0]); i++) {
		const struct known_code *known = &known_codes[i];
		struct event_spec spec = { 0 };
		struct diag diag = { 0 };

		if (event_spec_parse(known->name, &spec, &diag) < 0)
			print_error("%s: %s\n", known->name, diag.why);
		if (spec.type != RAW || spec.config != known->config)
			print_error("%s is not what the manual says\n", known->name);
		CHECK_EQ(spec.type, RAW);
		CHECK_EQ(spec.config, known->config);
		CHECK_EQ(spec.config1, known->config1);
		CHECK_EQ(spec.precise, known->precise);
		CHECK(!spec.excludes_user && !spec.excludes_kernel && !spec.is_clock);
	}
}

TEST(event_codes_keep_privilege_modifiers)
{
	char name[64];
	struct event_spec spec;
	struct diag diag = { 0 };

	snprintf(name, sizeof(name), "%s:u", known_codes[0].name);
	CHECK_EQ(event_spec_parse(name, &spec, &diag), 0);
	CHECK_EQ(spec.config, known_codes[0].config);
	CHECK(spec.excludes_kernel && !spec.excludes_user);
	snprintf(name, sizeof(name), "%s:k", known_codes[0].name);
	CHECK_EQ(event_spec_parse(name, &spec, &diag), 0);
	CHECK(!spec.excludes_kernel && spec.excludes_user);
}

TEST(event_codes_of_an_unknown_event_are_refused)
{
	char name[64];
	struct event_spec spec;
	struct diag diag = { 0 };

	snprintf(name, sizeof(name), "%.*s::NO_SUCH_EVENT", (int)strcspn(known_codes[0].name, ":"),
		 known_codes[0].name);
	CHECK(event_spec_parse(name, &spec, &diag) < 0);
	CHECK(diag.why[0]);
}
