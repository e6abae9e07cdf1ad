/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect cfg: blocks, how they end, and their successors.
 */
#include <stdio.h>

#include "binary/flow/cfg.h"
#include "cmd/cmd.h"
#include "cmd/inspect.h"
#include "cmd/inspect_code.h"

static const char *verdict_name(enum flow_verdict verdict)
{
	static const char *const names[] = { "passes its self-check", "fails its self-check", "has no exit",
					     "is too large" };

	return names[verdict];
}

static void print_block(const struct cfg *cfg, const struct cfg_block *block)
{
	printf("  %llx-%llx %u insns, %s", (unsigned long long)block->start, (unsigned long long)block->end,
	       block->n_insns, block_end_name((enum block_end)block->end_kind));
	if (block->tail_target)
		printf(" %llx", (unsigned long long)block->tail_target);
	if (!block->is_reached)
		printf(", unreached");
	if (block->is_guess)
		printf(", guess");
	printf("\n");
	for (uint32_t k = 0; k < block->n_calls; k++) {
		const struct cfg_call *call = &cfg->calls[block->first_call + k];
		printf("    call at %llx", (unsigned long long)call->vaddr);
		if (call->target)
			printf(" of %llx", (unsigned long long)call->target);
		printf("%s\n", call->does_not_return ? ", does not return" : "");
	}
	for (uint32_t k = 0; k < block->n_edges; k++) {
		const struct cfg_edge *edge = &cfg->edges[block->first_edge + k];
		printf("    %s -> %llx\n", edge_kind_name((enum edge_kind)edge->kind),
		       (unsigned long long)cfg->blocks[edge->to].start);
	}
}

static void print_cfg(void *context, const struct code_file *file, uint32_t function, struct flow *flow)
{
	const struct function *f = &flow->facts->at[function];
	struct cfg cfg;

	(void)context, (void)file;
	cfg_build(&cfg, flow);
	printf("%llx ", (unsigned long long)f->start);
	cmd_print_name(stdout, f->name ? f->name : "-");
	printf(": %s%s\n", verdict_name(flow->verdict), flow->returns ? "" : ", does not return");
	for (size_t i = 0; i < cfg.n_blocks; i++)
		print_block(&cfg, &cfg.blocks[i]);
	cfg_done(&cfg);
}

int inspect_cfg(int argc, char **argv)
{
	struct code_request request = {
		.command = "inspect cfg",
		.about = "Prints the control-flow graph of each function: blocks, calls, edges.",
		.print = print_cfg
	};

	return inspect_code(&request, argc, argv);
}
