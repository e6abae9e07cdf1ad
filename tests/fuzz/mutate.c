/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/mutate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

static uint64_t next_random(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15u;
	return hash_u64(*state);
}

/* Values that often break counts and offsets. */
static void put_extreme(uint8_t *at, size_t room, uint64_t random)
{
	static const uint64_t extremes[] = { 0,      1,          0x7f,       0xff,      0x7fff,
					     0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX };
	size_t width = (size_t)1 << (random >> 8 & 3);

	memcpy(at, &extremes[random % ARRAY_LEN(extremes)], width < room ? width : room);
}

size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
	for (uint64_t n = 1 + next_random(state) % 4; n > 0 && size > 0; n--) {
		uint64_t random = next_random(state);
		size_t at = next_random(state) % size;
		switch (random >> 60 & 7) {
		case 0:
			size = at;
			break;
		case 1:
		case 2:
			put_extreme(data + at, size - at, random);
			break;
		case 3:
			data[at] = (uint8_t)random;
			break;
		case 4: {
			size_t from = next_random(state) % size, len = random % 16;
			len = len < size - at ? len : size - at;
			len = len < size - from ? len : size - from;
			memmove(data + at, data + from, len);
			break;
		}
		default:
			data[at] ^= (uint8_t)(1u << (random & 7));
			break;
		}
	}
	return size;
}
