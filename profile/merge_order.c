/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that sorts everything into a canonical order, independent of the order of the profiles.
 *
 * Threads, processes and the images of JIT compilers can agree in all their properties and still be
 * different: those are sorted by a digest of what was measured there (merge_digest.c). If that is equal as
 * well, their order does not matter.
 */
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"

struct order {
	struct merger *m;
	struct profile *all;
	uint32_t *metric, *image, *process, *thread, *node; /* by old number: the new one */
	uint64_t *process_digest;
};

/* A permutation of n, sorted by qsort_r: by new position the old one. */
static uint32_t *order_sorted(size_t n, int (*compare)(const void *, const void *, void *), void *context)
{
	uint32_t *was = alloc_zero(n + 1, sizeof(*was));

	for (uint32_t i = 0; i < n; i++)
		was[i] = i;
	if (n)
		qsort_r(was, n, sizeof(*was), compare, context);
	return was;
}

static uint32_t *order_inverse(const uint32_t *was, size_t n)
{
	uint32_t *is = alloc_zero(n + 1, sizeof(*is));

	for (uint32_t i = 0; i < n; i++)
		is[was[i]] = i;
	return is;
}

/* Rows of a list in their new order. */
#define ORDER_ROWS(list, was)                                                                         \
	do {                                                                                          \
		void *old_ = alloc_resize(NULL, (list)->n + 1, sizeof(*(list)->at));                  \
		if ((list)->n)                                                                        \
			memcpy(old_, (list)->at, (list)->n * sizeof(*(list)->at));                    \
		for (size_t i_ = 0; i_ < (list)->n; i_++)                                             \
			memcpy(&(list)->at[i_], (const char *)old_ + (was)[i_] * sizeof(*(list)->at), \
			       sizeof(*(list)->at));                                                  \
		free(old_);                                                                           \
	} while (0)

static int order_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- strings ------------------------------------------------------------------------------------ */

typedef void order_visit(void *context, uint32_t *id);

static void order_visit_run(struct profile *p, order_visit *visit, void *context)
{
	uint32_t *const words[] = { &p->run.tool_version, &p->run.command_line, &p->run.mode,
				    &p->run.host,         &p->run.kernel,       &p->run.cpu,
				    &p->run.arch,         &p->run.target,       &p->run.cpu_id };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		visit(context, words[i]);
	for (size_t i = 0; i < p->events.n; i++) {
		visit(context, &p->events.at[i].name);
		visit(context, &p->events.at[i].unit);
	}
	for (size_t i = 0; i < p->metrics.n; i++) {
		visit(context, &p->metrics.at[i].name);
		visit(context, &p->metrics.at[i].unit);
	}
	for (size_t i = 0; i < p->images.n; i++) {
		visit(context, &p->images.at[i].path);
		visit(context, &p->images.at[i].debug);
	}
	for (size_t i = 0; i < p->processes.n; i++) {
		visit(context, &p->processes.at[i].comm);
		visit(context, &p->processes.at[i].command_line);
	}
	for (size_t i = 0; i < p->threads.n; i++)
		visit(context, &p->threads.at[i].comm);
	for (size_t i = 0; i < p->notes.n; i++)
		visit(context, &p->notes.at[i]);
}

static void order_visit_map(struct function_map *map, order_visit *visit, void *context)
{
	visit(context, &map->name);
	visit(context, &map->linkage);
	visit(context, &map->decl_file);
	visit(context, &map->scope);
	for (size_t i = 0; i < map->lines.n; i++)
		visit(context, &map->lines.at[i].file);
	for (size_t i = 0; i < map->inlines.n; i++) {
		struct inline_call *call = &map->inlines.at[i];
		visit(context, &call->name);
		visit(context, &call->linkage);
		visit(context, &call->decl_file);
		visit(context, &call->call_file);
	}
}

/* Every id of a string that the profile has. */
static void order_visit_all(struct profile *p, order_visit *visit, void *context)
{
	order_visit_run(p, visit, context);
	for (size_t i = 0; i < p->functions.n; i++)
		order_visit_map(&p->functions.at[i], visit, context);
	for (size_t i = 0; i < p->structures.n; i++)
		for (size_t j = 0; j < p->structures.at[i].scopes.n; j++) {
			struct static_scope *scope = &p->structures.at[i].scopes.at[j];
			visit(context, &scope->name);
			visit(context, &scope->linkage);
			visit(context, &scope->file);
			visit(context, &scope->call_file);
		}
}

static void order_mark(void *context, uint32_t *id)
{
	((bool *)context)[*id] = true;
}

static void order_rename(void *context, uint32_t *id)
{
	*id = ((const uint32_t *)context)[*id];
}

static int order_compare_strings(const void *a, const void *b, void *context)
{
	const struct intern *strings = context;

	return strcmp(strings->strings.at[*(const uint32_t *)a], strings->strings.at[*(const uint32_t *)b]);
}

/* Those that are referred to, sorted. From here on ids compare like texts. */
static void order_strings(struct profile *all)
{
	struct intern sorted;
	CLEANUP(freep) bool *is_used = alloc_zero(all->strings.strings.n + 1, sizeof(*is_used));
	CLEANUP(freep) uint32_t *name = alloc_zero(all->strings.strings.n + 1, sizeof(*name));
	CLEANUP(freep)
	uint32_t *was = order_sorted(all->strings.strings.n, order_compare_strings, &all->strings);

	order_visit_all(all, order_mark, is_used);
	intern_init(&sorted);
	for (size_t i = 0; i < all->strings.strings.n; i++)
		if (is_used[was[i]])
			name[was[i]] = intern_add_n(&sorted, all->strings.strings.at[was[i]],
						    all->strings.lengths.at[was[i]]);
	order_visit_all(all, order_rename, name);
	intern_done(&all->strings);
	all->strings = sorted;
}

static int order_compare_notes(const void *a, const void *b)
{
	return order_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* ---- events ------------------------------------------------------------------------------------- */

static int order_compare_events(const void *a, const void *b, void *context)
{
	const struct profile *all = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct profile_event *x = &all->events.at[i], *y = &all->events.at[j];

	if (x->name != y->name)
		return order_numbers(x->name, y->name);
	return x->unit != y->unit ? order_numbers(x->unit, y->unit) : order_numbers(i, j);
}

/* Unchanged, if all profiles have the same events; otherwise by name. */
static void order_events(struct order *order)
{
	struct profile *all = order->all;
	size_t n = all->events.n;

	order->metric = alloc_zero(1 + n + 1, sizeof(*order->metric));
	for (uint32_t i = 0; i <= n; i++)
		order->metric[i] = i;
	if (!order->m->events_differ)
		return;

	CLEANUP(freep) uint32_t *was = order_sorted(n, order_compare_events, all);
	ORDER_ROWS(&all->events, was);
	for (uint32_t i = 0; i < n; i++) {
		order->metric[1 + was[i]] = 1 + i;
		all->metrics.at[1 + i] =
			(struct profile_metric){ all->events.at[i].name, all->events.at[i].unit, i };
	}
}

/* ---- images, processes, threads ----------------------------------------------------------------- */

/* What was measured in all of its threads. */
static void order_digest(struct order *order)
{
	const struct profile *all = order->all;

	order->process_digest = alloc_zero(all->processes.n + 1, sizeof(uint64_t));
	for (size_t i = 0; i < all->threads.n; i++) {
		const struct profile_thread *thread = &all->threads.at[i];
		uint64_t key = merge_mix(merge_mix((uint32_t)thread->tid, thread->comm),
					 merge_mix(thread->start_ns, thread->exit_ns));
		order->process_digest[thread->process] += merge_mix(key, order->m->digests.thread.at[i]);
	}
}

#define ORDER_BY(x, y)                             \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int order_compare_images(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct profile_image *x = &order->all->images.at[i], *y = &order->all->images.at[j];

	ORDER_BY(x->kind, y->kind);
	ORDER_BY(x->path, y->path);
	ORDER_BY(x->build_id.len, y->build_id.len);
	int ids = memcmp(x->build_id.bytes, y->build_id.bytes, x->build_id.len);
	if (ids)
		return ids;
	ORDER_BY(x->elf_machine, y->elf_machine);
	ORDER_BY(x->debug, y->debug);
	ORDER_BY(x->pid, y->pid);
	ORDER_BY(x->writer, y->writer);
	return order_numbers(order->m->digests.image.at[i], order->m->digests.image.at[j]);
}

static int order_compare_processes(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct profile_process *x = &order->all->processes.at[i], *y = &order->all->processes.at[j];

	ORDER_BY(x->is_unplaced, y->is_unplaced);
	ORDER_BY(x->rank, y->rank);
	ORDER_BY(x->start_ns, y->start_ns);
	ORDER_BY(x->pid, y->pid);
	ORDER_BY(x->parent_pid, y->parent_pid);
	ORDER_BY(x->comm, y->comm);
	ORDER_BY(x->command_line, y->command_line);
	ORDER_BY(x->exit_ns, y->exit_ns);
	ORDER_BY(x->user, y->user);
	ORDER_BY(x->group, y->group);
	return order_numbers(order->process_digest[i], order->process_digest[j]);
}

static int order_compare_threads(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct profile_thread *x = &order->all->threads.at[i], *y = &order->all->threads.at[j];

	ORDER_BY(x->process, y->process);
	ORDER_BY(x->start_ns, y->start_ns);
	ORDER_BY(x->tid, y->tid);
	ORDER_BY(x->comm, y->comm);
	ORDER_BY(x->exit_ns, y->exit_ns);
	return order_numbers(order->m->digests.thread.at[i], order->m->digests.thread.at[j]);
}

/* From the start of the first run, as in any profile. */
void merge_order_times(struct profile *all)
{
	uint64_t start_ns = all->run.start_unix_ns;

	for (size_t i = 0; i < all->threads.n; i++) {
		struct profile_thread *thread = &all->threads.at[i];
		if (all->processes.at[thread->process].is_unplaced)
			continue;
		thread->start_ns -= start_ns;
		thread->exit_ns -= thread->exit_ns ? start_ns : 0;
	}
	for (size_t i = 0; i < all->processes.n; i++) {
		struct profile_process *process = &all->processes.at[i];
		process->start_ns -= process->is_unplaced ? 0 : start_ns;
		process->exit_ns -= process->is_unplaced || !process->exit_ns ? 0 : start_ns;
		process->is_unplaced &= start_ns != 0; /* no start is known */
	}
}

static void order_tasks(struct order *order)
{
	struct profile *all = order->all;
	CLEANUP(freep) uint32_t *images = order_sorted(all->images.n, order_compare_images, order);
	CLEANUP(freep) uint32_t *processes = order_sorted(all->processes.n, order_compare_processes, order);

	order->image = order_inverse(images, all->images.n);
	ORDER_ROWS(&all->images, images);
	order->process = order_inverse(processes, all->processes.n);
	ORDER_ROWS(&all->processes, processes);
	for (size_t i = 0; i < all->threads.n; i++)
		all->threads.at[i].process = order->process[all->threads.at[i].process];

	CLEANUP(freep) uint32_t *threads = order_sorted(all->threads.n, order_compare_threads, order);
	order->thread = order_inverse(threads, all->threads.n);
	ORDER_ROWS(&all->threads, threads);
}

/* ---- the tree ----------------------------------------------------------------------------------- */

static int order_compare_nodes(const void *a, const void *b, void *context)
{
	const struct cct_node *nodes = context;
	const struct cct_node *x = &nodes[*(const uint32_t *)a], *y = &nodes[*(const uint32_t *)b];

	ORDER_BY(x->image + 1, y->image + 1); /* nodes without image first */
	ORDER_BY(x->vaddr, y->vaddr);
	return order_numbers(x->flags, y->flags);
}

/* Every node's children, sorted: those of node i are child[first[i]] up to child[first[i + 1]]. */
struct order_children {
	uint32_t *child, *first;
};

static struct order_children order_children(const struct cct *cct)
{
	size_t n = cct->nodes.n;
	struct order_children children = { alloc_zero(n + 1, sizeof(uint32_t)),
					   alloc_zero(n + 2, sizeof(uint32_t)) };

	for (size_t i = CCT_INCOMPLETE + 1; i < n; i++)
		children.first[cct->nodes.at[i].parent + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		children.first[i] += children.first[i - 1];
	for (uint32_t i = CCT_INCOMPLETE + 1; i < n; i++)
		children.child[children.first[cct->nodes.at[i].parent + 1]++] = i;
	for (size_t i = 0; i < n; i++) {
		uint32_t from = children.first[i], to = children.first[i + 1];
		if (to - from > 1)
			qsort_r(children.child + from, to - from, sizeof(uint32_t), order_compare_nodes,
				cct->nodes.at);
	}
	return children;
}

/* The nodes below a node, parents before their children, subtrees contiguous. */
static void order_walk(const struct order_children *children, uint32_t root, uint32_t *was, size_t *n)
{
	VEC(uint32_t) stack = { 0 };

	vec_push(&stack, root);
	while (stack.n) {
		uint32_t node = stack.at[--stack.n];
		if (node != root)
			was[(*n)++] = node;
		for (uint32_t i = children->first[node + 1]; i-- > children->first[node];)
			vec_push(&stack, children->child[i]);
	}
	vec_done(&stack);
}

uint32_t *merge_order_walk(const struct cct *cct)
{
	struct order_children children = order_children(cct);
	uint32_t *was = alloc_zero(cct->nodes.n, sizeof(*was));
	size_t n = CCT_INCOMPLETE + 1;

	was[CCT_INCOMPLETE] = CCT_INCOMPLETE;
	order_walk(&children, CCT_ROOT, was, &n);
	order_walk(&children, CCT_INCOMPLETE, was, &n);
	free(children.child);
	free(children.first);
	return was;
}

static void order_nodes(struct order *order)
{
	struct cct *cct = &order->all->cct;

	cct_forget_hash(cct);
	for (size_t i = 0; i < cct->nodes.n; i++)
		if (cct->nodes.at[i].image != IMAGE_NONE)
			cct->nodes.at[i].image = order->image[cct->nodes.at[i].image];

	uint32_t *was = merge_order_walk(cct);
	order->node = order_inverse(was, cct->nodes.n);
	ORDER_ROWS(&cct->nodes, was);
	for (size_t i = 0; i < cct->nodes.n; i++) {
		cct->nodes.at[i].parent = order->node[cct->nodes.at[i].parent];
		cct->nodes.at[i].value = 0;
	}
	order->m->values->list = was;
}

static void order_functions(struct order *order)
{
	struct profile *all = order->all;

	for (size_t i = 0; i < all->functions.n; i++)
		all->functions.at[i].image = order->image[all->functions.at[i].image];
	for (size_t i = 0; i < all->structures.n; i++)
		all->structures.at[i].image = order->image[all->structures.at[i].image];
	for (size_t i = 0; i < all->codes.n; i++)
		all->codes.at[i].image = order->image[all->codes.at[i].image];
	merge_functions_finish(all);
}

void merge_order(struct merger *m)
{
	struct order order = { .m = m, .all = m->all };

	merge_digest(m);
	order_strings(m->all);
	merge_order_times(m->all);
	if (m->all->notes.n)
		qsort(m->all->notes.at, m->all->notes.n, sizeof(*m->all->notes.at), order_compare_notes);
	order_events(&order);
	order_digest(&order);
	order_tasks(&order);
	order_nodes(&order);
	order_functions(&order);
	merge_times_finish(m, order.thread);
	merge_spread_finish(m, order.node, order.metric);
	m->values->thread = TAKE(order.thread);
	m->values->metric = TAKE(order.metric);
	free(order.image);
	free(order.process);
	free(order.node);
	free(order.process_digest);
}
