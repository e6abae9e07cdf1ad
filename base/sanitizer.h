/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitizer: whether this is a build with a sanitizer, which gcc and clang say in different ways. A sanitizer
 * reserves memory without limit, makes system calls of its own, and reports on stderr.
 */
#pragma once

#if defined(__has_feature)
#define SANITIZER_FEATURE(name) __has_feature(name)
#else
#define SANITIZER_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZER_FEATURE(address_sanitizer)
#define HAS_ADDRESS_SANITIZER 1
#else
#define HAS_ADDRESS_SANITIZER 0
#endif

#if HAS_ADDRESS_SANITIZER || defined(__SANITIZE_THREAD__) || SANITIZER_FEATURE(thread_sanitizer)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif
