/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mca: the best case of code according to llvm-mca: all data in the first-level cache, all branches predicted
 * correctly.
 *
 * llvm-mc disassembles the bytes, and llvm-mca simulates them with the scheduling model of a processor. The
 * newest pair in PATH is used. For a processor without a model, LLVM silently uses another one: so the model
 * is identified by the names of its units, and the generic model is refused.
 */
#pragma once

#include "base/bytes.h"
#include "base/diag.h"
#include "base/store.h"
#include "binary/isa/isa.h"

struct mca;

struct mca_options {
	const struct isa *isa;
	const char *cpu;     /* LLVM's name */
	struct store *store; /* borrowed; NULL = results are not cached */
	uint64_t max_ns;     /* of one run; 0 = MCA_MAX_NS */
};
#define MCA_MAX_NS 5000000000ull

/* -ENOPKG if there is no llvm-mca, -ENOTSUP if it has no model of this processor, with a diag that suggests a
 * remedy. */
int mca_open(const struct mca_options *options, struct mca **ret, struct diag *diag);
void mca_close(struct mca *mca);
/* "llvm-mca-19"; "N1", from the names of its units. */
const char *mca_tool(const struct mca *mca);
const char *mca_model(const struct mca *mca);

/* Code that is repeated: consecutive blocks. */
struct mca_region {
	const struct bytes *blocks;
	size_t n;
	uint32_t n_insns;
	double cycles;   /* filled: of one pass; 0 = not known */
	bool is_partial; /* filled: some instructions are unknown */
};
/* -ETIME, or another negative errno, with a diag, if it failed completely. */
int mca_run(struct mca *mca, struct mca_region *regions, size_t n, struct diag *diag);

/* LLVM's name of the processor with this description (collector/live/cpu_id.h); NULL if it is not known. */
const char *mca_cpu_name(const char *description);
