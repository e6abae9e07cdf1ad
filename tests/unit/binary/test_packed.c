/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/isa/packed.h"

#include "tests/test.h"

static bool a64(uint32_t word)
{
	uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			    (uint8_t)(word >> 24) };

	return a64_packed_width((struct bytes){ code, sizeof(code) });
}

#define X86(...) x86_packed_width((struct bytes){ (const uint8_t[16]){ __VA_ARGS__ }, 16 })

TEST(a64_packed_is_arithmetic_on_lanes)
{
	CHECK(a64(0x4ea18400));  /* add v0.4s, v0.4s, v1.4s */
	CHECK(a64(0x4e20cc41));  /* fmla v1.4s, v2.4s, v0.4s */
	CHECK(a64(0x0e211c00));  /* and v0.8b, v0.8b, v1.8b */
	CHECK(!a64(0x4f000400)); /* movi v0.4s, #0 */
	CHECK(!a64(0x0e040ea8)); /* dup v8.4h, w21 */
	CHECK(!a64(0x3dc00020)); /* ldr q0, [x1] */
	CHECK(!a64(0x1f410040)); /* fmadd d0, d2, d1, d0 */
	CHECK(!a64(0x1e612800)); /* fadd d0, d0, d1 */
	CHECK(!a64(0x8b010000)); /* add x0, x0, x1 */
}

TEST(x86_packed_is_arithmetic_on_lanes)
{
	CHECK(X86(0x66, 0x0f, 0x59, 0xc3));        /* mulpd %xmm3, %xmm0 */
	CHECK(X86(0x0f, 0x58, 0xc1));              /* addps %xmm1, %xmm0 */
	CHECK(X86(0x66, 0x0f, 0xfe, 0xc1));        /* paddd %xmm1, %xmm0 */
	CHECK(X86(0xc5, 0xfd, 0xfe, 0xc1));        /* vpaddd %ymm1, %ymm0, %ymm0 */
	CHECK(X86(0xc4, 0xe2, 0xf5, 0xb8, 0xc2));  /* vfmadd231pd */
	CHECK(!X86(0xc4, 0xe2, 0xf1, 0xb9, 0xc2)); /* vfmadd231sd */
	CHECK(!X86(0xf2, 0x0f, 0x58, 0xc8));       /* addsd %xmm0, %xmm1 */
	CHECK(!X86(0x66, 0x0f, 0xef, 0xc9));       /* pxor %xmm1, %xmm1 */
	CHECK(!X86(0x0f, 0x10, 0x00));             /* movups */
	CHECK(!X86(0x48, 0x01, 0xc8));             /* add %rcx, %rax */
	CHECK(!x86_packed_width((struct bytes){ NULL, 0 }));
}
