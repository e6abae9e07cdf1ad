/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_cache: the names by which the unwinder still calls knowledge.
 */
#pragma once

#include "recipes/knowledge.h"

#define recipe_cache knowledge
#define recipe_cache_new knowledge_new
#define recipe_cache_free knowledge_free
#define recipe_cache_functions knowledge_functions
#define recipe_cache_save knowledge_save
#define recipe_cache_place knowledge_place
#define recipe_cache_recipes knowledge_recipes
#define recipe_cache_store knowledge_recipes
#define recipe_cache_frame_pointer knowledge_frame_pointer
#define recipe_cache_may_leave(k, image, vaddr) \
	(knowledge_ask((k), ASK_MAY_LEAVE, (image), (vaddr), 0).number != 0)
#define recipe_cache_stub_leads_to knowledge_stub_leads_to
#define recipe_cache_kept(k, image, vaddr) (knowledge_ask((k), ASK_KEPT, (image), (vaddr), 0).number)
#define recipe_cache_kept_since knowledge_kept_since
#define recipe_cache_holds(k, image, function, vaddr) \
	(knowledge_ask((k), ASK_HOLDS, (image), (function), (vaddr)).number != 0)
#define recipe_cache_compiled knowledge_compiled
