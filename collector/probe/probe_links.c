/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/probe/probe_links.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/*
 * A forked child inherits our descriptors, and a probe stays as long as one of them is open: children close
 * them at once.
 */
static struct probe_links *probe_links_current;

static void probe_links_let_go(void)
{
	for (size_t i = 0; probe_links_current && i < probe_links_current->links.n; i++)
		close(probe_links_current->links.at[i].fd);
	probe_links_current = NULL;
}

static void probe_links_watch_forks(void)
{
	pthread_atfork(NULL, NULL, probe_links_let_go);
}

void probe_links_init(struct probe_links *links, struct bpf_trace *program)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	*links = (struct probe_links){ .program = program };
	pthread_once(&once, probe_links_watch_forks);
	probe_links_current = links;
}

static void probe_set_done(struct probe_set *set)
{
	for (size_t i = 0; i < set->functions.n; i++)
		free((void *)set->functions.at[i].exits);
	vec_done(&set->functions);
	free(set->path);
	*set = (struct probe_set){ 0 };
}

void probe_links_done(struct probe_links *links)
{
	probe_links_clear(links);
	probe_links_current = NULL;
	for (size_t i = 0; i < links->sets.n; i++)
		probe_set_done(&links->sets.at[i]);
	vec_done(&links->sets);
	vec_done(&links->links);
}

/* ---- many places at once ----------------------------------------------------------------------------- */

/* Offsets and cookies of probes that are set at once; owners: the function of each. */
struct probe_list {
	VEC(uint64_t) offsets, cookies;
	VEC(size_t) owners;
};

static void probe_list_done(struct probe_list *list)
{
	vec_done(&list->offsets);
	vec_done(&list->cookies);
	vec_done(&list->owners);
}

static void probe_list_add(struct probe_list *list, uint64_t offset, uint64_t cookie, size_t owner)
{
	vec_push(&list->offsets, offset);
	vec_push(&list->cookies, cookie);
	vec_push(&list->owners, owner);
}

/* What all links of one attempt have in common. */
struct probe_go {
	struct probe_links *links;
	struct probe_link like;
	pid_t pid;
	const char *path;
};

static void probe_keep(const struct probe_go *go, int fd)
{
	struct probe_link link = go->like;

	link.fd = fd;
	vec_push(&go->links->links, link);
}

static int probe_link(const struct probe_go *go, const struct bpf_trace_places *places)
{
	int fd = bpf_trace_link(go->links->program, places);

	if (fd >= 0)
		probe_keep(go, fd);
	if (fd != -EOPNOTSUPP)
		return fd < 0 ? fd : 0;
	for (size_t i = 0; i < places->n; i++) {
		fd = bpf_trace_link_one(go->links->program, places, i);
		if (fd < 0)
			return fd;
		probe_keep(go, fd);
	}
	return 0;
}

static void probe_unlink(struct probe_links *links, size_t n_kept)
{
	while (links->links.n > n_kept)
		close(links->links.at[--links->links.n].fd);
}

/* Which one is refused, if it is the only one? Found by bisection. */
static size_t probe_find_refused(const struct probe_go *go, struct bpf_trace_places places)
{
	const uint64_t *first = places.offsets;
	size_t n_kept = go->links->links.n;

	while (places.n > 1) {
		struct bpf_trace_places half = places;
		half.n = places.n / 2;
		int error = probe_link(go, &half);
		probe_unlink(go->links, n_kept);
		if (!error) {
			half.offsets += half.n;
			half.cookies += half.n;
			half.n = places.n - places.n / 2;
		}
		places = half;
	}
	int error = probe_link(go, &places);
	probe_unlink(go->links, n_kept);
	return error ? (size_t)(places.offsets - first) : SIZE_MAX;
}

static int probe_link_list(struct probe_go *go, const struct probe_list *list, bool at_returns, bool at_entry,
			   size_t *ret_refused)
{
	struct bpf_trace_places places = { .path = go->path,
					   .offsets = list->offsets.at,
					   .cookies = list->cookies.at,
					   .n = list->offsets.n,
					   .pid = go->pid,
					   .at_returns = at_returns };

	if (!places.n)
		return 0;
	go->like.at_entry = at_entry;
	int error = probe_link(go, &places);
	if (error) {
		size_t place = probe_find_refused(go, places);
		*ret_refused = place < list->owners.n ? list->owners.at[place] : SIZE_MAX;
	}
	return error;
}

/* ---- functions --------------------------------------------------------------------------------------- */

/* The functions of a set that are in this state. Exits first: a call whose entry was seen must be seen to
 * end. */
static int probe_link_functions(struct probe_links *links, uint32_t index, enum probe_state state,
				size_t *ret_refused)
{
	CLEANUP(probe_list_done) struct probe_list exits = { 0 }, returns = { 0 }, entries = { 0 };
	const struct probe_set *set = &links->sets.at[index];
	struct probe_go go = {
		.links = links, .like = { .set = index, .state = state }, .pid = set->pid, .path = set->path
	};
	size_t n_kept = links->links.n;

	*ret_refused = SIZE_MAX;
	for (size_t i = 0; i < set->functions.n; i++) {
		const struct probe_function *f = &set->functions.at[i];
		uint64_t bits = trace_grant_bits(f->grant) | (f->is_go ? TRACE_COOKIE_GO : 0) |
				(f->skip ? TRACE_COOKIE_SKIPS : 0);
		if (links->state[f->number] != state)
			continue;
		for (size_t k = 0; k < f->n_exits && !f->has_no_end; k++) {
			uint64_t jump = k + f->n_jumps >= f->n_exits ? TRACE_COOKIE_JUMP : 0;
			if (f->exits[k] == f->entry)
				bits |= TRACE_COOKIE_WHOLE | jump;
			else
				probe_list_add(&exits, f->exits[k],
					       bits | jump | trace_cookie(f->number, TRACE_EXIT), i);
		}
		if (!f->n_exits && !f->has_no_end)
			probe_list_add(&returns, f->entry, bits | trace_cookie(f->number, TRACE_RETURN), i);
		probe_list_add(&entries, f->entry, bits | trace_cookie(f->number, TRACE_ENTRY), i);
	}
	int error = probe_link_list(&go, &exits, false, false, ret_refused);
	if (!error)
		error = probe_link_list(&go, &returns, true, false, ret_refused);
	if (!error)
		error = probe_link_list(&go, &entries, false, true, ret_refused);
	if (error)
		probe_unlink(links, n_kept);
	return error;
}

static void probe_remember(struct probe_links *links, pid_t pid, const char *path,
			   const struct probe_function *functions, size_t n)
{
	struct probe_set set = { .pid = pid, .path = alloc_text(path) };

	for (size_t i = 0; i < n; i++) {
		struct probe_function f = functions[i];
		uint64_t *exits = alloc_zero(f.n_exits + 1, sizeof(*exits));
		if (f.n_exits)
			memcpy(exits, f.exits, f.n_exits * sizeof(*exits));
		f.exits = exits;
		vec_push(&set.functions, f);
	}
	vec_push(&links->sets, set);
}

int probe_links_add(struct probe_links *links, pid_t pid, const char *path,
		    const struct probe_function *functions, size_t n, size_t *ret_refused)
{
	uint32_t index = (uint32_t)links->sets.n;
	size_t n_kept = links->links.n;

	probe_remember(links, pid, path, functions, n);
	int error = probe_link_functions(links, index, PROBE_ALWAYS, ret_refused);
	if (!error && !links->is_paused)
		error = probe_link_functions(links, index, PROBE_AT_TIMES, ret_refused);
	if (error) {
		probe_unlink(links, n_kept);
		probe_set_done(&links->sets.at[--links->sets.n]);
	}
	return error;
}

/* ---- changes ----------------------------------------------------------------------------------------- */

/* Closes the links for which is_one is true; entries first: calls that have begun must be seen to end. */
static void probe_close_some(struct probe_links *links, bool (*is_one)(const struct probe_link *, uint64_t),
			     uint64_t key)
{
	for (int at_entry = 1; at_entry >= 0; at_entry--) {
		size_t n = 0;
		for (size_t i = 0; i < links->links.n; i++)
			if (links->links.at[i].at_entry == at_entry && is_one(&links->links.at[i], key))
				close(links->links.at[i].fd);
			else
				links->links.at[n++] = links->links.at[i];
		links->links.n = n;
	}
}

static bool probe_is_of_set(const struct probe_link *link, uint64_t set)
{
	return link->set == set;
}

static bool probe_is_entry_at_times(const struct probe_link *link, uint64_t key)
{
	(void)key;
	return link->state == PROBE_AT_TIMES && link->at_entry;
}

static bool probe_is_at_times(const struct probe_link *link, uint64_t key)
{
	(void)key;
	return link->state == PROBE_AT_TIMES;
}

/* An empty set has no probes, and keeps its number. */
void probe_links_forget(struct probe_links *links, pid_t pid)
{
	for (size_t i = 0; i < links->sets.n; i++)
		if (links->sets.at[i].pid == pid) {
			probe_close_some(links, probe_is_of_set, i);
			probe_set_done(&links->sets.at[i]);
		}
}

static bool probe_set_has(const struct probe_set *set, uint32_t number)
{
	for (size_t i = 0; i < set->functions.n; i++)
		if (set->functions.at[i].number == number)
			return true;
	return false;
}

void probe_links_change(struct probe_links *links, uint32_t number, enum probe_state state)
{
	size_t refused;

	if (links->state[number] == state)
		return;
	links->state[number] = (uint8_t)state;
	if (state == PROBE_ALWAYS)
		bpf_trace_stand(links->program, number, 1);
	for (uint32_t i = 0; i < links->sets.n; i++) {
		if (!probe_set_has(&links->sets.at[i], number))
			continue;
		probe_close_some(links, probe_is_of_set, i);
		(void)probe_link_functions(links, i, PROBE_ALWAYS, &refused); /* a process that is gone */
		if (!links->is_paused)
			(void)probe_link_functions(links, i, PROBE_AT_TIMES, &refused);
	}
}

void probe_links_pause(struct probe_links *links, bool with_exits)
{
	links->is_paused = true;
	probe_close_some(links, with_exits ? probe_is_at_times : probe_is_entry_at_times, 0);
}

void probe_links_resume(struct probe_links *links)
{
	size_t refused;

	if (!links->is_paused)
		return;
	links->is_paused = false;
	for (uint32_t i = 0; i < links->sets.n; i++)
		(void)probe_link_functions(links, i, PROBE_AT_TIMES, &refused);
}

void probe_links_clear(struct probe_links *links)
{
	probe_unlink(links, 0);
}
