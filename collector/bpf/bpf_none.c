/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bpf_none: instead of the other files here, where cpprof is built without libbpf.
 */
#include <errno.h>
#include <stddef.h>

#include "collector/bpf/bpf_blocked.h"
#include "collector/bpf/bpf_deep.h"
#include "collector/bpf/bpf_paths.h"
#include "collector/bpf/bpf_symbol.h"
#include "collector/bpf/bpf_trace.h"
#include "collector/bpf/bpf_waits.h"

int bpf_deep_open(const struct deep_options *options, uint32_t n_cpus, const struct bpf_deep_use *use,
		  struct bpf_deep **ret, struct text *ret_log, struct diag *diag)
{
	(void)options, (void)n_cpus, (void)use, (void)ret, (void)ret_log;
	diag_set(diag, -EOPNOTSUPP, "cpprof was built without libbpf");
	diag_why(diag, "deep stacks need it");
	return -EOPNOTSUPP;
}

void bpf_deep_close(struct bpf_deep *deep)
{
	(void)deep;
}

int bpf_deep_program(const struct bpf_deep *deep)
{
	(void)deep;
	return -1;
}

int bpf_deep_wait_program(const struct bpf_deep *deep)
{
	(void)deep;
	return -1;
}

int bpf_deep_sample_output(const struct bpf_deep *deep, int cpu, unsigned size, int event)
{
	(void)deep, (void)cpu, (void)size, (void)event;
	return -EOPNOTSUPP;
}

int bpf_deep_output(const struct bpf_deep *deep, int cpu, int event)
{
	(void)deep, (void)cpu, (void)event;
	return -EOPNOTSUPP;
}

void bpf_deep_limit(const struct bpf_deep *deep, uint64_t key, const uint32_t *n_pages)
{
	(void)deep, (void)key, (void)n_pages;
}

void bpf_deep_hint(const struct bpf_deep *deep, uint64_t key, uint64_t hint)
{
	(void)deep, (void)key, (void)hint;
}

bool bpf_deep_seen(const struct bpf_deep *deep, uint64_t thread, struct deep_seen *ret)
{
	(void)deep, (void)thread, (void)ret;
	return false;
}

struct bpf_blocked *bpf_blocked_open(const struct blocked_options *options)
{
	(void)options;
	return NULL;
}

void bpf_blocked_close(struct bpf_blocked *blocked)
{
	(void)blocked;
}

int bpf_blocked_want(const struct bpf_blocked *blocked, pid_t tid)
{
	(void)blocked, (void)tid;
	return -ENOTSUP;
}

int bpf_blocked_read(const struct bpf_blocked *blocked, struct blocked_threads *ret)
{
	(void)blocked, (void)ret;
	return -ENOTSUP;
}

struct bpf_symbol *bpf_symbol_open(void)
{
	return NULL;
}

void bpf_symbol_close(struct bpf_symbol *symbol)
{
	(void)symbol;
}

int bpf_symbol_ask(const struct bpf_symbol *symbol, struct symbol_question *question)
{
	(void)symbol, (void)question;
	return -EOPNOTSUPP;
}

bool bpf_trace_can_set_many(void)
{
	return false;
}

int bpf_trace_open(const struct trace_options *options, uint32_t n_cpus, bool sets_many,
		   struct bpf_trace **ret, struct text *ret_log, struct diag *diag)
{
	(void)options, (void)n_cpus, (void)sets_many, (void)ret, (void)ret_log;
	diag_set(diag, -EOPNOTSUPP, "cpprof was built without libbpf");
	diag_why(diag, "tracing needs it");
	return -EOPNOTSUPP;
}

void bpf_trace_close(struct bpf_trace *trace)
{
	(void)trace;
}

bool bpf_trace_sees_waits(const struct bpf_trace *trace)
{
	(void)trace;
	return false;
}

int bpf_trace_output(const struct bpf_trace *trace, int cpu, int event)
{
	(void)trace, (void)cpu, (void)event;
	return -EOPNOTSUPP;
}

int bpf_trace_counter(const struct bpf_trace *trace, int cpu, uint32_t counter, int event)
{
	(void)trace, (void)cpu, (void)counter, (void)event;
	return -EOPNOTSUPP;
}

struct trace_count bpf_trace_count(const struct bpf_trace *trace, uint32_t function)
{
	(void)trace, (void)function;
	return (struct trace_count){ 0 };
}

void bpf_trace_stand(const struct bpf_trace *trace, uint32_t function, uint64_t n)
{
	(void)trace, (void)function, (void)n;
}

void bpf_trace_open_window(const struct bpf_trace *trace, uint64_t until_ns)
{
	(void)trace, (void)until_ns;
}

void bpf_trace_forget_calls(const struct bpf_trace *trace)
{
	(void)trace;
}

void bpf_trace_learn(const struct bpf_trace *trace, const struct trace_path_key *key, struct trace_path *path)
{
	(void)trace, (void)key, (void)path;
}

void bpf_trace_forget_paths(const struct bpf_trace *trace)
{
	(void)trace;
}

bool bpf_trace_read_sums(const struct bpf_trace *trace, uint32_t number, struct trace_sums *ret)
{
	(void)trace, (void)number, (void)ret;
	return false;
}

void bpf_trace_each_class(const struct bpf_trace *trace,
			  void (*visit)(void *context, uint32_t number, uint32_t class, uint64_t n),
			  void *context)
{
	(void)trace, (void)visit, (void)context;
}

size_t bpf_trace_blocks(const struct bpf_trace *trace, uint64_t **ret)
{
	(void)trace;
	*ret = NULL;
	return 0;
}

int bpf_trace_link(const struct bpf_trace *trace, const struct bpf_trace_places *places)
{
	(void)trace, (void)places;
	return -EOPNOTSUPP;
}

int bpf_trace_link_one(const struct bpf_trace *trace, const struct bpf_trace_places *places, size_t place)
{
	(void)trace, (void)places, (void)place;
	return -EOPNOTSUPP;
}

int bpf_paths_open(const struct bpf_paths_want *want, bool sets_many, struct bpf_paths **ret,
		   struct text *ret_log, struct diag *diag)
{
	(void)want, (void)sets_many, (void)ret, (void)ret_log;
	diag_set(diag, -EOPNOTSUPP, "cpprof was built without libbpf");
	diag_why(diag, "counting paths needs it");
	return -EOPNOTSUPP;
}

void bpf_paths_close(struct bpf_paths *paths)
{
	(void)paths;
}

int bpf_paths_set(struct bpf_paths *paths, pid_t pid, const char *path, const uint64_t *offsets,
		  uint32_t first, size_t n)
{
	(void)paths, (void)pid, (void)path, (void)offsets, (void)first, (void)n;
	return -EOPNOTSUPP;
}

void bpf_paths_clear(struct bpf_paths *paths)
{
	(void)paths;
}

void bpf_paths_count(struct bpf_paths *paths, bool counts)
{
	(void)paths, (void)counts;
}

void bpf_paths_take(const struct bpf_paths *paths,
		    void (*visit)(void *context, const struct paths_key *key, uint64_t count), void *context)
{
	(void)paths, (void)visit, (void)context;
}

struct paths_stats bpf_paths_stats(const struct bpf_paths *paths)
{
	(void)paths;
	return (struct paths_stats){ 0 };
}

int bpf_waits_open(const struct waits_options *options, uint32_t n_cpus, int deep, struct bpf_waits **ret,
		   struct diag *diag)
{
	(void)options, (void)n_cpus, (void)deep, (void)ret;
	diag_set(diag, -EOPNOTSUPP, "cpprof was built without libbpf");
	return -EOPNOTSUPP;
}

void bpf_waits_close(struct bpf_waits *waits)
{
	(void)waits;
}

int bpf_waits_output(const struct bpf_waits *waits, int cpu, int event)
{
	(void)waits, (void)cpu, (void)event;
	return -EOPNOTSUPP;
}

int bpf_waits_sample_output(const struct bpf_waits *waits, int cpu, int event)
{
	(void)waits, (void)cpu, (void)event;
	return -EOPNOTSUPP;
}

int bpf_waits_start(struct bpf_waits *waits, bool inherits)
{
	(void)waits, (void)inherits;
	return -EOPNOTSUPP;
}

void bpf_waits_turn(struct bpf_waits *waits, bool is_on)
{
	(void)waits, (void)is_on;
}

int bpf_waits_watch(struct bpf_waits *waits, pid_t tid, enum waits_target how)
{
	(void)waits, (void)tid, (void)how;
	return -EOPNOTSUPP;
}

void bpf_waits_unwatch(struct bpf_waits *waits, pid_t tid)
{
	(void)waits, (void)tid;
}

const uint64_t *bpf_waits_own_frames(const struct bpf_waits *waits)
{
	static const uint64_t none[WAITS_OWN_FRAMES];

	(void)waits;
	return none;
}

uint64_t bpf_waits_clock_offset(const struct bpf_waits *waits)
{
	(void)waits;
	return 0;
}

const struct waits_thread *bpf_waits_next(const struct bpf_waits *waits, uint32_t *at)
{
	(void)waits, (void)at;
	return NULL;
}

const struct waits_place *bpf_waits_next_place(const struct bpf_waits *waits, uint32_t *at)
{
	(void)waits, (void)at;
	return NULL;
}
