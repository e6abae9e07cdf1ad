/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff/modules.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/diff/stem.h"
#include "report/label.h"

/* Keys of an image, the most reliable first. */
enum module_key { KEY_BUILD_ID, KEY_PATH, KEY_FILE, KEY_STEM, N_KEYS };

struct key {
	uint32_t what, kind, text;
};

struct candidate {
	struct key keys[N_KEYS];
	uint32_t module; /* UINT32_MAX = none yet */
};

const char *renames_apply(const struct renames *renames, const char *name)
{
	for (size_t i = 0; renames && i < renames->n; i++) {
		const char *rule = renames->rules[i], *equals = strchr(rule, '=');
		size_t len = (size_t)(equals - rule);
		if (strlen(name) == len && memcmp(name, rule, len) == 0)
			return equals + 1;
	}
	return name;
}

void modules_init(struct modules *modules, struct profile *names)
{
	*modules = (struct modules){ .names = names };
	numbering_init(&modules->keys, sizeof(struct key));
	numbering_init(&modules->builds, 2 * sizeof(uint32_t));
}

void modules_done(struct modules *modules)
{
	numbering_done(&modules->keys);
	numbering_done(&modules->builds);
	vec_done(&modules->first);
	vec_done(&modules->next);
	vec_done(&modules->taken_by);
}

static uint32_t modules_build_id(struct modules *modules, const struct build_id *id)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";

	for (unsigned i = 0; i < id->len && i < BUILD_ID_MAX; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	return intern_add(&modules->names->strings, hex);
}

/* An image that could not be read is still a file. */
static struct candidate modules_candidate(struct modules *modules, const struct profile *profile, size_t i,
					  const struct renames *renames)
{
	const struct profile_image *image = &profile->images.at[i];
	struct intern *strings = &modules->names->strings;
	const char *path = intern_text(&profile->strings, image->path);
	const char *file = renames_apply(renames, label_file(path));
	uint32_t kind = image->kind == IMAGE_UNKNOWN ? IMAGE_ELF : image->kind;
	struct candidate candidate = { .module = UINT32_MAX };
	const uint32_t texts[N_KEYS] = {
		[KEY_BUILD_ID] = modules_build_id(modules, &image->build_id),
		[KEY_PATH] = intern_add(strings, path),
		[KEY_FILE] = intern_add(strings, file),
		[KEY_STEM] = intern_add_n(strings, file, stem_module(file)),
	};

	for (uint32_t k = 0; k < N_KEYS; k++)
		candidate.keys[k] = (struct key){ k, kind, texts[k] };
	if (kind == IMAGE_KERNEL || kind == IMAGE_VDSO) /* there is only one of each */
		candidate.keys[KEY_PATH].text = 0;
	return candidate;
}

/* The number of a key; a new one has no module yet. */
static uint32_t modules_key(struct modules *modules, const struct key *key)
{
	uint32_t number = numbering_add(&modules->keys, key);

	if (number == modules->first.n)
		vec_push(&modules->first, UINT32_MAX);
	return number;
}

/* May two images of one profile be the same module? Yes for the same code, and for JIT code. */
static bool modules_is_shared(const struct key *key)
{
	return key->what == KEY_BUILD_ID || key->kind != IMAGE_ELF;
}

static uint32_t modules_find(struct modules *modules, const struct key *key)
{
	uint32_t number = modules_key(modules, key), at = modules->first.at[number];

	while (at != UINT32_MAX && !modules_is_shared(key) && modules->taken_by.at[at] == modules->n_profiles)
		at = modules->next.at[at * N_KEYS + key->what];
	return at;
}

static uint32_t modules_new(struct modules *modules, const struct profile *profile, size_t i,
			    const struct candidate *candidate)
{
	uint32_t module = (uint32_t)modules->names->images.n;
	struct profile_image image = profile->images.at[i];

	image.path = intern_add(&modules->names->strings,
				intern_text(&profile->strings, profile->images.at[i].path));
	image.debug = intern_add(&modules->names->strings,
				 intern_text(&profile->strings, profile->images.at[i].debug));
	vec_push(&modules->names->images, image);
	vec_push(&modules->taken_by, 0);
	for (size_t k = 0; k < N_KEYS; k++) {
		uint32_t number = modules_key(modules, &candidate->keys[k]),
			 *first = &modules->first.at[number];
		vec_push(&modules->next, *first);
		if (candidate->keys[k].text || k != KEY_BUILD_ID)
			*first = module;
	}
	return module;
}

static uint32_t modules_find_shared(struct modules *modules, const struct candidate *candidate)
{
	uint32_t found = UINT32_MAX;

	for (size_t k = 0; k < N_KEYS && found == UINT32_MAX; k++)
		if (modules_is_shared(&candidate->keys[k]) && (k != KEY_BUILD_ID || candidate->keys[k].text))
			found = modules_find(modules, &candidate->keys[k]);
	return found;
}

/* Code without a build-id may be a different build each time. */
static uint32_t modules_build(struct modules *modules, const struct candidate *candidate)
{
	uint32_t id = candidate->keys[KEY_BUILD_ID].text;
	const uint32_t key[] = { candidate->module, id ? id : UINT32_MAX - modules->n_profiles };

	return numbering_add(&modules->builds, key);
}

void modules_add(struct modules *modules, const struct profile *profile, const struct renames *renames,
		 struct module_place *ret)
{
	VEC(struct candidate) candidates = { 0 };

	modules->n_profiles++;
	for (size_t i = 0; i < profile->images.n; i++)
		vec_push(&candidates, modules_candidate(modules, profile, i, renames));
	for (size_t k = 0; k < N_KEYS; k++)
		for (size_t i = 0; i < candidates.n; i++) {
			struct candidate *c = &candidates.at[i];
			if (c->module != UINT32_MAX || (k == KEY_BUILD_ID && !c->keys[k].text))
				continue;
			c->module = modules_find(modules, &c->keys[k]);
			if (c->module != UINT32_MAX)
				modules->taken_by.at[c->module] = modules->n_profiles;
		}
	for (size_t i = 0; i < candidates.n; i++) {
		struct candidate *c = &candidates.at[i];
		if (c->module == UINT32_MAX)
			c->module = modules_find_shared(modules, c); /* one that was just added */
		if (c->module == UINT32_MAX)
			c->module = modules_new(modules, profile, i, c);
		modules->taken_by.at[c->module] = modules->n_profiles;
		ret[i] = (struct module_place){ c->module, modules_build(modules, c) };
	}
	vec_done(&candidates);
}
