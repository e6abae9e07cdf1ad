/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test: tests that read as claims, a thin header over cmocka. Each TEST registers itself; the
 * runner is tests/runner.c. CHECK fails the test and goes no further; SKIP says why it cannot run.
 */
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct test_case {
	const char *name;
	void (*run)(void);
	struct test_case *next;
};
void test_register(struct test_case *test);
extern int test_skipped;

/* Some things valgrind cannot do, and dies of: those tests are skipped there. */
static inline bool test_is_in_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}

#define TEST(name)                                                     \
	static void name(void);                                        \
	static struct test_case name##_case = { #name, name, NULL };   \
	__attribute__((constructor)) static void name##_register(void) \
	{                                                              \
		test_register(&name##_case);                           \
	}                                                              \
	static void name(void)

#define CHECK(condition)                                                            \
	do {                                                                        \
		if (!(condition)) {                                                 \
			print_error("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			fail();                                                     \
		}                                                                   \
	} while (0)
#define CHECK_EQ(got, want)                                                                                 \
	do {                                                                                                \
		unsigned long long got_ = (unsigned long long)(got), want_ = (unsigned long long)(want);    \
		if (got_ != want_) {                                                                        \
			print_error("%s:%d: %s is %lld (0x%llx), not %s = %lld (0x%llx)\n", __FILE__,       \
				    __LINE__, #got, (long long)got_, got_, #want, (long long)want_, want_); \
			fail();                                                                             \
		}                                                                                           \
	} while (0)
#define CHECK_STR(got, want)                                                                           \
	do {                                                                                           \
		const char *got_ = (got), *want_ = (want);                                             \
		if (strcmp(got_, want_) != 0) {                                                        \
			print_error("%s:%d: %s is\n  %s\nnot\n  %s\n", __FILE__, __LINE__, #got, got_, \
				    want_);                                                            \
			fail();                                                                        \
		}                                                                                      \
	} while (0)
#define SKIP(reason)                                    \
	do {                                            \
		print_message("skipped: %s\n", reason); \
		test_skipped++;                         \
		skip();                                 \
	} while (0)
