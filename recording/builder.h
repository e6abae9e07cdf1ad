/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder: builds a profile from events and unwound stacks during a recording.
 *
 * Image ids in the profile are those of the registry the events refer to; builder_profile brings the
 * profile's image table up to date with it.
 */
#pragma once

#include "base/real_user.h"
#include "collector/bpf/trace_layout.h"
#include "collector/source.h"
#include "profile/profile.h"
#include "recording/chosen.h"
#include "unwinder/unwinder.h"

struct builder;
/* info is borrowed: its events become metrics, its notes become notes. max_bytes: limit of the tree, 0 =
 * none. */
struct builder *builder_new(struct images *images, const struct source_info *info, size_t max_bytes);
void builder_free(struct builder *builder);
/* The profile says who can write the files of images (profile/profile.h). */
void builder_note_writers(struct builder *builder);

/* Samples are allocations by these functions; held: builder_hold will say which were not freed. */
void builder_allocators(struct builder *builder, const struct chosen *allocators, bool held);
void builder_hold(struct builder *builder, const uint64_t *numbers, size_t n);

/* Discards all samples. What is known about processes and threads is kept. Only with one worker. */
void builder_reset(struct builder *builder);

/* Adds a sentence for the user that is not in info; each is kept once. */
void builder_note(struct builder *builder, const char *text);
/* Is there a use for the command line of this process, which may just have begun another program? Not if it
 * has one, so that a process that is renamed all the time is not asked all the time; nor if it would be too
 * much for one profile. */
bool builder_wants_command(struct builder *builder, pid_t pid, bool is_program);
/* Sets the command line of a process that has been seen, if it is known. */
void builder_command(struct builder *builder, pid_t pid, const char *command_line);
/* Sets its user, likewise. */
void builder_user(struct builder *builder, pid_t pid, const struct user *user);
/* It has ended, and its user was not read in time. */
void builder_user_is_unknown(struct builder *builder, pid_t pid);

/* Every event that is not a sample: processes, threads, names, losses. */
void builder_event(struct builder *builder, const struct event *event);
/*
 * A sample and its stack: CCT, values (samples and weight), timeline, quality. Allocates nothing in the
 * steady state. A thread that was never announced is added with its first sample.
 */
void builder_sample(struct builder *builder, const struct event *event, const struct stack *stack);
/* Where the last one was counted. */
struct builder_place {
	uint32_t node, thread;
};
struct builder_place builder_last(const struct builder *builder);
/* Adds calls that were counted in the kernel, on a complete path: their sums, and the distribution of their
 * durations. */
void builder_count_calls(struct builder *builder, uint32_t node, uint32_t thread, uint64_t now,
			 const struct trace_sums *sums);
void builder_count_class(struct builder *builder, uint32_t node, uint32_t thread, uint32_t class, uint64_t n);
/* Like builder_sample without the stack, which the caller keeps; returns the thread's row. */
uint32_t builder_count(struct builder *builder, const struct event *event);
/* A thread runs again: EVENT_SWITCH, with the duration of the wait. */
void builder_wait(struct builder *builder, const struct event *event);
/* The metric of waits that threads of this name have ended; 0 if it is a thread that is not recorded, or
 * there are too many names. */
uint32_t builder_waker_metric(struct builder *builder, pid_t pid, pid_t tid);
/* The same for waits for locks that threads of this name held. */
uint32_t builder_holder_metric(struct builder *builder, pid_t pid, pid_t tid);
/* A sample of a thread that wakes another, and its stack, which is added below the wait. */
void builder_waker(struct builder *builder, const struct event *event, const struct stack *stack);
/* The row of an event's thread. */
uint32_t builder_find(struct builder *builder, const struct event *event);
/* The time of the latest event. */
uint64_t builder_last_ns(const struct builder *builder);
/* cct_tell of the profile so far. */
void builder_mark_told(struct builder *builder);
bool builder_has_exited(const struct builder *builder, uint32_t thread);

/*
 * The profile so far, with duration, image table and quality current; owned by the builder. Used for
 * checkpoints. The caller may fill in what only it knows (run.mode, run.target, quality.wakeups, ...).
 * stats may be NULL.
 */
struct profile *builder_profile(struct builder *builder, const struct unwinder_stats *stats);
/*
 * The same, but passed to the caller; later events go into another profile, which begins at now_ns. Only with
 * source_info.is_machine.
 */
struct profile *builder_next(struct builder *builder, const struct unwinder_stats *stats, uint64_t now_ns);
/* The same, but passed to the caller; the builder must not be used afterwards. */
struct profile *builder_finish(struct builder *builder, const struct unwinder_stats *stats);
