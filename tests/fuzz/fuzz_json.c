/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json: a document or stream as read by `cpprof check`, from memory and from a file, with the same
 * result.
 */
#include <stdlib.h>

#include "report/export/check_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_findings found;
	int error = json_check((struct bytes){ data, size }, "fuzz", &found, NULL);
	FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	bool is_packed = size > 1 && data[0] == 0x1f && data[1] == 0x8b;

	if (!file)
		return 0;
	int again = json_check_file(file, "fuzz", &found, NULL);
	if (again != error && !is_packed)
		abort();
	fclose(file);
	return 0;
}
