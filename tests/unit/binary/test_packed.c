/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/isa/packed.h"

#include "tests/test.h"

static unsigned a64(uint32_t word)
{
	uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			    (uint8_t)(word >> 24) };

	return a64_packed_width((struct bytes){ code, sizeof(code) });
}

static unsigned stored(uint32_t word)
{
	uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			    (uint8_t)(word >> 24) };

	return a64_stored_width((struct bytes){ code, sizeof(code) });
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

TEST(packed_instructions_have_their_width)
{
	CHECK_EQ(a64(0x0e211c00), 8);                          /* and v0.8b, v0.8b, v1.8b */
	CHECK_EQ(a64(0x4e211c00), 16);                         /* and v0.16b, v0.16b, v1.16b */
	CHECK_EQ(X86(0x66, 0x0f, 0x59, 0xc3), 16);             /* mulpd %xmm3, %xmm0 */
	CHECK_EQ(X86(0xc5, 0xfd, 0xfe, 0xc1), 32);             /* vpaddd %ymm1, %ymm0, %ymm0 */
	CHECK_EQ(X86(0xc5, 0xf9, 0xfe, 0xc1), 16);             /* vpaddd %xmm1, %xmm0, %xmm0 */
	CHECK_EQ(X86(0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc1), 64); /* vpaddd %zmm1, %zmm0, %zmm0 */
}

TEST(stores_of_vector_registers_are_recognised)
{
	CHECK_EQ(stored(0x3c810420), 16); /* str q0, [x1], #16 */
	CHECK_EQ(stored(0x3ca06820), 16); /* str q0, [x1, x0] */
	CHECK_EQ(stored(0xad000420), 16); /* stp q0, q1, [x1] */
	CHECK_EQ(stored(0x3d8007e0), 0);  /* str q0, [sp, #16] */
	CHECK_EQ(stored(0x3cc10420), 0);  /* ldr q0, [x1], #16 */
	CHECK_EQ(stored(0xad400420), 0);  /* ldp q0, q1, [x1] */
	CHECK_EQ(stored(0xfd000020), 0);  /* str d0, [x1] */
#define STORED(...) x86_stored_width((struct bytes){ (const uint8_t[16]){ __VA_ARGS__ }, 16 })
	CHECK_EQ(STORED(0x0f, 0x11, 0x00), 16);       /* movups %xmm0, (%rax) */
	CHECK_EQ(STORED(0xc5, 0xfe, 0x7f, 0x00), 32); /* vmovdqu %ymm0, (%rax) */
	CHECK_EQ(STORED(0x0f, 0x10, 0x00), 0);        /* movups (%rax), %xmm0 */
	CHECK_EQ(STORED(0x0f, 0x29, 0xc1), 0);        /* movaps %xmm0, %xmm1 */
	CHECK_EQ(STORED(0xf2, 0x0f, 0x11, 0x00), 0);  /* movsd %xmm0, (%rax) */
}

static bool atomic(uint32_t word)
{
	uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			    (uint8_t)(word >> 24) };

	return a64_is_atomic((struct bytes){ code, sizeof(code) });
}

TEST(atomic_instructions_are_recognised)
{
	CHECK(atomic(0xc85ffc01));  /* ldaxr x1, [x0] */
	CHECK(atomic(0xc802fc01));  /* stlxr w2, x1, [x0] */
	CHECK(atomic(0xc8e0fc41));  /* casal x0, x1, [x2] */
	CHECK(atomic(0xf8e10002));  /* ldaddal x1, x2, [x0] */
	CHECK(atomic(0xb8e18002));  /* swpal w1, w2, [x0] */
	CHECK(!atomic(0xc8dffc01)); /* ldar x1, [x0] */
	CHECK(!atomic(0xc89ffc01)); /* stlr x1, [x0] */
	CHECK(!atomic(0xf8616802)); /* ldr x2, [x0, x1] */
	CHECK(!atomic(0xf8410402)); /* ldr x2, [x0], #16 */
	CHECK(!atomic(0xf9400001)); /* ldr x1, [x0] */
	CHECK(!a64_is_atomic((struct bytes){ NULL, 0 }));
#define ATOMIC(...) x86_is_atomic((struct bytes){ (const uint8_t[16]){ __VA_ARGS__ }, 16 })
	CHECK(ATOMIC(0xf0, 0x48, 0x0f, 0xb1, 0x31)); /* lock cmpxchg %rsi, (%rcx) */
	CHECK(ATOMIC(0x66, 0xf0, 0x0f, 0xc1, 0x07)); /* lock xadd %ax, (%rdi) */
	CHECK(ATOMIC(0x48, 0x87, 0x07));             /* xchg %rax, (%rdi) */
	CHECK(!ATOMIC(0x48, 0x87, 0xc7));            /* xchg %rax, %rdi */
	CHECK(!ATOMIC(0x48, 0x89, 0x07));            /* mov %rax, (%rdi) */
	CHECK(!ATOMIC(0x0f, 0xb1, 0x31));            /* cmpxchg %esi, (%rcx) */
	CHECK(!x86_is_atomic((struct bytes){ NULL, 0 }));
}

TEST(x86_moves_out_of_vector_registers_are_recognised)
{
#define TAKES(...) x86_takes_number((struct bytes){ (const uint8_t[16]){ __VA_ARGS__ }, 16 })
	CHECK(TAKES(0xc5, 0xf9, 0x7e, 0xc2));       /* vmovd %xmm0, %edx */
	CHECK(TAKES(0x66, 0x48, 0x0f, 0x7e, 0xc0)); /* movq %xmm0, %rax */
	CHECK(!TAKES(0xc5, 0xf9, 0x7e, 0x00));      /* vmovd %xmm0, (%rax) */
	CHECK(!TAKES(0xc5, 0xf9, 0x6e, 0x08));      /* vmovd (%rax), %xmm1 */
	CHECK(!TAKES(0xf3, 0x0f, 0x7e, 0xc1));      /* movq %xmm1, %xmm0 */
	CHECK(!x86_takes_number((struct bytes){ NULL, 0 }));
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

#define ACCESSES(...) x86_accesses((struct bytes){ (const uint8_t[16]){ __VA_ARGS__ }, 16 })

static unsigned a64_accesses_of(uint32_t word)
{
	const uint8_t code[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
				  (uint8_t)(word >> 24) };

	return a64_accesses((struct bytes){ code, sizeof(code) });
}

TEST(accesses_count_registers_loaded_and_stored)
{
	CHECK_EQ(a64_accesses_of(0xf8408403), 1);            /* ldr x3, [x0], #8 */
	CHECK_EQ(a64_accesses_of(0xbd000020), 1);            /* str s0, [x1] */
	CHECK_EQ(a64_accesses_of(0xad000400), 2);            /* stp q0, q1, [x0] */
	CHECK_EQ(a64_accesses_of(0x4c407c00), 1);            /* ld1 {v0.2d}, [x0] */
	CHECK_EQ(a64_accesses_of(0xf94003e0), 0);            /* ldr x0, [sp] */
	CHECK_EQ(a64_accesses_of(0x8b010000), 0);            /* add x0, x0, x1 */
	CHECK_EQ(ACCESSES(0x48, 0x8b, 0x06), 1);             /* mov (%rsi), %rax */
	CHECK_EQ(ACCESSES(0x03, 0x04, 0x8f), 1);             /* add (%rdi,%rcx,4), %eax */
	CHECK_EQ(ACCESSES(0xf3, 0x0f, 0x11, 0x04, 0x8e), 1); /* movss %xmm0, (%rsi,%rcx,4) */
	CHECK_EQ(ACCESSES(0xc5, 0xfc, 0x11, 0x00), 1);       /* vmovups %ymm0, (%rax) */
	CHECK_EQ(ACCESSES(0x48, 0x8d, 0x04, 0x8f), 0);       /* lea (%rdi,%rcx,4), %rax */
	CHECK_EQ(ACCESSES(0x48, 0x01, 0xc8), 0);             /* add %rcx, %rax */
	CHECK_EQ(ACCESSES(0x0f, 0x85, 0x00, 0x01, 0x00), 0); /* jne */
	CHECK_EQ(x86_accesses((struct bytes){ NULL, 0 }), 0);
}
