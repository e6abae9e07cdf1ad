/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * trace: runs in the kernel at each entry and each exit of chosen functions, pairs them, and sends a record
 * of every call that has ended, with the registers and the stack at its end.
 *
 * A call is identified by its process, its function and the stack pointer at its entry, which is the same at
 * its exit. No two open calls of a process have all three in common, so recursive calls, signal handlers,
 * coroutines, and calls that are left by longjmp or an exception are told apart.
 *
 * Times exclude those of traced calls inside; each thread keeps their sum.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>

#include "collector/bpf/trace_layout.h"

#define OPEN_CALLS 65536
#define KNOWN_THREADS 16384

/* Some of the kernel's functions used here are available only to programs under its own licence. */
char cpprof_license[] SEC("license") = "GPL";

const volatile struct trace_options options = { 0 };
/* Incremented when probes are removed and set again: calls of earlier generations are ignored. */
__u64 generation;

__u64 window_until; /* calls that represent others are measured only if they begin before that time */

/* The offsets of these members depend on the kernel: the loader fills them in. */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
} __attribute__((preserve_access_index));
struct uprobe_task {
	struct return_instance *return_instances;
} __attribute__((preserve_access_index));
struct sched_info {
	unsigned long long last_arrival; /* when it last got a CPU, by the scheduler's clock */
} __attribute__((preserve_access_index));
struct task_struct {
	int pid;
	unsigned long min_flt, maj_flt;
	struct sched_info sched_info;
	struct uprobe_task *utask;
} __attribute__((preserve_access_index));

struct call_key {
	__u64 frame; /* sp at the entry */
	__u32 process, function;
};
struct open_call {
	__u64 start, off_start;      /* off_start: how long the thread had waited by then */
	__u64 faults_start;          /* the same for its page faults */
	__u64 wall, off_cpu, faults; /* the caller's sums of calls inside it so far, to be restored */
	__u64 arg;
	__u64 entry;
	__u64 generation, n_stands;
	__u64 counted_start[TRACE_COUNTERS_MAX], counted[TRACE_COUNTERS_MAX]; /* the same for events */
};
struct thread {
	__u64 left;                       /* when it left its CPU; 0 = it is running */
	__u64 got;                        /* when it last got one; 0 = that was not reported */
	__u64 ahead;                      /* our clock minus the scheduler's, at that moment; 0 = not known */
	__u64 off_cpu;                    /* how long it has waited in total, since it is known */
	__u64 wall, off_sum, faults;      /* sums of calls that have ended inside the current one */
	__u64 inside[TRACE_COUNTERS_MAX]; /* the same for events */
	/* Events counted until it last got a CPU, and that CPU's counters at that moment. */
	__u64 counted[TRACE_COUNTERS_MAX], at_start[TRACE_COUNTERS_MAX];
	/* For allocations: */
	__u64 countdown;                          /* bytes until the next sample; 0 = not drawn yet */
	__u64 last_frame, last_size, last_return; /* of the last call */
	__u32 last_function, zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, OPEN_CALLS);
	__type(key, struct call_key);
	__type(value, struct open_call);
} cpprof_open SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KNOWN_THREADS);
	__type(key, __u32);
	__type(value, struct thread);
} cpprof_threads SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TRACE_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, struct trace_count);
} cpprof_counts SEC(".maps");
/* How many calls of a function one measured call represents; 0 = only itself. Set by cpprof. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TRACE_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} cpprof_stands SEC(".maps");
/*
 * The record under construction, one per thread. It must not be per CPU: a preemptible kernel may run another
 * thread's probe on this CPU before this one has finished.
 */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct trace_call);
} cpprof_call SEC(".maps");
/* Where records are written: one event per CPU. Its size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_output SEC(".maps");

/* The program that copies deep stacks: if there is one, it runs at the end of a call instead of write_call,
 * and then calls cpprof_send. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_next SEC(".maps");

/* ---- reading the context ---------------------------------------------------------------------- */

/* The verifier accepts only constant offsets into the context; the compiler would merge two such loads. */
#define CONTEXT_WORD(context, n)                                                                  \
	({                                                                                        \
		__u64 word;                                                                       \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(context), "i"(8 * (n))); \
		word;                                                                             \
	})

static __always_inline __u64 read_sp(void *context)
{
	return options.is_x86 ? CONTEXT_WORD(context, 19) : CONTEXT_WORD(context, 31);
}

static __always_inline __u64 read_pc(void *context)
{
	return options.is_x86 ? CONTEXT_WORD(context, 16) : CONTEXT_WORD(context, 32);
}

static __always_inline __u64 read_result(void *context)
{
	return options.is_x86 ? CONTEXT_WORD(context, 10) : CONTEXT_WORD(context, 0);
}

static __always_inline __u64 read_x86_argument(void *context, __u32 arg)
{
	switch (arg) {
	case 0:
		return CONTEXT_WORD(context, 14); /* rdi */
	case 1:
		return CONTEXT_WORD(context, 13); /* rsi */
	case 2:
		return CONTEXT_WORD(context, 12); /* rdx */
	case 3:
		return CONTEXT_WORD(context, 11); /* rcx */
	case 4:
		return CONTEXT_WORD(context, 9); /* r8 */
	case 5:
		return CONTEXT_WORD(context, 8); /* r9 */
	}
	return 0;
}

static __always_inline __u64 read_a64_argument(void *context, __u32 arg)
{
	switch (arg) {
	case 0:
		return CONTEXT_WORD(context, 0);
	case 1:
		return CONTEXT_WORD(context, 1);
	case 2:
		return CONTEXT_WORD(context, 2);
	case 3:
		return CONTEXT_WORD(context, 3);
	case 4:
		return CONTEXT_WORD(context, 4);
	case 5:
		return CONTEXT_WORD(context, 5);
	}
	return 0;
}

static __always_inline __u64 read_argument(void *context, __u32 arg)
{
	return options.is_x86 ? read_x86_argument(context, arg) : read_a64_argument(context, arg);
}

#include "collector/bpf/counters.bpf.h"

/* Adds to a value of this CPU; atomic, because another thread may have been preempted while doing so. */
static __always_inline void tally(__u64 *sum, __u64 n)
{
	__sync_fetch_and_add(sum, n);
}

/* NULL: out of memory. */
static __always_inline struct trace_call *own_record(void)
{
	return bpf_task_storage_get(&cpprof_call, bpf_get_current_task_btf(), 0,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* ---- threads ------------------------------------------------------------------------------------------ */

static __always_inline struct thread *find_thread(__u32 tid)
{
	struct thread *thread = bpf_map_lookup_elem(&cpprof_threads, &tid);

	if (!thread) {
		struct thread fresh = { 0 };
		bpf_map_update_elem(&cpprof_threads, &tid, &fresh, BPF_ANY);
		thread = bpf_map_lookup_elem(&cpprof_threads, &tid);
		if (thread)
			start_counting(thread);
	}
	return thread;
}

static __always_inline __u64 last_arrival(const struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.last_arrival) ? task->sched_info.last_arrival : 0;
}

/* For a thread that is running: if the kernel has not reported that it got a CPU again, the scheduler still
 * knows when that was. What was counted since then is not known. */
static __always_inline void find_arrival(struct thread *thread, const struct task_struct *task)
{
	__u64 got = last_arrival(task) + thread->ahead;

	if (!thread->left)
		return;
	if (thread->ahead && got > thread->left)
		thread->off_cpu += got - thread->left;
	thread->left = thread->got = 0;
	start_counting(thread);
}

SEC("tp_btf/sched_switch")
int cpprof_switch(__u64 *context)
{
	const struct task_struct *before = (const void *)context[1], *next = (const void *)context[2];
	__u64 now = bpf_ktime_get_ns();
	__u32 out = (__u32)before->pid, in = (__u32)next->pid;
	struct thread *thread = bpf_map_lookup_elem(&cpprof_threads, &out);

	if (thread) {
		find_arrival(thread, before);
		if (thread->got)
			thread->ahead = thread->got - last_arrival(before);
		thread->left = now;
		stop_counting(thread);
	}
	thread = bpf_map_lookup_elem(&cpprof_threads, &in);
	if (thread && thread->left) {
		thread->off_cpu += now - thread->left;
		thread->left = 0;
		thread->got = now;
		start_counting(thread);
	}
	return 0;
}

/* ---- calls -------------------------------------------------------------------------------------------- */

/* Page faults of the current thread since it started. */
static __always_inline __u64 count_faults(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	return task->min_flt + task->maj_flt;
}

/* The time, and how long the thread had waited by then; both are read again if it lost its CPU in between. */
static __always_inline __u64 read_clocks(const struct thread *thread, __u64 *ret_off_cpu)
{
	const volatile __u64 *off_cpu = &thread->off_cpu;
	__u64 now = 0;

	for (int i = 0; i < 4; i++) {
		*ret_off_cpu = *off_cpu;
		now = bpf_ktime_get_ns();
		if (*off_cpu == *ret_off_cpu)
			break;
	}
	return now;
}

static __always_inline void enter(void *context, const struct call_key *key, __u64 cookie,
				  struct thread *thread, struct trace_count *count)
{
	struct open_call call = { .faults_start = count_faults(),
				  .faults = thread->faults,
				  .wall = thread->wall,
				  .off_cpu = thread->off_sum,
				  .arg = read_argument(context, options.arg),
				  .entry = read_pc(context) - (cookie & TRACE_COOKIE_SKIPS ? TRACE_SKIP : 0),
				  .generation = generation };
	int is_go = (cookie & TRACE_COOKIE_GO) != 0;
	__u64 *n_stands = bpf_map_lookup_elem(&cpprof_stands, &key->function);

	call.start = read_clocks(thread, &call.off_start);
	call.n_stands = n_stands && *n_stands ? *n_stands : 1;
	if (call.n_stands > 1 && call.start >= window_until) {
		bpf_map_delete_elem(&cpprof_open, key); /* an earlier call that did not return */
		return;
	}
	const struct open_call *before = bpf_map_lookup_elem(&cpprof_open, key);
	int is_again = before && before->generation == generation;
	/* Go: the stack was too small and has been moved, and the function starts again. */
	tally(&count->entries, !(is_again && is_go));
	if (is_again && !is_go)
		tally(&count->abandoned, 1);
	thread->wall = thread->off_sum = thread->faults = 0;
	if (!is_go)
		enter_counting(thread, &call);
	if (bpf_map_update_elem(&cpprof_open, key, &call, BPF_ANY))
		tally(&count->dropped, 1);
}

static __always_inline __u64 less(__u64 a, __u64 b)
{
	return a > b ? a - b : 0;
}

/* The true return addresses of the calls from this frame outwards, which return probes replace on the stack;
 * that of this frame, too, if another program probes its return. */
static __always_inline void find_hidden(struct trace_call *record, __u64 frame)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct uprobe_task *utask = task->utask;
	const struct return_instance *it = utask ? utask->return_instances : 0;
	__u64 n = 0;

	for (int i = 0; i < TRACE_HIDDEN_MAX && it; i++) {
		struct trace_hidden *to = &record->hidden[n & (TRACE_HIDDEN_MAX - 1)];
		to->stack = it->stack;
		to->address = it->orig_ret_vaddr;
		n += 1 - ((it->stack - frame) >> 63); /* counted unless it is below the frame; a branch would
							 double the verifier's work */
		it = it->next;
	}
	record->n_hidden = n;
}

static __always_inline void write_call(void *context, struct trace_call *record, struct trace_count *count)
{
	__u64 n = record->n_hidden;

	if (n > TRACE_HIDDEN_MAX)
		return;
	if (bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, record,
				  __builtin_offsetof(struct trace_call, hidden) +
					  n * sizeof(struct trace_hidden)))
		tally(&count->dropped, 1);
}

SEC("kprobe")
int cpprof_send(void *context)
{
	struct trace_call *record = own_record();
	__u32 function = record ? record->function : 0;
	struct trace_count *count = bpf_map_lookup_elem(&cpprof_counts, &function);

	if (record && count)
		write_call(context, record, count);
	return 0;
}

/* Does not return if there is a next program. */
static __always_inline void send(void *context, struct trace_call *record, struct trace_count *count)
{
	bpf_tail_call(context, &cpprof_next, 0);
	write_call(context, record, count);
}

#include "collector/bpf/paths.bpf.h"

static __always_inline void leave(void *context, const struct call_key *key, __u32 site, __u64 cookie,
				  struct thread *thread, struct trace_count *count)
{
	int is_go = (cookie & TRACE_COOKIE_GO) != 0;

	const struct open_call *call = bpf_map_lookup_elem(&cpprof_open, key);
	struct trace_call *record = own_record();

	if (!record) {
		tally(&count->dropped, 1);
		return;
	}
	if (!call || call->generation != generation) {
		tally(&count->strange, 1);
		if (call)
			bpf_map_delete_elem(&cpprof_open, key);
		return;
	}
	__u64 off_cpu, now = read_clocks(thread, &off_cpu);
	__u64 off = less(off_cpu, call->off_start), faults = less(count_faults(), call->faults_start);
	record->magic = TRACE_MAGIC;
	record->function = key->function;
	record->site = site;
	record->whole_wall = less(now, call->start);
	record->wall = less(record->whole_wall, thread->wall);
	record->off_cpu = less(off, thread->off_sum);
	record->faults = less(faults, thread->faults);
	record->arg = call->arg;
	record->ret = cookie & TRACE_COOKIE_JUMP ? 0 : read_result(context);
	record->entry = call->entry;
	record->n_hidden = record->block = 0;
	record->n_stands = call->n_stands;
	thread->wall = call->wall + record->whole_wall;
	thread->off_sum = call->off_cpu + off;
	thread->faults = call->faults + faults;
	if (is_go) /* counters are per thread, and a goroutine changes threads */
		__builtin_memset(record->counted, 0, sizeof(record->counted));
	else
		leave_counting(thread, call, record);
	bpf_map_delete_elem(&cpprof_open, key);
	tally(&count->exits, 1);
	__u32 number;
	if (options.paths && !is_go && is_known_path(context, key, &number) && count_call(record, number)) {
		tally(&count->known, 1);
		return;
	}
	if (options.hides)
		find_hidden(record, read_sp(context));
	send(context, record, count);
}

/*
 * In Go a call is identified by its goroutine and by the distance of its frame from the end of the
 * goroutine's stack, which stays the same when the stack is moved and when another thread runs the goroutine.
 * The goroutine takes the place of the thread.
 */
static __always_inline __u32 find_goroutine(void *context, struct call_key *key)
{
	__u64 goroutine = options.is_x86 ? CONTEXT_WORD(context, 1) : CONTEXT_WORD(context, 28), end = 0;

	bpf_probe_read_user(&end, sizeof(end), (void *)(goroutine + 8));
	key->frame = goroutine * 0x9e3779b97f4a7c15ull + (end - key->frame);
	return 1u << 31 | (__u32)(goroutine >> 4);
}

SEC("kprobe")
int cpprof_trace(void *context)
{
	__u64 cookie = bpf_get_attach_cookie(context), ids = bpf_get_current_pid_tgid();
	__u32 function = (__u32)(cookie >> 2) & TRACE_FUNCTION_MASK, site = cookie & 3;
	struct call_key key = { read_sp(context), (__u32)(ids >> 32), function };
	struct trace_count *count = bpf_map_lookup_elem(&cpprof_counts, &function);
	int is_go = (cookie & TRACE_COOKIE_GO) != 0;
	struct thread *thread = find_thread(is_go ? find_goroutine(context, &key) : (__u32)ids);

	if (!count || !thread)
		return 0;
	find_arrival(thread, bpf_get_current_task_btf());
	if (options.counts) {
		tally(&count->entries, site == TRACE_ENTRY);
		return 0;
	}
	/* After the return, which on x86 has popped the return address. */
	if (site == TRACE_RETURN && options.is_x86)
		key.frame -= 8;
	if (site == TRACE_ENTRY)
		enter(context, &key, cookie, thread, count);
	if (site != TRACE_ENTRY || cookie & TRACE_COOKIE_WHOLE)
		leave(context, &key, site == TRACE_ENTRY ? TRACE_EXIT : site, cookie, thread, count);
	return 0;
}

#include "collector/bpf/alloc.bpf.h"
