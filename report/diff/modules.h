/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: matches images of several profiles: those with the same build-id, otherwise with the same path,
 * the same file name, or the same name without its version.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/numbering.h"

/* Names that a user declares to be the same, as OLD=NEW; for functions and modules. */
struct renames {
	char *const *rules;
	size_t n;
};
/* Applies the rules to a name: NEW, or the name itself. */
const char *renames_apply(const struct renames *renames, const char *name);

struct modules {
	struct profile *names;  /* modules are its images */
	struct numbering keys;  /* keys of modules ... */
	VEC(uint32_t) first;    /* ... by number: the last module with that key */
	VEC(uint32_t) next;     /* by module and kind of key: the previous module with that key */
	VEC(uint32_t) taken_by; /* by module: the number of the last profile that has it */
	struct numbering builds;
	uint32_t n_profiles;
};

/* What an image of a profile is matched with. */
struct module_place {
	uint32_t module, build; /* build: equal for the same code */
};

void modules_init(struct modules *modules, struct profile *names);
void modules_done(struct modules *modules);
/* ret: by image of the profile, images.n of them. renames may be NULL. */
void modules_add(struct modules *modules, const struct profile *profile, const struct renames *renames,
		 struct module_place *ret);
