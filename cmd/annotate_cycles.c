/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate_cycles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "binary/flow/flow.h"
#include "cmd/cmd.h"
#include "cmd/code_file.h"
#include "report/cycles/cycles_text.h"

struct cycles_job {
	const struct profile *profile;
	const struct annotation *annotation;
	const struct annotate_cycles *options;
	struct code_file file;
	struct cfg cfg;
	struct cycles_counts counts;
	struct store *store;
	struct mca *mca;
	const char *cpu;
	double unit, clock_ghz;
	struct diag mca_failed;
};

/* ---- the code ----------------------------------------------------------------------------------------- */

/* The file that was recorded: another build has other blocks at the same addresses. */
static int job_open_file(struct cycles_job *job, struct diag *diag)
{
	const struct profile_image *image = &job->profile->images.at[job->annotation->map->image];
	const char *path = intern_text(&job->profile->strings, image->path);
	struct bytes code =
		profile_code_at(job->profile, job->annotation->map->image, job->annotation->map->vaddr);

	int error = code_file_open(&job->file, path, diag);
	if (error) {
		diag_hint(diag, "--cycles needs the recorded binary at its original path");
		return error;
	}
	bool is_other = image->build_id.len && job->file.image->build_id.len &&
			!build_id_equal(&image->build_id, &job->file.image->build_id);
	struct bytes now = bytes_slice(image_code(job->file.image, job->annotation->map->vaddr), 0, code.len);
	if (is_other || (code.len && !bytes_equal(code, now))) {
		diag_set(diag, -ESTALE, "'%s' is not the binary that was recorded", path);
		diag_why(diag, "it has been rebuilt since then");
		return -ESTALE;
	}
	return 0;
}

static int job_analyse(struct cycles_job *job, struct diag *diag)
{
	struct functions *functions =
		functions_new(job->file.image, job->file.symbols, job->file.frames, NULL);
	uint64_t vaddr = job->annotation->map->vaddr;
	uint32_t index = functions ? functions_find(functions, vaddr) : FUNCTION_NONE;
	struct flow flow;

	if (index == FUNCTION_NONE || functions->at[index].start != vaddr) {
		functions_free(functions);
		diag_set(diag, -ENOTSUP, "the basic blocks of this function cannot be determined");
		diag_why(diag, "no function starts at 0x%llx", (unsigned long long)vaddr);
		return -ENOTSUP;
	}
	flow_init(&flow, functions_facts(functions));
	functions_analyse_alone(functions, index, &flow);
	cfg_build(&job->cfg, &flow);
	flow_done(&flow);
	functions_free(functions);
	return 0;
}

/* ---- time --------------------------------------------------------------------------------------------- */

uint32_t annotate_cycles_metric(const struct profile *profile)
{
	for (uint32_t i = 1; i < profile->metrics.n; i++) {
		const char *name = intern_text(&profile->strings, profile->metrics.at[i].name);
		const char *unit = intern_text(&profile->strings, profile->metrics.at[i].unit);
		if (strcmp(unit, "ns") == 0 || strstr(name, "cycles"))
			return i;
	}
	return 0;
}

/* The number of cycles per unit of the metric. */
static int job_find_unit(struct cycles_job *job, struct diag *diag)
{
	const struct profile_metric *metric = &job->profile->metrics.at[job->options->metric];
	const char *name = intern_text(&job->profile->strings, metric->name);
	const char *unit = intern_text(&job->profile->strings, metric->unit);

	job->unit = 1;
	if (strstr(name, "cycles") && strcmp(unit, "ns") != 0)
		return 0;
	if (strcmp(unit, "ns") != 0) {
		diag_set(diag, -EINVAL, "'%s' is not a measure of time", name);
		diag_hint(diag, "choose a metric in ns, or one that counts cycles: --metric NAME");
		return -EINVAL;
	}
	job->clock_ghz = (double)job->options->clock_mhz / 1000;
	if (job->clock_ghz <= 0 && job->profile->run.cycle_fs)
		job->clock_ghz = 1e6 / (double)job->profile->run.cycle_fs;
	if (job->clock_ghz <= 0) {
		diag_set(diag, -ENODATA, "this recording does not contain the clock rate");
		diag_hint(diag, "give it with --clock-rate MHZ; recordings made by cpprof itself contain it");
		return -ENODATA;
	}
	job->unit = job->clock_ghz;
	return 0;
}

/* ---- best cases --------------------------------------------------------------------------------------- */

/* A missing best case is not an error: the rest is worth showing. */
static void job_open_mca(struct cycles_job *job)
{
	const char *recorded = intern_text(&job->profile->strings, job->profile->run.cpu_id);

	job->cpu = job->options->cpu ? job->options->cpu : mca_cpu_name(recorded);
	if (!job->cpu) {
		diag_set(&job->mca_failed, -ENOTSUP, "LLVM's name of this processor is not known");
		diag_hint(&job->mca_failed, "give it with --cpu NAME; llvm-mca -mcpu=help lists the names");
		return;
	}
	job->store = store_open(NULL, 0);
	mca_open(&(struct mca_options){ .isa = job->file.isa, .cpu = job->cpu, .store = job->store },
		 &job->mca, &job->mca_failed);
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static int job_prepare(struct cycles_job *job, struct diag *diag)
{
	if (job->annotation->map == &job->annotation->inlined) {
		diag_set(diag, -EINVAL, "an inlined function has no basic blocks of its own");
		diag_hint(diag, "give the function that it was inlined into");
		return -EINVAL;
	}
	int error = job_find_unit(job, diag);
	if (!error)
		error = job_open_file(job, diag);
	if (!error)
		error = job_analyse(job, diag);
	if (!error && job->options->counts)
		error = cycles_counts_read(job->options->counts, job->profile, job->annotation->map->vaddr,
					   &job->counts, diag);
	if (!error && job->options->counts)
		error = cycles_counts_check(job->options->counts, job->counts.module, job->counts.build_id,
					    &job->file.image->build_id, diag);
	return error;
}

static int job_run(struct cycles_job *job)
{
	const struct annotate_cycles *o = job->options;
	struct cycles_input input = {
		.cfg = &job->cfg,
		.image = job->file.image,
		.isa = job->file.isa,
		.annotation = job->annotation,
		.metric = o->metric,
		.unit = job->unit,
		.mca = job->mca,
		.counts = o->counts ? &job->counts : NULL,
	};
	struct cycles_show show = { .profile = job->profile,
				    .map = job->annotation->map,
				    .metric = o->metric,
				    .clock_ghz = job->clock_ghz,
				    .mca = job->mca,
				    .mca_cpu = job->cpu,
				    .counts_path = o->counts,
				    .counts = &job->counts,
				    .all = o->all,
				    .style = o->style };
	struct text text = { 0 };
	struct cycles cycles;
	int error = 0;

	cycles_find(&input, &cycles);
	if (!cycles.mca_failed.error)
		cycles.mca_failed = job->mca_failed;
	if (o->format)
		error = cycles_json(&cycles, &show, stdout);
	else
		cycles_text(&cycles, &show, &text);
	if (text.len)
		fwrite(text.at, 1, text.len, stdout);
	if (cycles.mca_failed.error)
		cmd_fail(&cycles.mca_failed);
	cycles_done(&cycles);
	text_done(&text);
	return error < 0 ? EXIT_FAULT : EXIT_OK;
}

int annotate_cycles_show(const struct profile *profile, const struct annotation *annotation,
			 const struct annotate_cycles *options)
{
	struct cycles_job job = { .profile = profile, .annotation = annotation, .options = options };
	struct diag diag = { 0 };
	int error = job_prepare(&job, &diag);

	if (!error)
		job_open_mca(&job);
	int code = error ? cmd_fail(&diag) : job_run(&job);
	mca_close(job.mca);
	store_close(job.store);
	cycles_counts_done(&job.counts);
	cfg_done(&job.cfg);
	if (job.file.images)
		code_file_close(&job.file);
	return code;
}
