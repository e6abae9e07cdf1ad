/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

void bpf_load_begin(struct bpf_load *load)
{
	libbpf_set_print(NULL);
	load->log = alloc_zero(1, BPF_LOG_SIZE);
	load->options = (struct bpf_object_open_opts){ .sz = sizeof(load->options),
						       .kernel_log_buf = load->log,
						       .kernel_log_size = BPF_LOG_SIZE };
}

/* The last line of the verifier's log that says what it objects to: behind it come only statistics. */
static void bpf_load_explain(struct diag *diag, const char *log)
{
	const char *end = log + strlen(log), *start, *statistics;

	while ((statistics = strstr(log, "\nprocessed ")) && statistics + 1 < end)
		end = statistics;
	while (end > log && end[-1] == '\n')
		end--;
	for (start = end; start > log && start[-1] != '\n'; start--)
		;
	if (end > start)
		diag_why(diag, "%.*s", (int)(end - start), start);
}

int bpf_load_shared(int error, const void *variables)
{
	return error || variables ? error : -ENOMEM;
}

int bpf_load_end(struct bpf_load *load, int error, struct text *ret_log, struct diag *diag)
{
	if (error) {
		diag_set(diag, error, "cannot load a BPF program");
		if (error != -EPERM)
			bpf_load_explain(diag, load->log);
		else if (geteuid() != 0)
			diag_hint(diag, "that needs root, or the capabilities CAP_BPF and CAP_PERFMON; "
					"try: sudo cpprof ...");
		if (ret_log)
			text_printf(ret_log, "%s", load->log);
	}
	free(load->log);
	return error;
}
