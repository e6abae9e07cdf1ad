/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/function_private.h"

uint32_t functions_find(struct functions *functions, uint64_t vaddr)
{
	return functions_index(functions, vaddr);
}
