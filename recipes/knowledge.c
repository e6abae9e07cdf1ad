/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/knowledge.h"

#include <stdlib.h>

#include "binary/functions/plt.h"
#include "recipes/behind.h"
#include "recipes/knowledge_private.h"
#include "recipes/template.h"

/*
 * Hand-written code may keep its return address in a register that its helpers are known to preserve: one
 * that is neither an argument nor a result, nor reserved for the linker (x16, x17) or the platform (x18).
 * Whether the functions on the stack have preserved it is checked by the walk.
 */
static uint64_t knowledge_kept_by_hand(const struct isa *isa)
{
	uint64_t platform = isa->call_pushes_ra ? 0 : 7ull << 16;

	return ~(isa->argument_regs | 1ull << isa->ra | platform | 1);
}

struct knowledge *knowledge_new(struct images *images, const struct isa *isa, enum unwind_mode mode,
				struct store *store)
{
	struct knowledge *knowledge = alloc_zero(1, sizeof(*knowledge));

	knowledge->images = images;
	knowledge->isa = isa;
	knowledge->mode = mode;
	knowledge->store = store;
	recipes_init(&knowledge->recipes);
	knowledge->ahead = ahead_new(isa, knowledge_kept_by_hand(isa));
	knowledge->frame_pointer = template_frame_pointer(isa, &knowledge->recipes);
	return knowledge;
}

void knowledge_set_patience(struct knowledge *knowledge, unsigned n_looks)
{
	knowledge->patience = n_looks < UINT8_MAX ? n_looks : UINT8_MAX;
}

void knowledge_hurry(struct knowledge *knowledge)
{
	atomic_store(&knowledge->is_hurried, true);
}

void knowledge_free(struct knowledge *knowledge)
{
	if (!knowledge)
		return;
	for (size_t i = 0; i < knowledge->codes.n; i++)
		code_free(knowledge->codes.at[i]);
	vec_done(&knowledge->codes);
	ahead_free(knowledge->ahead);
	recipes_done(&knowledge->recipes);
	free(knowledge);
}

void knowledge_save(struct knowledge *knowledge)
{
	for (size_t i = 0; i < knowledge->codes.n; i++) {
		struct code *code = knowledge->codes.at[i];
		if (code)
			kept_save(&code->kept, code->analysis);
	}
}

void knowledge_forget(struct knowledge *knowledge, bool all)
{
	for (size_t i = 0; knowledge->store && i < knowledge->codes.n; i++) {
		struct code *code = knowledge->codes.at[i];
		if (!code)
			continue;
		bool is_kept = code->is_busy && !all;
		code->is_busy = false;
		if (is_kept)
			continue;
		kept_save(&code->kept, code->analysis);
		code_free(code);
		knowledge->codes.at[i] = NULL;
	}
}

void knowledge_forget_images(struct knowledge *knowledge, const bool *is_unused)
{
	for (size_t i = 0; i < knowledge->codes.n; i++) {
		if (!is_unused[i] || !knowledge->codes.at[i])
			continue;
		if (knowledge->store)
			kept_save(&knowledge->codes.at[i]->kept, knowledge->codes.at[i]->analysis);
		code_free(knowledge->codes.at[i]);
		knowledge->codes.at[i] = NULL;
	}
}

struct recipes *knowledge_recipes(const struct knowledge *knowledge)
{
	return (struct recipes *)&knowledge->recipes;
}

uint32_t knowledge_frame_pointer(const struct knowledge *knowledge)
{
	return knowledge->frame_pointer;
}

struct functions *knowledge_functions(struct knowledge *knowledge, image_id image)
{
	const struct code *code = image < knowledge->codes.n ? knowledge->codes.at[image] : NULL;

	return code && code->analysis ? analysis_functions(code->analysis) : NULL;
}

uint64_t knowledge_compiled(const struct knowledge *knowledge)
{
	return knowledge->n_compiled;
}

uint64_t knowledge_analysed(const struct knowledge *knowledge)
{
	uint64_t n = 0;

	for (size_t i = 0; i < knowledge->codes.n; i++) {
		const struct code *code = knowledge->codes.at[i];
		n += code && code->analysis ? analysis_count(code->analysis) : 0;
	}
	return n;
}

/* ---- how answers are computed ----------------------------------------------------------------------- */

static void knowledge_work_out_beside(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				      struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->recipe = analysis_recipe(code_analysis(code), a, false, &ret->number);
}

static void knowledge_work_out_alone(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				     struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->recipe = analysis_recipe(code_analysis(code), a, true, &ret->number);
}

static void knowledge_work_out_near(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				    struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->recipe = analysis_near_recipe(code_analysis(code), a, &ret->number);
}

static void knowledge_work_out_kept(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				    struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->number = analysis_kept(code_analysis(code), a);
}

static void knowledge_work_out_leads(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				     struct answer *ret)
{
	(void)knowledge;
	ret->number = analysis_leads_only_to(code_analysis(code), a, b);
}

static void knowledge_work_out_name(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				    struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->number = analysis_name(code_analysis(code), a);
}

static void knowledge_work_out_stub_name(struct knowledge *knowledge, struct code *code, uint64_t a,
					 uint64_t b, struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->number = analysis_name_number(plt_name_at(code->image, code->isa, a));
	if (!ret->number && !image_may_scan(code->image))
		ret->number = analysis_name(code_analysis(code), a);
}

static void knowledge_work_out_has_name(struct knowledge *knowledge, struct code *code, uint64_t a,
					uint64_t b, struct answer *ret)
{
	int answer = analysis_file_has_name(code->image, a, b);

	(void)knowledge;
	ret->number = answer >= 0 ? (uint64_t)answer : analysis_has_name(code_analysis(code), a, b);
}

static void knowledge_work_out_may_leave(struct knowledge *knowledge, struct code *code, uint64_t a,
					 uint64_t b, struct answer *ret)
{
	(void)knowledge, (void)b;
	ret->number = code_may_leave(code, a);
}

static void knowledge_work_out_holds(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				     struct answer *ret)
{
	const struct table_span *entry = code_entry(code, b);

	(void)knowledge;
	ret->number = entry && entry->start == a;
}

struct bytes knowledge_code(void *image, uint64_t vaddr)
{
	return image_code(image, vaddr);
}

static void knowledge_work_out_sp_from_fp(struct knowledge *knowledge, struct code *code, uint64_t a,
					  uint64_t b, struct answer *ret)
{
	int64_t distance;

	if (analysis_sp_from_fp(code_analysis(code), a, &distance))
		ret->number = (uint64_t)distance;
	else if (b && behind_points_to_frame(knowledge->isa, knowledge_code, code->image, a))
		ret->number = -b;
}

/* Code with an unwind entry is a function like any other. */
static void knowledge_work_out_continued(struct knowledge *knowledge, struct code *code, uint64_t a,
					 uint64_t b, struct answer *ret)
{
	bool is_wanted = knowledge->mode == UNWIND_AUTO || knowledge->mode == UNWIND_ANALYSIS;

	if (is_wanted && !code_entry(code, a))
		ret->recipe = analysis_continued_recipe(code_analysis(code), a, b);
}

static void knowledge_work_out_place(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
				     struct answer *ret)
{
	ret->place.has_code = true;
	place_find(knowledge, code, a, b, &ret->place);
}

/* ---- questions -------------------------------------------------------------------------------------- */

enum keeping {
	KEEP_FACT,  /* as a single answer */
	KEEP_ROWS,  /* as rows of its function if they say the same; otherwise as a single answer */
	KEEP_PLACE, /* in the usual mode of unwinding */
};

static const struct question_row {
	enum keeping keeping;
	uint64_t unknown; /* the number of the answer if nothing is known */
	void (*work_out)(struct knowledge *knowledge, struct code *code, uint64_t a, uint64_t b,
			 struct answer *ret);
} questions[] = {
	[ASK_RECIPE_BESIDE] = { KEEP_ROWS, VADDR_NONE, knowledge_work_out_beside },
	[ASK_RECIPE_ALONE] = { KEEP_ROWS, VADDR_NONE, knowledge_work_out_alone },
	[ASK_NEAR_RECIPE] = { KEEP_FACT, VADDR_NONE, knowledge_work_out_near },
	[ASK_KEPT] = { KEEP_FACT, 0, knowledge_work_out_kept },
	[ASK_LEADS_ONLY_TO] = { KEEP_FACT, false, knowledge_work_out_leads },
	[ASK_NAME] = { KEEP_FACT, 0, knowledge_work_out_name },
	[ASK_STUB_NAME] = { KEEP_FACT, 0, knowledge_work_out_stub_name },
	[ASK_HAS_NAME] = { KEEP_FACT, false, knowledge_work_out_has_name },
	[ASK_MAY_LEAVE] = { KEEP_FACT, true, knowledge_work_out_may_leave },
	[ASK_HOLDS] = { KEEP_FACT, false, knowledge_work_out_holds },
	[ASK_SP_FROM_FP] = { KEEP_FACT, VADDR_NONE, knowledge_work_out_sp_from_fp },
	[ASK_CONTINUED] = { KEEP_FACT, 0, knowledge_work_out_continued },
	[ASK_PLACE] = { KEEP_PLACE, 0, knowledge_work_out_place },
};
_Static_assert(ARRAY_LEN(questions) == QUESTIONS_N, "every question has a row");

bool knowledge_find_answer(struct knowledge *knowledge, enum question question, struct code *code, uint64_t a,
			   uint64_t b, struct answer *ret)
{
	switch (questions[question].keeping) {
	case KEEP_FACT:
		return kept_fact(&code->kept, question, a, b, ret);
	case KEEP_ROWS:
		return kept_recipe(&code->kept, question, question == ASK_RECIPE_ALONE, a, ret);
	case KEEP_PLACE:
		return knowledge->mode == UNWIND_AUTO &&
		       (kept_place(&code->kept, a, b, &ret->place) ||
			(b && knowledge->patience && kept_early_place(&code->kept, a, &ret->place)));
	}
	return false;
}

static void knowledge_keep_answer(struct knowledge *knowledge, enum question question, struct code *code,
				  uint64_t a, uint64_t b, const struct answer *answer)
{
	switch (questions[question].keeping) {
	case KEEP_FACT:
		kept_add_fact(&code->kept, question, a, b, answer);
		break;
	case KEEP_ROWS:
		kept_add_recipe(&code->kept, question, question == ASK_RECIPE_ALONE, a, answer,
				code->analysis);
		break;
	case KEEP_PLACE:
		if (knowledge->mode != UNWIND_AUTO)
			break;
		if (!answer->place.is_early)
			kept_add_place(&code->kept, a, b, &answer->place);
		else if (b) /* others are counted by looking at them */
			kept_add_early_place(&code->kept, a, &answer->place);
		break;
	}
}

void knowledge_ask_code(struct knowledge *knowledge, enum question question, struct code *code, uint64_t a,
			uint64_t b, struct answer *ret)
{
	bool is_of_code = question != ASK_PLACE && question != ASK_HOLDS;

	if (knowledge_find_answer(knowledge, question, code, a, b, ret) ||
	    (is_of_code && atomic_load_explicit(&knowledge->is_hurried, memory_order_relaxed)))
		return;
	code->is_busy = true;
	questions[question].work_out(knowledge, code, a, b, ret);
	if (!atomic_load_explicit(&knowledge->is_hurried, memory_order_relaxed))
		knowledge_keep_answer(knowledge, question, code, a, b, ret);
}

/* NULL for images without code of this machine. */
static struct code *knowledge_code_of(struct knowledge *knowledge, image_id id)
{
	struct image *image = images_get(knowledge->images, id);

	if (!image || image->elf_machine != knowledge->isa->elf_machine)
		return NULL;
	while (knowledge->codes.n <= id)
		vec_push(&knowledge->codes, NULL);
	if (!knowledge->codes.at[id])
		knowledge->codes.at[id] = code_new(image, knowledge->isa, &knowledge->recipes,
						   &knowledge->n_compiled, knowledge->store);
	return knowledge->codes.at[id];
}

struct answer knowledge_ask(struct knowledge *knowledge, enum question question, image_id image, uint64_t a,
			    uint64_t b)
{
	struct code *code = knowledge_code_of(knowledge, image);
	const struct image *known = question == ASK_PLACE ? images_get(knowledge->images, image) : NULL;
	struct answer answer = { .number = questions[question].unknown, .recipe = RECIPE_NONE };

	answer.place = (struct place){ .recipes = { { RECIPE_NONE, RECIPE_NONE } },
				       .function = VADDR_NONE,
				       .call = CALL_UNKNOWN,
				       .is_trampoline = known && (template_is_uprobes(known) ||
								  template_is_uprobes_call(known)) };
	if (code)
		knowledge_ask_code(knowledge, question, code, a, b, &answer);
	return answer;
}

void knowledge_place(struct knowledge *knowledge, image_id image, uint64_t vaddr, bool is_return,
		     struct place *ret)
{
	*ret = knowledge_ask(knowledge, ASK_PLACE, image, vaddr, is_return).place;
}

void knowledge_place_now(struct knowledge *knowledge, image_id image, uint64_t vaddr, bool is_return,
			 struct place *ret)
{
	unsigned patience = knowledge->patience;

	knowledge->patience = 0;
	knowledge_place(knowledge, image, vaddr, is_return, ret);
	knowledge->patience = patience;
}

bool knowledge_stub_leads_to(struct knowledge *knowledge, image_id image, uint64_t vaddr, image_id callee,
			     uint64_t function)
{
	bool is_wanted = knowledge->mode == UNWIND_AUTO || knowledge->mode == UNWIND_ANALYSIS;

	if (!is_wanted || function == VADDR_NONE || !knowledge_code_of(knowledge, callee))
		return false;
	uint64_t name = knowledge_number(knowledge, ASK_STUB_NAME, image, vaddr, 0);
	return name && knowledge_number(knowledge, ASK_HAS_NAME, callee, function, name);
}

uint64_t knowledge_kept_since(struct knowledge *knowledge, image_id image, uint64_t called, uint64_t vaddr)
{
	if (!knowledge_number(knowledge, ASK_LEADS_ONLY_TO, image, called, vaddr))
		return 0;
	return knowledge_number(knowledge, ASK_KEPT, image, called, 0) &
	       knowledge_number(knowledge, ASK_KEPT, image, vaddr, 0);
}
