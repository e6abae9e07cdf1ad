/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed: frames of managed runtimes that cannot be unwound by analysing their code; they are recognised by
 * their layout.
 *
 * HotSpot's interpreter: the code of a bytecode ends with a jump to the next one, and a method call is a jump
 * with an artificial return address, so no call instruction precedes that address. Below the saved frame
 * pointer and return address are the caller's sp, the method, the address of the local variables (above the
 * frame) and the bottom of the expression stack (below it).
 *
 * V8: optimised code of a loop that has never ended contains no return instruction. Below the saved frame
 * pointer and return address are the context and the function, both tagged pointers, and the number of
 * arguments.
 */
#pragma once

#include "recipes/recipe.h"
#include "unwinder/cursor.h"

enum managed_kind {
	MANAGED_NONE,
	MANAGED_HOTSPOT_INTERPRETED,
	MANAGED_HOTSPOT_ENTERED, /* interrupted while an interpreted method sets up its frame: fp is still
				    that of its caller */
	MANAGED_V8,
	MANAGED_N
};

/*
 * What the frame that fp points to is. is_interrupted: it made no call. Compiled code may run with its
 * caller's frame pointer then; only HotSpot's interpreter has the address of the local variables in
 * its register, most of the time. MANAGED_HOTSPOT_ENTERED is a possibility then, to be confirmed by a return
 * address that no call precedes, or by code that uses the frame (x86-64).
 */
enum managed_kind managed_frame(const struct isa *isa, struct cursor *cursor, bool is_interrupted);
/* The same for the frame's caller, which made a call. */
enum managed_kind managed_caller(const struct isa *isa, struct cursor *cursor);
/* The recipe for such a frame. */
uint32_t managed_recipe(enum managed_kind kind, const struct isa *isa, struct recipes *recipes);
