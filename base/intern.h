/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern: stores each string once, identified by a small number. Id 0 is always "".
 */
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/slots.h"
#include "base/vec.h"

#define INTERN_NONE SLOT_FREE

struct intern {
	VEC(const char *) strings; /* by id; valid as long as the table */
	VEC(uint32_t) lengths;
	struct slots slots; /* of ids */
	struct arena arena;
};

void intern_init(struct intern *intern);
void intern_done(struct intern *intern);
/* text may contain any byte except zero. */
uint32_t intern_add(struct intern *intern, const char *text);
/* INTERN_NONE if it was not added. */
uint32_t intern_find(const struct intern *intern, const char *text);
uint32_t intern_add_n(struct intern *intern, const char *text, size_t len);
/* "" if there is no such id. */
const char *intern_text(const struct intern *intern, uint32_t id);
