/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * deep: runs in the kernel at the moment of a sample, just before the sample is written, and copies the part
 * of the thread's stack that lies beyond the kernel's snapshot.
 *
 * The stack from there (or from a hinted address) to the end of its mapping is read page by page. A page is
 * written into the ring only if it differs from what was last written for this thread's page. Then an
 * outline is written: a hash of the contents of each page. collector/deep reassembles the stack from these.
 * Nothing is read later, when the target has already changed it.
 *
 * One object for x86-64 and AArch64: where their struct pt_regs differ, read-only data that is set before
 * loading says which it is, and the verifier drops the other branch.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "collector/bpf/deep_layout.h"

#define KNOWN_PAGES 32768 /* 128 MiB of stacks of all threads; the least recently used are evicted */
#define KNOWN_THREADS 4096
#define KNOWN_LIMITS 8192
#define KNOWN_HINTS 4096
#define MAX_GROWTH (1u << 20) /* bytes by which a stack grows at once; larger frames are rare */
#define HASH_RUN 32           /* words hashed in one round of a loop */

/* The kernel gives some of the functions used here to programs under its own licence only. */
char cpprof_license[] SEC("license") = "GPL";

const volatile struct deep_options options = { 0 };
__u64 has_hints;                  /* set by cpprof with the first hint */
struct deep_seen seen[DEEP_SEEN]; /* by thread id; read by cpprof */

struct task_struct;

struct cpu_state {
	__u64 window, n_written;
	__u64 thread; /* whose stack is being copied at a probe; 0 = none */
};
struct range {
	__u64 start, end;
};
struct stack {
	struct range frames;
	__u64 end; /* of its mapping */
};
struct page_key {
	__u64 thread, addr;
};

/* One value per CPU: at a sample or a switch, the program is not interrupted by itself. At a probe, it may
 * be preempted: see cpprof_deep_call. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpprof_cpu SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_page_record);
} cpprof_page SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_outline);
} cpprof_outline SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_hidden);
} cpprof_hidden SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_nearby);
} cpprof_nearby SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct deep_tail);
} cpprof_tail SEC(".maps");

/* Where a thread's stack lies. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KNOWN_THREADS);
	__type(key, __u64);
	__type(value, struct stack);
} cpprof_threads SEC(".maps");
/* Maximum number of pages to read, by thread, place or code; filled by cpprof. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KNOWN_LIMITS);
	__type(key, __u64);
	__type(value, __u64);
} cpprof_limits SEC(".maps");
/* The hash of a thread's page as it was last written. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KNOWN_PAGES);
	__type(key, struct page_key);
	__type(value, __u64);
} cpprof_known SEC(".maps");
/* Where copying begins, by place; filled by cpprof. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, KNOWN_HINTS);
	__type(key, __u64);
	__type(value, __u64);
} cpprof_hints SEC(".maps");
/* Where records go: one event per CPU. Its size is set before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_output SEC(".maps");

/* Where samples of waits go, likewise: DEEP_SAMPLE_SIZES events per CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_samples SEC(".maps");

/* The program that runs after the stack of a traced call was copied: it sends the call. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cpprof_next SEC(".maps");

/* State of the loop over pages. */
struct loop {
	void *context;
	__u64 first; /* address of the first page */
	__u64 n;     /* pages whose hash is in the outline */
	__u64 thread;
};

static const __u32 zero = 0;

static __always_inline __u64 read_kernel(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* A word of the thread's task_struct; 0 if its offset is not known. Helpers read it: to follow a pointer
 * directly, the verifier would search all types of the kernel, which takes milliseconds. */
static __always_inline __u64 read_task(__u32 offset)
{
	return offset ? read_kernel(bpf_get_current_task() + offset) : 0;
}

#include "collector/bpf/pages.bpf.h"

/* ---- where the stack is ----------------------------------------------------------------------------- */

/* The index of sp in struct pt_regs. */
#define SP_X86 19
#define SP_ARM 31

/* The registers with which the thread entered the kernel. */
static __always_inline const __u64 *entry_registers(void)
{
	return (const __u64 *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

/* A context may be read only at constant offsets; the compiler would merge two plain loads into one. */
#define CONTEXT_WORD(context, n)                                                                  \
	({                                                                                        \
		__u64 word;                                                                       \
		asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(word) : "r"(context), "i"(8 * (n))); \
		word;                                                                             \
	})

/* sp in user mode: at the interrupt, or on entry to the kernel. pc: 0 if the kernel had been entered. */
static __always_inline __u64 find_sp(void *context, int has_regs, __u64 *ret_pc)
{
	int is_user = 0;
	__u64 sp = 0;

	if (has_regs && options.is_x86) {
		sp = CONTEXT_WORD(context, SP_X86);
		*ret_pc = CONTEXT_WORD(context, 16);
		is_user = (CONTEXT_WORD(context, 17) & 3) == 3; /* cs */
	} else if (has_regs) {
		sp = CONTEXT_WORD(context, SP_ARM);
		*ret_pc = CONTEXT_WORD(context, 32);
		is_user = (CONTEXT_WORD(context, 33) & 15) == 0; /* pstate */
	}
	if (!is_user) {
		const __u64 *regs = entry_registers();
		*ret_pc = 0;
		sp = options.is_x86 ? regs[SP_X86] : regs[SP_ARM];
	}
	return sp;
}

/* The start and the end of a mapping are its first two words in every kernel. */
static long read_range(const void *task, const void *mapping, struct range *ret)
{
	(void)task;
	bpf_probe_read_kernel(ret, sizeof(*ret), mapping);
	return 0;
}

/* The mapping that contains an address. False if there is none, or mappings are being changed just now. */
static __always_inline int find_range(__u64 addr, struct range *ret)
{
	ret->start = ret->end = 0;
	bpf_find_vma(bpf_get_current_task_btf(), addr, read_range, ret, 0);
	return addr >= ret->start && addr < ret->end;
}

/* Where the frames of a process's first stack end: what follows are its arguments and its environment. */
static __always_inline __u64 first_stack_end(void)
{
	__u64 space = read_task(options.members.space);

	return space ? read_kernel(space + options.members.first_stack) : 0;
}

/* The mapping that contains sp: the remembered one, if sp is still in it; its end is 0 if there is none. */
static __always_inline void find_stack(__u64 thread, __u64 sp, struct stack *ret)
{
	const struct stack *known = bpf_map_lookup_elem(&cpprof_threads, &thread);

	if (known && sp >= known->frames.start && sp < known->frames.end) {
		*ret = *known;
		return;
	}
	int is_there = find_range(sp, &ret->frames);
	ret->end = ret->frames.end;
	if (!is_there && known && sp < known->frames.start && known->frames.start - sp <= MAX_GROWTH) {
		*ret = *known; /* it is about to grow, or was, and other mappings are being changed just now
				*/
		ret->frames.start = sp;
		return;
	}
	if (!is_there) {
		ret->frames.end = ret->end = 0;
		return;
	}
	__u64 end = first_stack_end();
	if (end > sp && end < ret->end)
		ret->frames.end = end;
	bpf_map_update_elem(&cpprof_threads, &thread, ret, BPF_ANY);
}

static __always_inline void note_seen(__u64 thread, const struct stack *stack)
{
	struct deep_seen now = { thread, bpf_get_current_uid_gid(), stack->frames.start, stack->end, 0 };

	now.check = deep_seen_check(&now);
	seen[thread & (DEEP_SEEN - 1)] = now;
}

/* C libraries place thread-local storage at the end of a thread's stack, where there are no frames. Its
 * address is the one saved when the thread last left its CPU. */
static __always_inline __u64 frames_end(__u64 sp, __u64 end)
{
	__u64 storage = read_task(options.members.storage);

	return storage > sp && storage < end ? storage : end;
}

/* State of the loop over the pages of the snapshot. */
struct snapshot_loop {
	__u64 at, end; /* the next page; end of the mapping */
	__u64 is_cut;  /* the page at `at` is not in memory */
};

static long look_at_page(__u64 index, struct snapshot_loop *loop)
{
	__u64 word;

	(void)index;
	if (loop->at >= loop->end)
		return 1;
	if (bpf_probe_read_user(&word, sizeof(word), (void *)loop->at)) {
		loop->is_cut = 1;
		return 1;
	}
	loop->at += DEEP_PAGE;
	return 0;
}

/* End of the snapshot. The kernel truncates it at a page that is not in memory: a stack may have pages that
 * were never touched. */
static __always_inline __u64 snapshot_end(__u64 sp, __u64 end)
{
	struct snapshot_loop loop = { .at = sp & -(__u64)DEEP_PAGE, .end = end };

	bpf_loop(options.snapshot / DEEP_PAGE + 1, look_at_page, &loop, 0);
	return loop.is_cut ? loop.at : sp + options.snapshot;
}

/*
 * A hint for the place of sp is the address of a word that contains the sp of another stack, the one that a
 * signal interrupted. If that word lies above sp (the signal's frame is still there), copying begins at
 * that stack.
 */
static __always_inline void follow_hint(__u64 thread, __u64 sp, struct range *stack)
{
	__u64 key = deep_place_key(thread, sp), other;
	struct range range;

	if (!*(volatile __u64 *)&has_hints)
		return;
	const __u64 *hint = bpf_map_lookup_elem(&cpprof_hints, &key);
	if (!hint || *hint < sp || bpf_probe_read_user(&other, sizeof(other), (void *)*hint) ||
	    !find_range(other, &range))
		return;
	stack->start = other;
	stack->end = range.end;
}

#include "collector/bpf/goroutine.bpf.h"

/* ---- the sample ------------------------------------------------------------------------------------- */

/* Maximum number of pages to read, from the first one on. */
static __always_inline __u64 find_limit(const struct loop *loop, const struct goroutine *goroutine, __u64 sp,
					__u64 pc)
{
	__u64 thread = loop->thread;
	const __u64 *limit = bpf_map_lookup_elem(&cpprof_limits, &thread);
	__u64 n;

	if (!limit) {
		n = sp >= options.first_stack ? options.n_pages : options.n_first;
	} else if (!(n = *limit)) {
		__u64 key = deep_place_key(thread, sp);
		limit = bpf_map_lookup_elem(&cpprof_limits, &key);
		n = limit ? *limit : 0;
		key = deep_code_key(thread, pc);
		limit = bpf_map_lookup_elem(&cpprof_limits, &key);
		n = limit && *limit > n ? *limit : n;
		if (is_on_goroutine(goroutine, sp) && goroutine->stack.end > loop->first)
			n = (goroutine->stack.end - loop->first + DEEP_PAGE - 1) >> DEEP_PAGE_SHIFT;
	}
	return n < options.n_pages ? n : options.n_pages;
}

/* Resets the count of pages written when a new window of time has begun. */
static __always_inline void start_window(void)
{
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpprof_cpu, &zero);
	__u64 window = bpf_ktime_get_ns() >> DEEP_WINDOW_SHIFT;

	if (cpu && cpu->window != window) {
		cpu->window = window;
		cpu->n_written = 0;
	}
}

static __always_inline void write_outline(const struct loop *loop, __u64 sp, __u64 end)
{
	struct deep_outline *outline = bpf_map_lookup_elem(&cpprof_outline, &zero);
	__u64 n = loop->n;

	if (!outline || n > DEEP_PAGES_MAX)
		return;
	outline->magic = DEEP_MAGIC_OUTLINE;
	outline->sp = sp;
	outline->first = loop->first;
	outline->end = end;
	outline->n = n;
	outline->thread = loop->thread;
	bpf_perf_event_output(loop->context, &cpprof_output, BPF_F_CURRENT_CPU, outline,
			      __builtin_offsetof(struct deep_outline, hashes) + 8 * n);
}

/* The last bytes before memory that cannot be read, which the snapshot may not include. */
static __always_inline void write_tail(void *context, __u64 sp, __u64 end)
{
	if (options.is_x86 || end == first_stack_end() || frames_end(sp, end) <= end - DEEP_TAIL)
		return;

	struct deep_tail *tail = bpf_map_lookup_elem(&cpprof_tail, &zero);
	if (!tail)
		return;
	tail->magic = DEEP_MAGIC_TAIL;
	tail->sp = sp;
	tail->addr = end - DEEP_TAIL;
	if (bpf_probe_read_user(tail->words, DEEP_TAIL, (void *)tail->addr) == 0)
		bpf_perf_event_output(context, &cpprof_output, BPF_F_CURRENT_CPU, tail, sizeof(*tail));
}

#include "collector/bpf/below.bpf.h"
#include "collector/bpf/hidden.bpf.h"

/* has_regs: the context is the registers at the sample. is_call: return addresses that probes replaced are
 * not looked up, and most stacks end within the snapshot. Returns how many bytes of its stack the thread
 * uses; 0 = not known. */
static __always_inline __u64 copy_stack(void *context, int has_regs, int is_call)
{
	struct loop loop = { .context = context, .thread = bpf_get_current_pid_tgid() };
	__u64 pc, sp = find_sp(context, has_regs, &pc), n, limit;
	struct stack whole;
	struct goroutine goroutine;

	find_stack(loop.thread, sp, &whole);
	struct range stack = whole.frames;
	if (!is_call) {
		note_seen(loop.thread, &whole);
		write_probes(context, has_regs, sp, pc);
		if (options.is_x86 && has_regs)
			write_below(context, sp);
	}
	if (!stack.end)
		return 0;
	__u64 used = frames_end(sp, stack.end) - sp;
	int is_short = is_call && stack.end - sp <= options.snapshot;
	stack.start = is_short ? stack.end : snapshot_end(sp, stack.end);
	if (stack.start >= stack.end)
		write_tail(context, sp, stack.end);
	else if (stack.start != sp + options.snapshot) /* truncated at a page that is not in memory */
		write_tail(context, sp, stack.start);
	if (is_short)
		return used;
	follow_hint(loop.thread, sp, &stack);
	find_goroutine(context, has_regs && pc, &goroutine);
	int is_followed = follow_goroutine(&goroutine, sp, &stack);
	loop.first = stack.start & -(__u64)DEEP_PAGE;
	if (loop.first >= stack.end) /* the snapshot reaches to the stack's end */
		return used;
	limit = is_followed ? options.n_pages : find_limit(&loop, &goroutine, sp, pc);
	n = (stack.end - loop.first + DEEP_PAGE - 1) >> DEEP_PAGE_SHIFT;
	n = n < limit ? n : limit;
	if (!n)
		return used;
	start_window();
	bpf_loop((__u32)n, copy_page, &loop, 0);
	write_outline(&loop, sp, stack.end);
	return used;
}

/* Returns 1: the sample is always written. */
SEC("perf_event")
int cpprof_deep(void *context)
{
	copy_stack(context, 1, 0);
	return 1;
}

/* The kernel reserves as much of the ring as the event asks for, even if the stack is smaller. Smaller
 * records cause fewer cache misses. */
static __always_inline void write_sample(void *context, __u64 used)
{
	__u64 nothing = 0, event = bpf_get_smp_processor_id();

#pragma unroll
	for (int i = 1; i < DEEP_SAMPLE_SIZES; i++)
		if (used && used <= deep_sample_size(options.snapshot, i))
			event += options.n_cpus;
	bpf_perf_event_output(context, &cpprof_samples, event, &nothing, sizeof(nothing));
}

/* For a thread that leaves its CPU: waits.bpf.c has decided to sample it; only this program writes it. */
SEC("tp_btf/sched_switch")
int cpprof_deep_wait(void *context)
{
	write_sample(context, copy_stack(context, 0, 0));
	return 0;
}

/*
 * At the end of a call: trace.bpf.c has measured it, and sends it after this. On a preemptible kernel,
 * another thread may be doing the same on this CPU: then this stack ends with the snapshot.
 */
SEC("kprobe")
int cpprof_deep_call(void *context)
{
	struct cpu_state *cpu = bpf_map_lookup_elem(&cpprof_cpu, &zero);

	if (cpu && !*(volatile __u64 *)&cpu->thread) {
		*(volatile __u64 *)&cpu->thread = bpf_get_current_pid_tgid();
		copy_stack(context, 1, 1);
		*(volatile __u64 *)&cpu->thread = 0;
	}
	bpf_tail_call(context, &cpprof_next, 0);
	return 0;
}
