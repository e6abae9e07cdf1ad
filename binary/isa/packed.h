/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed: is the instruction arithmetic on several values at once? From its bytes alone.
 */
#pragma once

#include <stdbool.h>

#include "base/bytes.h"

bool a64_is_packed(struct bytes code);
bool x86_is_packed(struct bytes code);
