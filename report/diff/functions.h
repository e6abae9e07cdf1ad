/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions: matches functions of several profiles: by linkage name, then by demangled name, then by
 * position. A copy or part that the compiler created (".cold", ".constprop.0") is matched with its original
 * function. Functions of the same name in one module are distinguished by the name of the source file,
 * because paths and lines change from build to build.
 */
#pragma once

#include "report/diff/modules.h"
#include "report/diff/positions.h"

/* Keys to find a function, the most reliable first. */
enum function_key { BY_LINKAGE_AND_FILE, BY_LINKAGE, BY_NAME, BY_NAME_WITHOUT_ARGUMENTS, N_FUNCTION_KEYS };

struct function_index {
	struct numbering keys;
	VEC(uint32_t) function; /* by key: the first that has it */
	VEC(uint32_t) count;    /* how many have it */
};

struct functions {
	struct modules *modules;
	VEC(struct scope_frame)
	all;                    /* as in the first profile; strings and images are the joint ones */
	VEC(uint32_t) taken_by; /* by function: the number of the last profile that has it */
	struct function_index by[N_FUNCTION_KEYS];
	struct positions positions; /* of functions without a name */
	uint32_t n_profiles;
};

void functions_init(struct functions *functions, struct modules *modules);
void functions_done(struct functions *functions);

/* A profile whose functions are looked up. */
struct functions_from {
	const struct profile *profile;
	const struct module_place *places; /* by image */
	const struct renames *renames;     /* NULL = none */
	uint32_t *strings; /* by string of the profile: the joint string, UINT32_MAX = not yet */
};
uint32_t functions_string(struct functions *functions, const struct functions_from *from, uint32_t id);

/* ret: by frame of the tree, the function; UINT32_MAX for frames that are neither functions nor inlined
 * calls. */
void functions_add(struct functions *functions, const struct functions_from *from,
		   const struct scope_tree *tree, uint32_t *ret);
