/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json: a document or stream as `cpprof check` reads it.
 */
#include "report/check_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_findings found;

	json_check((struct bytes){ data, size }, "fuzz", &found, NULL);
	return 0;
}
