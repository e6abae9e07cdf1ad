/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "recording/growth.h"

#define N_BATCHES 8              /* a power of two; one of them is being filled */
#define BATCH_BYTES (256u << 10) /* of stacks: then it is sent */
#define BATCH_EVENTS 256

struct worker {
	const struct isa *isa;
	struct unwinder *unwinder;
	struct code_reader code;
	const struct event *now; /* whose stack is being walked */
	struct stack stack;
	struct growth_events events;
	struct cct cct;
	struct growth growth;
	size_t max_bytes; /* limit of its tree */
	VEC(uint64_t) node_since;
	VEC(uint64_t) value_since;
	uint64_t last_number;

	bool is_started;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the next four; only the sender's thread changes n_sent */
	pthread_cond_t is_sent, is_done;
	size_t n_sent, n_done;
	bool is_over;
	/* The worker owns the batches from n_done to n_sent; those from n_reaped on are done; the sender owns
	 * all others, including the next to be sent. */
	struct batch batches[N_BATCHES];
	size_t n_reaped;
};

/* Reads from a process whose first thread may have ended; the thread just sampled was surely alive then. */
static ssize_t worker_read_code(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	const struct worker *worker = context;
	bool is_now = worker->now->pid == pid && worker->now->tid;

	struct code_wanted wanted = { pid, is_now ? worker->now->tid : pid, worker->now->time_ns };

	return worker->code.read(worker->code.context, &wanted, addr, to, len);
}

static void worker_begin(struct worker *worker)
{
	cct_init(&worker->cct);
	worker->growth = (struct growth){ .cct = &worker->cct, .max_bytes = worker->max_bytes };
	while (worker->node_since.n < worker->cct.nodes.n)
		vec_push(&worker->node_since, 0);
}

void worker_restart(struct worker *worker)
{
	growth_done(&worker->growth);
	cct_done(&worker->cct);
	vec_clear(&worker->node_since);
	vec_clear(&worker->value_since);
	worker_begin(worker);
}

struct worker *worker_new(struct images *images, const struct isa *isa,
			  const struct unwinder_options *options, struct code_reader code,
			  const struct growth_events *events, size_t max_bytes)
{
	struct worker *worker = alloc_zero(1, sizeof(*worker));
	struct unwinder_options own = *options;

	worker->code = code;
	own.read_code = code.read ? worker_read_code : NULL;
	own.read_context = worker;
	worker->unwinder = unwinder_new(images, isa, &own);
	worker->events = *events;
	worker->isa = isa;
	worker->max_bytes = max_bytes;
	worker_begin(worker);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->is_sent, NULL);
	pthread_cond_init(&worker->is_done, NULL);
	return worker;
}

/* ---- the work ----------------------------------------------------------------------------------- */

const struct stack *worker_walk(struct worker *worker, const struct event *event)
{
	worker->now = event;
	unwinder_walk(worker->unwinder, event, &worker->stack);
	return &worker->stack;
}

static void worker_grow(struct worker *worker, struct batch_item *item)
{
	const struct stack *stack = worker_walk(worker, &item->event);

	if (item->event.sample.woken.tid) {
		growth_add_waker(&worker->growth, &item->event, stack);
		return;
	}
	item->use = (struct stack_use){ stack->end, stack->reach, stack->elsewhere, stack->has_jit };
	growth_add(&worker->growth, &item->event, item->thread, &worker->events, stack);
}

/* What has been added to the tree was added by this sample. */
static void worker_date(struct worker *worker, uint64_t number)
{
	while (worker->node_since.n < worker->cct.nodes.n)
		vec_push(&worker->node_since, number);
	while (worker->value_since.n < worker->cct.values.n)
		vec_push(&worker->value_since, number);
	worker->last_number = number;
}

static void worker_do(struct worker *worker, struct batch_item *item)
{
	if (item->event.kind == EVENT_SWITCH)
		growth_add_wait(&worker->growth, &item->event, item->thread, &worker->events);
	else if (item->event.kind == EVENT_SAMPLE)
		worker_grow(worker, item);
	else
		unwinder_event(worker->unwinder, &item->event);
	if (item->event.kind == EVENT_EXIT || item->event.kind == EVENT_EXEC)
		growth_forget(&worker->growth, item->event.tid);
	worker_date(worker, item->number);
	if (growth_keep_bound(&worker->growth,
			      &(struct cct_since){ worker->node_since.at, worker->value_since.at })) {
		worker->node_since.n = worker->cct.nodes.n;
		worker->value_since.n = worker->cct.values.n;
	}
}

/* The next batch; NULL at the end. */
static struct batch *worker_receive(struct worker *worker)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&worker->lock);
	while (worker->n_done == worker->n_sent && !worker->is_over)
		pthread_cond_wait(&worker->is_sent, &worker->lock);
	if (worker->n_done != worker->n_sent)
		batch = &worker->batches[worker->n_done % N_BATCHES];
	pthread_mutex_unlock(&worker->lock);
	return batch;
}

/* What the next item needs can be prefetched meanwhile. */
static void worker_expect(struct worker *worker, const struct batch *batch)
{
	const struct event *next = &batch->items.at[batch->next].event;

	if (batch->next < batch->items.n && next->kind == EVENT_SAMPLE)
		unwinder_expect(worker->unwinder,
				(struct sample_place){ next->pid, next->sample.regs.value[worker->isa->pc] });
}

static void *worker_run(void *argument)
{
	struct worker *worker = argument;
	struct batch_item *item;
	struct batch *batch;

	while ((batch = worker_receive(worker))) {
		while ((item = batch_next(batch))) {
			worker_expect(worker, batch);
			worker_do(worker, item);
		}
		pthread_mutex_lock(&worker->lock);
		worker->n_done++;
		pthread_cond_signal(&worker->is_done);
		pthread_mutex_unlock(&worker->lock);
	}
	return NULL;
}

/* Signals go to the thread that waits for them, never to a worker. */
int worker_start(struct worker *worker)
{
	sigset_t all, old;

	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* truncated files: it is delivered to the thread that read */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int error = pthread_create(&worker->thread, NULL, worker_run, worker);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	worker->is_started = error == 0;
	return -error;
}

void worker_free(struct worker *worker)
{
	if (!worker)
		return;
	if (worker->is_started) {
		pthread_mutex_lock(&worker->lock);
		worker->is_over = true;
		pthread_cond_signal(&worker->is_sent);
		pthread_mutex_unlock(&worker->lock);
		pthread_join(worker->thread, NULL);
	}
	for (size_t i = 0; i < N_BATCHES; i++)
		batch_done(&worker->batches[i]);
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->is_sent);
	pthread_cond_destroy(&worker->is_done);
	growth_done(&worker->growth);
	cct_done(&worker->cct);
	vec_done(&worker->node_since);
	vec_done(&worker->value_since);
	stack_done(&worker->stack);
	unwinder_free(worker->unwinder);
	free(worker);
}

/* ---- the way there ------------------------------------------------------------------------------ */

/* Waits until no more than n batches are in flight. */
static void worker_await(struct worker *worker, size_t n)
{
	pthread_mutex_lock(&worker->lock);
	while (worker->n_sent - worker->n_done > n)
		pthread_cond_wait(&worker->is_done, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
}

void worker_flush(struct worker *worker)
{
	if (worker->batches[worker->n_sent % N_BATCHES].items.n == 0)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->n_sent++;
	pthread_cond_signal(&worker->is_sent);
	pthread_mutex_unlock(&worker->lock);
	worker_await(worker, N_BATCHES - 1); /* so that there is one to fill */
}

bool worker_send(struct worker *worker, const struct event *event, uint64_t number, uint32_t thread)
{
	struct batch *batch = &worker->batches[worker->n_sent % N_BATCHES];

	batch_add(batch, event, number, thread);
	if (batch->bytes.n < BATCH_BYTES && batch->items.n < BATCH_EVENTS)
		return false;
	worker_flush(worker);
	return true;
}

void worker_wait(struct worker *worker)
{
	worker_flush(worker);
	worker_await(worker, 0);
	growth_settle(&worker->growth);
	worker_date(worker, worker->last_number);
}

bool worker_is_idle(const struct worker *worker)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&worker->lock; /* locked, not changed */

	if (worker->batches[worker->n_sent % N_BATCHES].items.n)
		return false;
	pthread_mutex_lock(lock);
	bool is_idle = worker->n_done == worker->n_sent;
	pthread_mutex_unlock(lock);
	return is_idle;
}

void worker_reap(struct worker *worker, void (*tell)(void *context, const struct batch_item *item),
		 void *context)
{
	pthread_mutex_lock(&worker->lock);
	size_t n_done = worker->n_done;
	pthread_mutex_unlock(&worker->lock);

	for (; worker->n_reaped != n_done; worker->n_reaped++) {
		struct batch *batch = &worker->batches[worker->n_reaped % N_BATCHES];
		for (size_t i = 0; i < batch->items.n; i++)
			if (batch->items.at[i].event.kind == EVENT_SAMPLE &&
			    !batch->items.at[i].event.sample.woken.tid)
				tell(context, &batch->items.at[i]);
		batch_clear(batch);
	}
}

struct unwinder *worker_unwinder(struct worker *worker)
{
	return worker->unwinder;
}

struct shard worker_shard(const struct worker *worker)
{
	return (struct shard){ &worker->cct, worker->node_since.at, worker->value_since.at };
}

const uint64_t *worker_ends(const struct worker *worker)
{
	return worker->growth.by_end;
}

uint64_t worker_n_folded(const struct worker *worker)
{
	return worker->growth.n_folded;
}

void worker_mark_told(struct worker *worker)
{
	cct_tell(&worker->cct);
}
