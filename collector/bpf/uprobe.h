/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uprobe: the kernel's type of event for probes in programs, and what it costs to hit one.
 *
 * The kernel emulates some instructions that a probe replaces, and single-steps the others. A step costs half
 * a microsecond on one machine and thirty on another: some hypervisors are asked twice. So it is measured.
 */
#pragma once

#include <stdint.h>

/* For perf_event_attr.type; 0 = the kernel has none. */
uint32_t uprobe_type(void);
/*
 * CPU time of a hit at an instruction that is single-stepped, in ns. Measured with a probe in this program,
 * for about 0.1 s, most of which is waiting; a typical value if that is not permitted.
 */
double uprobe_stepped_ns(void);
