/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/bpf_symbol.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collector/bpf/bpf_load.h"
#include "collector/bpf/symbol.skel.h"

struct bpf_symbol *bpf_symbol_open(void)
{
	struct diag diag = { 0 };
	struct bpf_load load;

	bpf_load_begin(&load);
	struct symbol_bpf *skeleton = symbol_bpf__open_opts(&load.options);
	int error = skeleton ? symbol_bpf__load(skeleton) : -errno;
	if (bpf_load_end(&load, error, NULL, &diag) == 0)
		return (struct bpf_symbol *)skeleton;
	symbol_bpf__destroy(skeleton);
	return NULL;
}

void bpf_symbol_close(struct bpf_symbol *symbol)
{
	symbol_bpf__destroy((struct symbol_bpf *)symbol);
}

int bpf_symbol_ask(const struct bpf_symbol *symbol, struct symbol_question *question)
{
	const struct symbol_bpf *skeleton = (const struct symbol_bpf *)symbol;
	struct bpf_test_run_opts options = { .sz = sizeof(options),
					     .ctx_in = question,
					     .ctx_size_in = sizeof(*question) };

	return bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.cpprof_symbol), &options) < 0 ? -errno
												    : 0;
}
