/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile: the result of a recording, in memory and on disk (FORMAT.md). Self-contained: after `resolve` it
 * can be read without the binaries.
 */
#pragma once

#include "base/diag.h"
#include "base/intern.h"
#include "base/real_user.h"
#include "base/vec.h"
#include "base/writer.h"
#include "binary/elf/image.h"
#include "profile/packed_values.h"
#include "profile/value_tables.h"
#include "recipes/recipe.h"
#include "structure/fuse.h"
#include "structure/structure.h"
#include "symbolize/function_map.h"
#include "unwinder/cct.h"
#include "unwinder/stack.h"

/* Strings are ids in profile.strings. */
struct profile_run {
	uint32_t tool_version, command_line, mode; /* mode: "record", "attach", "import", "merge" */
	uint32_t host, kernel, cpu, arch;
	uint32_t target; /* what was profiled, as text: a command or pids */
	uint32_t n_cpus;
	uint64_t start_unix_ns, duration_ns; /* of merged runs: the start of the first, all durations */
	uint64_t start_ns; /* the events' clock at the start: timeline and thread times count from here */
	uint32_t stack_size;
	uint32_t is_checkpoint; /* written while recording; the end is missing */
	uint32_t is_resolved;
	uint32_t n_runs;   /* runs that were merged; 0 = a single run */
	uint32_t cpu_id;   /* vendor, family, model and features, or implementer and part; 0 = not known */
	uint64_t cycle_fs; /* duration of a CPU cycle during the recording; 0 = not known. Of merged runs the
			      shortest */
};

struct profile_event {
	uint32_t name, unit;
	uint64_t frequency, period;
	uint32_t excludes_kernel;
};

/* Metric 0 is always "samples"; metric 1 + i is the weight of event i. */
struct profile_metric {
	uint32_t name, unit; /* "cpu-clock", "ns" */
	uint32_t event;      /* index, UINT32_MAX for samples */
};

struct profile_image {
	uint32_t path;
	uint32_t kind; /* enum image_kind */
	uint32_t elf_machine;
	struct build_id build_id;
	uint32_t debug; /* how names were found, as text; 0 = not resolved */
	int32_t pid;    /* of IMAGE_JIT: the process whose code it is, 0 = not known */
	/* In epochs: who can write the file, as in struct image. An image is not the same as one with another
	 * writer, even if it claims the same build-id. */
	uint32_t writer;
};

struct profile_process {
	int32_t pid, parent_pid;
	uint32_t comm, command_line;
	uint64_t start_ns, exit_ns; /* exit 0 = still there at the end */
	uint32_t user, group;       /* who started it: 1 + uid, 0 = not known; gid */
	uint32_t rank;              /* of an MPI job: 1 + rank, 0 = none or not known */
	uint32_t is_unplaced; /* merged with others whose start is known, while its own is not: its times are
				 not on the run's clock */
};

struct profile_thread {
	uint32_t process; /* index */
	int32_t tid;
	uint32_t comm;
	uint64_t start_ns, exit_ns;
};

/* Samples of one thread in one time bin. */
struct profile_bin {
	uint32_t thread, bin;
	uint64_t samples;
};

struct profile_quality {
	uint64_t samples; /* all that were received */
	uint64_t by_end[STACK_END_N];
	uint64_t steps_by_witness[WITNESS_N];
	uint64_t lost, throttled;         /* lost: records that the kernel dropped */
	uint64_t clipped;                 /* snapshots cut at the top of the thread's stack */
	uint64_t own_cpu_ns, own_peak_kb; /* cpprof's cost */
	uint64_t unsymbolized;            /* samples whose innermost function has no name */
	uint64_t without_lines;           /* ... no line */
	uint64_t damaged_units;           /* of debug files: units that could not be read completely */
	uint64_t wakeups;
	uint64_t outer;        /* samples whose stack was copied beyond the snapshot */
	uint64_t unseen;       /* calls that were not measured; measured ones represent them */
	uint64_t counted;      /* by event 0, with or without a sample; 0 = not known */
	uint64_t idle, others; /* ... in samples that are not in the profile: of idle CPUs, of processes that
				  are not recorded */
	uint64_t locked_kb,
		raised_by; /* while recording: memory of ring buffers, steps of nice; 0 = not known */
	uint64_t folded_contexts,
		folded_samples;   /* what is in <other>, to limit memory: unwinder/cct_fold.h */
	uint64_t thinned_below;   /* call paths with fewer samples, per thread, were thinned out to limit the
				     size: unwinder/cct_thin.h; 0 = none were */
	uint64_t thinned_samples; /* at most so many are represented by those of another path */
	uint64_t
		shortened_frames; /* not in files: profile_take_tree left out some of their scopes (fuse.h) */
};

/*
 * Of a reduced profile: statistics of the ranks that have a value in a node, for the node itself or including
 * everything below it. The sum is the node's value. Nodes without children have no row of the second kind.
 */
enum spread_kind { SPREAD_SELF, SPREAD_INCLUSIVE, SPREAD_KIND_N };
#define RANK_NONE UINT32_MAX
struct profile_spread {
	uint32_t node, metric;
	uint32_t kind; /* enum spread_kind */
	uint32_t n;    /* how many ranks have one */
	uint64_t min, max;
	uint32_t min_rank,
		max_rank; /* the lowest rank that has this value; RANK_NONE = its number is not known */
	uint64_t squares, squares_high; /* the sum of the squares of their values, 128 bits */
};

/* Machine code of a sampled function, as it was mapped. */
struct profile_code {
	image_id image;
	uint64_t vaddr;
	uint32_t len;
	uint32_t offset; /* in profile.code_bytes */
};

struct profile {
	struct intern strings;
	struct profile_run run;
	VEC(struct profile_event) events;
	VEC(struct profile_metric) metrics;
	VEC(struct profile_image) images;
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	struct cct cct;      /* image = index into images; thread = index into threads */
	VEC(uint64_t) given; /* by metric: the sums of the values, after profile_take_tree has taken them */
	VEC(uint64_t) given_unplaced; /* the same of those without a call path */
	uint64_t bin_ns;              /* width of a timeline bin */
	VEC(struct profile_bin) timeline;
	struct profile_quality quality;
	VEC(uint32_t) notes; /* sentences for the user: fallbacks, limits reached */
	/* After resolve: maps of every sampled function, sorted by (image, vaddr). */
	VEC(struct function_map) functions;
	/* Loops and inlined calls of the functions whose control flow could be recovered, sorted by (image,
	 * function). */
	VEC(struct structure) structures;
	/* Code of the functions, sorted by (image, vaddr); limited, so some may be missing. */
	VEC(struct profile_code) codes;
	VEC(uint8_t) code_bytes;
	uint64_t n_ranks;                  /* ranks that were reduced to one; 0 = not reduced */
	VEC(struct profile_spread) spread; /* sorted by (node, metric, kind) */
	/* The values of a merged profile, until profile_unpack moves them to the tree; otherwise NULL. */
	struct packed_values *packed;
	/* After profile_make_dense: written in fewer bytes, which takes longer: FORMAT.md, sections 23 and 24
	 */
	bool is_dense;
	struct writer contexts; /* section 25, written instead of others; empty: there is none */
	struct writer samples;  /* section 24, the same */
	/* If several processes have merged it: the tables of its values, to be written; otherwise NULL. */
	struct value_tables *tables;
};

#define HOLDER_METRIC                                                                                     \
	"held by " /* + name of a thread: the metric of waits for locks that such a thread held, while it \
		      held them */
#define WOKEN_BY "[woken by]"         /* the image below the wait that contains the call paths of wakers */
#define WAKER_METRIC "woken by "      /* + name of a thread: the metric of waits that such a thread ended */
#define PROFILE_DEFAULT "cpprof.data" /* the default file */

struct profile *profile_new(void);
void profile_free(struct profile *profile);
/* The user whose processes were recorded; nobody if they belong to several users. False if the profile does
 * not know. */
bool profile_user(const struct profile *profile, struct user *ret);
/* For CLEANUP. */
static inline void profile_freep(struct profile **profile)
{
	profile_free(*profile);
}

/*
 * Writes to a temporary file beside path and renames it, so that a reader sees the old file or the new one;
 * mode 0600, because it shows what was running. "-" is standard output; pipes and devices are written
 * directly.
 */
int profile_write(const struct profile *profile, const char *path, struct diag *diag);
/* The same with another mode, as in fresh_file_open. */
int profile_write_mode(const struct profile *profile, const char *path, mode_t mode, struct diag *diag);
/* The same with the bytes of profile_pack. */
int profile_write_packed(struct bytes file, const char *path, mode_t mode, struct diag *diag);
/* Renames an existing file to "path.old". */
int profile_rotate(const char *path, struct diag *diag);
/*
 * "-" is standard input. -EBADMSG for a damaged file, with the offset and the reason. A file that does not
 * start like a profile is not read any further.
 */
int profile_read(const char *path, struct profile **ret, struct diag *diag);
/* Only the tables up to that of the images: neither processes nor call paths. */
int profile_read_images(const char *path, struct profile **ret, struct diag *diag);
/* The same from and to memory; parsing is fuzzed. name is only for messages. */
int profile_parse(struct bytes bytes, const char *name, struct profile **ret, struct diag *diag);
void profile_pack(const struct profile *profile, struct writer *ret);
/* The same for a reader on this machine: nothing is compressed. */
void profile_pack_fast(const struct profile *profile, struct writer *ret);
/* For files that are kept for a long time. The profile must not be changed afterwards. */
void profile_make_dense(struct profile *profile);
/* After a merge, if the result is used for more than writing it: moves its values to the tree. */
void profile_unpack(struct profile *profile);

/* The input of fuse() from a profile. */
struct fuse_input profile_fuse_input(const struct profile *profile);
/*
 * Fuses, and reuses the memory of the CCT for the tree: the profile keeps only the sums of its values,
 * without contexts. For callers that only need the tree from then on.
 */
void profile_take_tree(struct profile *profile, const struct fuse_options *options, struct scope_tree *ret);
/* The sum of all values of a metric. */
uint64_t profile_sum(const struct profile *profile, uint32_t metric);
/* The same of values whose call path is not known at all. */
uint64_t profile_sum_unplaced(const struct profile *profile, uint32_t metric);

/* The code of the function that starts at (image, vaddr); empty if it was not stored. */
struct bytes profile_code_at(const struct profile *profile, image_id image, uint64_t vaddr);
/* The static map of the function that starts there; NULL if none was stored. */
const struct structure *profile_structure(const struct profile *profile, image_id image, uint64_t function);
/* The map whose function covers (image, vaddr); NULL if none was stored. */
const struct function_map *profile_function(const struct profile *profile, image_id image, uint64_t vaddr);
