/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/paths_rates.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "profile/profile.h"
#include "structure/frequency.h"

#define INSN_NS 0.2 /* two per cycle at 2.5 GHz: code that does not stall */
#define ROUNDS 8
#define SAMPLE_NS 1e6 /* for a profile not sampled by a clock: a guess */

void paths_samples_done(struct paths_samples *samples)
{
	vec_done(&samples->at);
}

/* ---- a profile ----------------------------------------------------------------------------------------- */

/* Our image for an image of the profile; IMAGE_NONE if there is none. Only an identical build has the same
 * code at the same addresses. */
static image_id rates_find_image(struct images *images, const struct profile *profile, image_id id)
{
	const struct profile_image *wanted = &profile->images.at[id];

	for (image_id i = 0; wanted->build_id.len && i < images_count(images); i++)
		if (build_id_equal(&wanted->build_id, &images_peek(images, i)->build_id))
			return i;
	return IMAGE_NONE;
}

/* The time that a sample stands for, on average. */
static double rates_sample_ns(const struct profile *profile)
{
	uint64_t n = profile_sum(profile, 0);

	for (uint32_t i = 1; n && i < profile->metrics.n; i++)
		if (strcmp(intern_text(&profile->strings, profile->metrics.at[i].name), "cpu-clock") == 0)
			return (double)profile_sum(profile, i) / (double)n;
	return SAMPLE_NS;
}

int paths_samples_read(struct paths_samples *samples, struct images *images, const char *path,
		       struct diag *diag)
{
	CLEANUP(profile_freep) struct profile *profile = NULL;
	int error = profile_read(path, &profile, diag);

	if (error)
		return error;
	profile_unpack(profile);
	samples->sample_ns = rates_sample_ns(profile);
	CLEANUP(freep) image_id *ours = alloc_zero(profile->images.n + 1, sizeof(*ours));
	for (image_id i = 0; i < profile->images.n; i++)
		ours[i] = rates_find_image(images, profile, i);
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_value *value = &profile->cct.values.at[i];
		const struct cct_node *node = &profile->cct.nodes.at[value->node];
		if (value->metric != 0 || node->image >= profile->images.n ||
		    ours[node->image] == IMAGE_NONE || (node->flags & CCT_IS_RETURN))
			continue;
		vec_push(&samples->at,
			 ((struct paths_sample){ ours[node->image], node->vaddr, value->value }));
	}
	samples->seconds = (double)profile->run.duration_ns / 1e9;
	if (!(samples->seconds > 0)) {
		diag_set(diag, -ENODATA, "'%s' does not contain the duration of its recording", path);
		return -ENODATA;
	}
	return 0;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* The flow into a block and out of it, by the rates of its neighbours. */
struct rates_flow {
	double in, out;           /* of all neighbours */
	double sure_in, sure_out; /* of those that have no other edge */
};

static void rates_sum(const struct cfg *cfg, const double *rates, const uint32_t *n_in,
		      struct rates_flow *ret)
{
	memset(ret, 0, cfg->n_blocks * sizeof(*ret));
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		for (uint32_t k = 0; k < cfg->blocks[i].n_edges; k++) {
			uint32_t to = cfg->edges[cfg->blocks[i].first_edge + k].to;
			ret[to].in += rates[i];
			ret[i].out += rates[to];
			ret[to].sure_in += cfg->blocks[i].n_edges == 1 ? rates[i] : 0;
			ret[i].sure_out += n_in[to] == 1 ? rates[to] : 0;
		}
}

/*
 * Samples are attributed some instructions too late: blocks of one or two instructions get none, or far too
 * many. So no block runs more often than all its predecessors, or all its successors, together; and a block
 * that was not seen runs at least as often as the neighbours that have no other edge.
 */
static void rates_smooth(const struct cfg *cfg, double *rates)
{
	CLEANUP(freep) uint32_t *n_in = alloc_zero(cfg->n_blocks + 1, sizeof(*n_in));
	CLEANUP(freep) struct rates_flow *flow = alloc_zero(cfg->n_blocks + 1, sizeof(*flow));

	for (size_t i = 0; i < cfg->n_edges; i++)
		n_in[cfg->edges[i].to]++;
	for (unsigned round = 0; round < ROUNDS; round++) {
		rates_sum(cfg, rates, n_in, flow);
		for (uint32_t i = 0; i < cfg->n_blocks; i++) {
			if (!(rates[i] > 0))
				rates[i] = fmax(flow[i].sure_in, flow[i].sure_out);
			else if (flow[i].in > 0 && i != cfg->entry)
				rates[i] = fmin(rates[i], flow[i].in);
			if (flow[i].out > 0)
				rates[i] = fmin(rates[i], flow[i].out);
		}
	}
}

/* Makes the total equal to the time that was seen. */
static void rates_scale(const struct cfg *cfg, const double *spent, double seconds, double *rates)
{
	double taken = 0, seen = 0;

	for (uint32_t i = 0; i < cfg->n_blocks; i++) {
		taken += rates[i] * INSN_NS * cfg->blocks[i].n_insns;
		seen += spent[i] / seconds;
	}
	for (uint32_t i = 0; taken > 0 && i < cfg->n_blocks; i++)
		rates[i] *= seen / taken;
}

double *paths_rates_find(const struct paths_samples *samples, image_id image, const struct cfg *cfg)
{
	CLEANUP(freep) double *spent = alloc_zero(cfg->n_blocks + 1, sizeof(*spent));
	CLEANUP(freep) double *best = alloc_zero(cfg->n_blocks + 1, sizeof(*best));
	CLEANUP(freep) uint64_t *n = alloc_zero(cfg->n_blocks + 1, sizeof(*n));
	struct frequency_input input = { cfg, spent, n, best };
	struct frequency frequency;
	bool is_seen = false;

	for (size_t i = 0; i < samples->at.n; i++) {
		const struct paths_sample *sample = &samples->at.at[i];
		uint32_t block = sample->image == image ? cfg_find(cfg, sample->vaddr) : UINT32_MAX;
		if (block == UINT32_MAX)
			continue;
		spent[block] += (double)sample->n * samples->sample_ns;
		n[block] += sample->n;
		is_seen = true;
	}
	if (!is_seen || !(samples->seconds > 0))
		return NULL;
	for (uint32_t i = 0; i < cfg->n_blocks; i++)
		best[i] = INSN_NS * cfg->blocks[i].n_insns;
	frequency_init(&frequency, cfg);
	frequency_estimate(&frequency, &input);
	double *rates = alloc_zero(cfg->n_blocks + 1, sizeof(*rates));
	for (uint32_t i = 0; i < cfg->n_blocks; i++) {
		enum confidence confidence;
		double times = frequency_of(&frequency, i, &confidence);
		rates[i] = confidence == CONFIDENCE_NONE || !(times > 0) ? 0 : times / samples->seconds;
	}
	frequency_done(&frequency);
	rates_smooth(cfg, rates);
	rates_scale(cfg, spent, samples->seconds, rates);
	return rates;
}
