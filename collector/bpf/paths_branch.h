/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * paths_branch: will a conditional branch be taken? A part of paths.bpf.c, in its own file so that tests can
 * run it.
 */
#pragma once

#include "collector/bpf/paths_layout.h"

#define PATHS_INLINE static inline __attribute__((always_inline))

/* Bits of x86's flags. */
#define CARRY 1
#define PARITY 4
#define ZERO 64
#define SIGN 128
#define OVERFLOW 2048

PATHS_INLINE int branch_by_x86(__u64 flags, __u32 condition)
{
	int is_less = !(flags & SIGN) != !(flags & OVERFLOW), is_true = 0;

	switch (condition >> 1) {
	case 0:
		is_true = (flags & OVERFLOW) != 0;
		break;
	case 1:
		is_true = (flags & CARRY) != 0;
		break;
	case 2:
		is_true = (flags & ZERO) != 0;
		break;
	case 3:
		is_true = (flags & (CARRY | ZERO)) != 0;
		break;
	case 4:
		is_true = (flags & SIGN) != 0;
		break;
	case 5:
		is_true = (flags & PARITY) != 0;
		break;
	case 6:
		is_true = is_less;
		break;
	case 7:
		is_true = is_less || (flags & ZERO);
		break;
	}
	return is_true ^ (int)(condition & 1);
}

PATHS_INLINE int branch_by_a64(__u64 flags, __u32 condition)
{
	int n = flags >> 31 & 1, z = flags >> 30 & 1, c = flags >> 29 & 1, v = flags >> 28 & 1, is_true = 0;

	switch (condition >> 1) {
	case 0:
		is_true = z;
		break;
	case 1:
		is_true = c;
		break;
	case 2:
		is_true = n;
		break;
	case 3:
		is_true = v;
		break;
	case 4:
		is_true = c && !z;
		break;
	case 5:
		is_true = n == v;
		break;
	case 6:
		is_true = n == v && !z;
		break;
	case 7:
		return 1;
	}
	return is_true ^ (int)(condition & 1);
}

/* Depending on the tested register. */
PATHS_INLINE int branch_by_register(const struct paths_probe *probe, __u64 value)
{
	if (probe->test == PATHS_IF_ZERO && probe->width == 4)
		value = (__u32)value;
	if (probe->test == PATHS_IF_CLEAR)
		value = value >> (probe->bit & 63) & 1;
	return (value == 0) != (probe->is_inverted != 0);
}
