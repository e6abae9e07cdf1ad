/* SPDX-License-Identifier: Apache-2.0 */
/*
 * modules: which images of several profiles are one program or library: those with the same build-id, else
 * with the same path, the same file name, the same name without its version.
 */
#pragma once

#include "profile/profile.h"
#include "report/tree/numbering.h"

/* Names that a user declares to be the same, OLD=NEW each; they hold for functions and modules alike. */
struct renames {
	char *const *rules;
	size_t n;
};
/* What a name is called by the rules: NEW, or the name itself. */
const char *renames_apply(const struct renames *renames, const char *name);

struct modules {
	struct profile *names;  /* modules are its images */
	struct numbering keys;  /* what modules are known by ... */
	VEC(uint32_t) first;    /* ... by number: the last module of that key */
	VEC(uint32_t) next;     /* by module and kind of key: the module of that key before it */
	VEC(uint32_t) taken_by; /* by module: the number of the last profile that has it */
	struct numbering builds;
	uint32_t n_profiles;
};

/* Where an image of a profile went. */
struct module_place {
	uint32_t module, build; /* build: the same for the same code */
};

void modules_init(struct modules *modules, struct profile *names);
void modules_done(struct modules *modules);
/* ret: by image of the profile, images.n of them. renames may be NULL. */
void modules_add(struct modules *modules, const struct profile *profile, const struct renames *renames,
		 struct module_place *ret);
