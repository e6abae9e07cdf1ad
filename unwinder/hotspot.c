/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/hotspot.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "binary/elf/symbols.h"
#include "unwinder/hotspot_entry.h"
#include "unwinder/hotspot_layout.h"
#include "unwinder/hotspot_stub.h"

#define MAX_PROCESSES 1024 /* cached; then all are dropped */
#define MAX_TRIES 4        /* to read the layout: the runtime may just be starting */

struct hotspot_process {
	uint64_t generation; /* of the space that was searched for libjvm */
	size_t n_since;      /* questions since then that were answered without a search */
	uint64_t at, bias;   /* an address in libjvm */
	image_id image;      /* IMAGE_NONE: it has none */
	unsigned n_tries;
	uint64_t tried; /* in this epoch of the code's pages */
	bool has_layout;
	struct hotspot_layout layout;
};

/* What an image named libjvm.so exports. */
struct hotspot_library {
	image_id image;
	uint64_t vaddrs[HOTSPOT_EXPORTS];
};

struct hotspot {
	const struct isa *isa;
	struct images *images;
	struct code_pages *pages;
	struct recipes *recipes;
	struct map by_pid;
	VEC(struct hotspot_process) processes;
	VEC(struct hotspot_library) libraries;
};

struct hotspot *hotspot_new(const struct isa *isa, struct images *images, struct code_pages *pages,
			    struct recipes *recipes)
{
	struct hotspot *hotspot = alloc_zero(1, sizeof(*hotspot));

	hotspot->isa = isa;
	hotspot->images = images;
	hotspot->pages = pages;
	hotspot->recipes = recipes;
	return hotspot;
}

void hotspot_forget(struct hotspot *hotspot)
{
	map_done(&hotspot->by_pid);
	hotspot->by_pid = (struct map){ 0 };
	vec_clear(&hotspot->processes);
	vec_clear(&hotspot->libraries);
}

void hotspot_free(struct hotspot *hotspot)
{
	if (!hotspot)
		return;
	map_done(&hotspot->by_pid);
	vec_done(&hotspot->processes);
	vec_done(&hotspot->libraries);
	free(hotspot);
}

/* ---- where it is ------------------------------------------------------------------------------- */

static bool hotspot_is_library(const struct hotspot *hotspot, image_id id)
{
	const struct image *image = id == IMAGE_NONE ? NULL : images_peek(hotspot->images, id);

	return image && image->kind == IMAGE_ELF && strcmp(image_name(image), "libjvm.so") == 0;
}

/* Is it still at the same address? Otherwise it is searched, once for each state of the space. */
static bool hotspot_locate(struct hotspot *hotspot, struct space *space, struct hotspot_process *process)
{
	const struct space_map *map = process->image == IMAGE_NONE ? NULL : space_find(space, process->at);

	if (process->generation == space->generation)
		return process->image != IMAGE_NONE;
	if (map && map->image == process->image && map->bias == process->bias) {
		process->generation = space->generation;
		return true;
	}
	/* A program with tens of thousands of mappings is not searched for each new one. */
	size_t n_chunks = space->maps.chunks.n;
	if (n_chunks > 1 && process->n_since < n_chunks * 16) {
		process->n_since++;
		return false;
	}
	*process = (struct hotspot_process){ .generation = space->generation, .image = IMAGE_NONE };
	for (map = space_maps_next(&space->maps, 0); map && process->image == IMAGE_NONE;
	     map = space_maps_next(&space->maps, map->end)) {
		if (!hotspot_is_library(hotspot, map->image))
			continue;
		process->image = map->image;
		process->at = map->start;
		process->bias = map->bias;
	}
	return process->image != IMAGE_NONE;
}

static const struct hotspot_library *hotspot_library_of(struct hotspot *hotspot, image_id image)
{
	struct hotspot_library library = { .image = image };

	for (size_t i = 0; i < hotspot->libraries.n; i++)
		if (hotspot->libraries.at[i].image == image)
			return &hotspot->libraries.at[i];
	symbols_find_exports(images_get(hotspot->images, image), hotspot_export_names, HOTSPOT_EXPORTS,
			     library.vaddrs);
	vec_push(&hotspot->libraries, library);
	return &hotspot->libraries.at[hotspot->libraries.n - 1];
}

static void hotspot_read_layout(struct hotspot *hotspot, pid_t pid, struct hotspot_process *process)
{
	const struct hotspot_library *library = hotspot_library_of(hotspot, process->image);
	uint64_t exports[HOTSPOT_EXPORTS], epoch = code_pages_epoch(hotspot->pages);

	if (process->n_tries >= MAX_TRIES || process->tried == epoch)
		return;
	process->n_tries++;
	process->tried = epoch;
	for (unsigned i = 0; i < HOTSPOT_EXPORTS; i++) {
		if (!library->vaddrs[i])
			return;
		exports[i] = library->vaddrs[i] + process->bias;
	}
	process->has_layout = hotspot_layout_read(hotspot->pages, pid, exports, &process->layout);
}

/* NULL if it has no HotSpot, or one without a description of itself. */
static const struct hotspot_process *hotspot_find_process(struct hotspot *hotspot, struct space *space,
							  pid_t pid)
{
	uint32_t index = map_find(&hotspot->by_pid, (uint32_t)pid);

	if (index == MAP_NONE) {
		if (hotspot->processes.n >= MAX_PROCESSES) {
			map_done(&hotspot->by_pid);
			hotspot->by_pid = (struct map){ 0 };
			vec_clear(&hotspot->processes);
		}
		index = (uint32_t)hotspot->processes.n;
		map_put(&hotspot->by_pid, (uint32_t)pid, index);
		vec_push(&hotspot->processes,
			 (struct hotspot_process){ .n_since = SIZE_MAX, .image = IMAGE_NONE });
	}
	struct hotspot_process *process = &hotspot->processes.at[index];
	if (!hotspot_locate(hotspot, space, process))
		return NULL;
	if (!process->has_layout)
		hotspot_read_layout(hotspot, pid, process);
	return process->has_layout ? process : NULL;
}

/* ---- recipes ------------------------------------------------------------------------------------ */

/* On both architectures the return address is the frame's last word, and the caller's frame pointer the one
 * before it. No other register is preserved across calls. */
static uint32_t hotspot_add_recipe(struct hotspot *hotspot, uint64_t frame_size)
{
	const struct isa *isa = hotspot->isa;
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->sp,
				 .cfa_offset = (int32_t)frame_size,
				 .n_rules = 2,
				 .witness = WITNESS_TEMPLATE,
				 .trust = TRUST_STATED };
	struct rule fp = { .reg = isa->fp, .kind = RULE_AT_CFA, .offset = -16 };
	struct rule ra = { .reg = isa->ra, .kind = RULE_AT_CFA, .offset = -8 };
	struct rule rules[2] = { isa->fp < isa->ra ? fp : ra, isa->fp < isa->ra ? ra : fp };

	return recipes_add(hotspot->recipes, &recipe, rules);
}

uint32_t hotspot_recipe(struct hotspot *hotspot, struct space *space, const struct hotspot_place *place,
			bool is_anew)
{
	const struct hotspot_process *process =
		space ? hotspot_find_process(hotspot, space, place->pid) : NULL;
	struct hotspot_code code;

	if (!process ||
	    !hotspot_code_at(hotspot->pages, place->pid, &process->layout, place->pc, is_anew, &code) ||
	    (!place->is_return && place->pc < code.frame_from))
		return RECIPE_NONE;
	return hotspot_add_recipe(hotspot, code.frame_size);
}

/* ---- methods that were just entered ---------------------------------------------------------------- */

struct hotspot_memory {
	struct code_pages *pages;
	pid_t pid;
};

static struct bytes hotspot_memory_at(void *context, uint64_t pc)
{
	const struct hotspot_memory *memory = context;

	return code_pages_at(memory->pages, memory->pid, pc);
}

static uint32_t hotspot_stub_recipe(struct hotspot *hotspot, struct hotspot_memory *memory, uint64_t pc)
{
	const struct isa *isa = hotspot->isa;
	struct hotspot_stub stub;

	if (!hotspot_stub_find(isa, hotspot_memory_at, memory, pc, &stub))
		return RECIPE_NONE;
	bool is_on_top = stub.ra == REG_NONE, is_told = stub.sender != REG_NONE;
	struct rule ra = { .reg = isa->ra,
			   .kind = is_on_top ? RULE_AT_REG : RULE_REG,
			   .from = is_on_top ? isa->sp : stub.ra };
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = is_told ? stub.sender : isa->sp,
				 .cfa_offset = is_on_top && !is_told ? 8 : 0,
				 .n_rules = 1,
				 .witness = WITNESS_TEMPLATE,
				 .trust = TRUST_STATED };
	return recipes_add(hotspot->recipes, &recipe, &ra);
}

uint32_t hotspot_entry_recipe(struct hotspot *hotspot, struct space *space, const struct hotspot_place *place)
{
	struct hotspot_memory memory = { hotspot->pages, place->pid };
	struct rule ra = { .reg = hotspot->isa->ra, .kind = RULE_SAME };

	if (!space || !hotspot_find_process(hotspot, space, place->pid))
		return RECIPE_NONE;
	if (hotspot->isa->call_pushes_ra)
		return hotspot_stub_recipe(hotspot, &memory, place->pc);
	unsigned sender = hotspot_entry_sender(hotspot->isa, hotspot_memory_at, &memory, place->pc);
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = (uint8_t)sender,
				 .n_rules = 1,
				 .witness = WITNESS_TEMPLATE,
				 .trust = TRUST_STATED };
	return sender == REG_NONE ? RECIPE_NONE : recipes_add(hotspot->recipes, &recipe, &ra);
}
