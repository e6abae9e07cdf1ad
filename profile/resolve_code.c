/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/resolve_code.h"

#include <string.h>

#define MAX_FUNCTION                                                                                       \
	(256u << 10)        /* code of one function; larger functions are generated code that nobody reads \
			     */
#define MAX_ALL (16u << 20) /* of one profile */

void resolve_code(struct profile *profile, struct images *images)
{
	vec_clear(&profile->codes);
	vec_clear(&profile->code_bytes);
	for (size_t i = 0; i < profile->functions.n; i++) {
		const struct function_map *map = &profile->functions.at[i];
		const struct image *image = images_get(images, map->image);
		struct bytes code = image ? bytes_slice(image_code(image, map->vaddr), 0, map->size)
					  : (struct bytes){ 0 };
		if (code.len <= 1 || code.len > MAX_FUNCTION || profile->code_bytes.n + code.len > MAX_ALL)
			continue;
		vec_push(&profile->codes, (struct profile_code){ map->image, map->vaddr, (uint32_t)code.len,
								 (uint32_t)profile->code_bytes.n });
		vec_reserve(&profile->code_bytes, profile->code_bytes.n + code.len);
		memcpy(profile->code_bytes.at + profile->code_bytes.n, code.at, code.len);
		profile->code_bytes.n += code.len;
	}
}
