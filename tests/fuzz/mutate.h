/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate: damages bytes, as a fuzzer does; deterministic for a state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Changes a few bytes; returns the new size, at most the old one. */
size_t mutate(uint8_t *data, size_t size, uint64_t *state);
