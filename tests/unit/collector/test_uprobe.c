/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/uprobe.h"

#include <string.h>

#include "tests/test.h"

void uprobe_target(void); /* what is probed */

TEST(what_a_single_stepped_probe_costs_is_measured_and_the_probe_removed)
{
	uint8_t before[8], after[8];

	memcpy(before, (const void *)(uintptr_t)uprobe_target, sizeof(before));
	double ns = uprobe_stepped_ns();
	CHECK(ns > 100 && ns < 1e6);
	memcpy(after, (const void *)(uintptr_t)uprobe_target, sizeof(after));
	CHECK(memcmp(before, after, sizeof(before)) == 0);
}
