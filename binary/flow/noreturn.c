/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/flow/noreturn.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* Sorted. Only functions that never return in every implementation: propagation finds the rest. */
static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_terminate",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_call_main",
	"__longjmp_chk",
	"__siglongjmp",
	"__stack_chk_fail",
	"_dl_allocate_tls_oom",
	"_dl_fatal_printf",
	"_dl_signal_error",
	"_dl_signal_exception",
	"_exit",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"rust_begin_unwind",
	"rust_panic",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};
static const char *const prefixes[] = {
	"_ZSt16__throw_bad_cast",          "_ZSt17__throw_bad_alloc",
	"_ZSt17rethrow_exception",         "_ZSt19__throw_ios_failure",
	"_ZSt19__throw_logic_error",       "_ZSt19__throw_range_error",
	"_ZSt20__throw_domain_error",      "_ZSt20__throw_future_error",
	"_ZSt20__throw_length_error",      "_ZSt20__throw_out_of_range",
	"_ZSt20__throw_system_error",      "_ZSt21__throw_bad_exception",
	"_ZSt21__throw_runtime_error",     "_ZSt21__glibcxx_assert_fail",
	"_ZSt22__throw_overflow_error",    "_ZSt23__throw_underflow_error",
	"_ZSt24__throw_invalid_argument",  "_ZSt24__throw_out_of_range_fmt",
	"_ZSt25__throw_bad_function_call", "_ZSt28__throw_bad_array_new_length",
};

static int noreturn_compare(const void *key, const void *entry)
{
	return strcmp(key, *(const char *const *)entry);
}

bool noreturn_by_name(const char *name)
{
	if (!name ||
	    strncmp(name, "_ZN", 3) == 0) /* most names of a C++ program are nested: none of these is */
		return false;
	if (bsearch(name, names, ARRAY_LEN(names), sizeof(names[0]), noreturn_compare))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(prefixes) && strncmp(name, "_ZSt", 4) == 0; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

bool probe_by_name(const char *name)
{
	static const char *const probes[] = { "__rust_probestack", "__probestack", "___chkstk_ms",
					      "__chkstk" };

	for (size_t i = 0; name && name[0] == '_' && i < ARRAY_LEN(probes); i++)
		if (strcmp(name, probes[i]) == 0)
			return true;
	return false;
}
