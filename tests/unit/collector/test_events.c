/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <errno.h>

#include "collector/live/events.h"

TEST(events_generic_names_encode_anywhere)
{
	struct event_spec spec;
	struct diag diag = { 0 };

	CHECK_EQ(event_spec_parse("cpu-clock", &spec, &diag), 0);
	CHECK_EQ(spec.type, event_spec_cpu_clock().type);
	CHECK_EQ(spec.config, event_spec_cpu_clock().config);
	CHECK(spec.is_clock);
	CHECK_EQ(event_spec_parse("cycles", &spec, &diag), 0);
	CHECK_EQ(spec.type, event_spec_cycles().type);
	CHECK_EQ(spec.config, event_spec_cycles().config);
	CHECK(!spec.is_clock && !spec.excludes_kernel && !spec.excludes_user);
	CHECK_STR(spec.name, "cycles");
	CHECK_EQ(event_spec_parse("page-faults", &spec, &diag), 0);
	CHECK(!spec.is_clock);
}

TEST(events_modifiers_are_kept)
{
	struct event_spec spec;
	struct diag diag = { 0 };

	CHECK_EQ(event_spec_parse("instructions:u", &spec, &diag), 0);
	CHECK(spec.excludes_kernel);
	CHECK_EQ(event_spec_parse("cpu-clock:u:freq=99", &spec, &diag), 0);
	CHECK(spec.excludes_kernel);
	CHECK_EQ(spec.frequency, 99);
	CHECK_EQ(event_spec_parse("cycles:period=12345", &spec, &diag), 0);
	CHECK_EQ(spec.period, 12345);
	CHECK_EQ(spec.frequency, 0);
}

TEST(events_unknown_names_are_refused_with_a_cause)
{
	struct event_spec spec;
	struct diag diag = { 0 };

	CHECK_EQ(event_spec_parse("no-such-event", &spec, &diag), -ENOENT);
	CHECK(strstr(diag.what, "no-such-event") != NULL);
	CHECK(diag.why[0] && diag.hint[0]);
}
