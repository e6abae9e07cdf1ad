/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_profile: are profiles the same, byte for byte, but for the command line they were made by and what
 * making them cost?
 *
 *     same_profile FIRST OTHER...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static int pack(const char *path, struct writer *ret)
{
	struct profile *p = NULL;
	struct diag diag = { 0 };

	if (profile_read(path, &p, &diag) < 0) {
		printf("unreadable: %s: %s\n", diag.what, diag.why);
		return -1;
	}
	p->strings.strings.at[p->run.command_line] = "";
	p->strings.lengths.at[p->run.command_line] = 0;
	p->quality.own_cpu_ns = p->quality.own_peak_kb = 0;
	printf("%s: %" PRIu64 " samples, %zu threads, %zu nodes, %zu values\n", path, p->quality.samples,
	       p->threads.n, p->cct.nodes.n, p->cct.values.n);
	profile_pack(p, ret);
	profile_free(p);
	return 0;
}

int main(int argc, char **argv)
{
	struct writer first = { 0 };
	int code = EXIT_SUCCESS;

	if (argc < 3 || pack(argv[1], &first) < 0)
		return 2;
	for (int i = 2; i < argc; i++) {
		struct writer other = { 0 };
		if (pack(argv[i], &other) < 0)
			return 2;
		if (other.len != first.len || memcmp(other.at, first.at, first.len) != 0) {
			printf("%s is not %s\n", argv[i], argv[1]);
			code = EXIT_FAILURE;
		}
		writer_done(&other);
	}
	writer_done(&first);
	return code;
}
