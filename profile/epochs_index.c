/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs_index: which processes are in which epoch. If it is lost, queries take longer, but nothing else
 * changes: epochs that it does not list are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "base/own_folder.h"
#include "profile/epochs_private.h"

#define LINES_MAX 10000000u

void epochs_index_clear(struct epochs *epochs)
{
	for (size_t i = 0; i < epochs->index.n; i++) {
		free(epochs->index.at[i].epoch);
		free(epochs->index.at[i].comm);
	}
	vec_clear(&epochs->index);
}

/* Without characters that would end a field. */
static char *index_plain(const char *text)
{
	char *plain = alloc_text(text);

	for (char *at = plain; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	return plain;
}

/* "EPOCH<tab>SAMPLES<tab>NS"; with a fourth field, for the process with this name. */
static void index_parse(struct epochs *epochs, char *line)
{
	struct epoch_process it = { 0 };
	char *at = line, *name = strsep(&at, "\t"), *samples = strsep(&at, "\t"), *ns = strsep(&at, "\t");

	if (!samples || !ns || !name[0])
		return;
	it.epoch = alloc_text(name);
	it.samples = strtoull(samples, NULL, 10);
	it.cpu_ns = strtoull(ns, NULL, 10);
	it.comm = at ? alloc_text(at) : NULL;
	vec_push(&epochs->index, it);
}

void epochs_index_read(struct epochs *epochs)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "index", NULL);
	CLEANUP(freep) char *line = NULL;
	int fd = own_folder_open_file(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	size_t size = 0;
	ssize_t len;

	epochs_index_clear(epochs);
	while (file && epochs->index.n < LINES_MAX && (len = getline(&line, &size, file)) > 0) {
		if (line[len - 1] != '\n')
			break;
		line[len - 1] = 0;
		index_parse(epochs, line);
	}
	if (file)
		fclose(file);
}

static void index_write(struct epochs *epochs)
{
	CLEANUP(freep) char *path = epochs_path(epochs, "index", NULL);
	struct fresh_file file;

	if (fresh_file_open(&file, path, FRESH_PRIVATE) < 0)
		return;
	FILE *stream = fresh_file_stream(&file);
	for (size_t i = 0; stream && i < epochs->index.n; i++) {
		const struct epoch_process *it = &epochs->index.at[i];
		fprintf(stream, "%s\t%" PRIu64 "\t%" PRIu64 "%s%s\n", it->epoch, it->samples, it->cpu_ns,
			it->comm ? "\t" : "", it->comm ? it->comm : "");
	}
	if (stream && fflush(stream) == 0 && !ferror(stream))
		fresh_file_keep(&file);
	if (stream)
		fclose(stream);
	fresh_file_done(&file);
}

/* Lines of epochs that are gone, and of this one, which may be written again. */
static void index_drop(struct epochs *epochs, const char *name)
{
	size_t n = 0;
	bool is_kept = false;
	const char *last = "";

	for (size_t i = 0; i < epochs->index.n; i++) {
		struct epoch_process it = epochs->index.at[i];
		if (strcmp(it.epoch, last) != 0) {
			CLEANUP(freep) char *path = epochs_path(epochs, "epochs", it.epoch);
			is_kept = strcmp(it.epoch, name) != 0 && access(path, F_OK) == 0;
		}
		if (is_kept) {
			epochs->index.at[n++] = it;
			last = it.epoch;
		} else {
			last = "";
			free(it.epoch);
			free(it.comm);
		}
	}
	epochs->index.n = n;
}

/* The number of the new line. */
static size_t index_push(struct epochs *epochs, const char *name, char *comm)
{
	vec_push(&epochs->index, ((struct epoch_process){ .epoch = alloc_text(name), .comm = comm }));
	return epochs->index.n - 1;
}

static void index_count(struct epochs *epochs, size_t line, uint64_t samples, uint64_t cpu_ns)
{
	epochs->index.at[line].samples += samples;
	epochs->index.at[line].cpu_ns += cpu_ns;
}

/* Processes choose their names, and there may be as many as processes: no search among lines. */
static void index_add_lines(struct epochs *epochs, const char *name, const struct profile *profile,
			    const uint64_t *samples, const uint64_t *cpu)
{
	CLEANUP(freep) size_t *line_of = alloc_zero(profile->strings.strings.n + 1, sizeof(*line_of));
	size_t whole = index_push(epochs, name, NULL);

	for (size_t i = 0; i < profile->threads.n; i++) {
		uint32_t comm = profile->processes.at[profile->threads.at[i].process].comm;
		if (!line_of[comm]) /* the first line is that of the whole epoch, so never number 0 */
			line_of[comm] =
				index_push(epochs, name, index_plain(intern_text(&profile->strings, comm)));
		index_count(epochs, line_of[comm], samples[i], cpu[i]);
		index_count(epochs, whole, samples[i], cpu[i]);
	}
}

void epochs_index_add(struct epochs *epochs, const char *name, const struct profile *profile)
{
	CLEANUP(freep) uint64_t *samples = alloc_zero(profile->threads.n + 1, sizeof(*samples));
	CLEANUP(freep) uint64_t *cpu = alloc_zero(profile->threads.n + 1, sizeof(*cpu));
	packed_rows rows = { 0 };

	for (uint32_t node = 0; profile->packed && node < profile->cct.nodes.n; node++) {
		packed_values_of(profile->packed, node, &rows);
		for (size_t i = 0; i < rows.n; i++)
			if (rows.at[i].metric < 2)
				(rows.at[i].metric ? cpu : samples)[rows.at[i].thread] += rows.at[i].value;
	}
	vec_done(&rows);
	index_drop(epochs, name);
	index_add_lines(epochs, name, profile, samples, cpu);
	if (epochs->writes)
		index_write(epochs);
}

bool epochs_index_may_have(const struct epochs *epochs, const struct epoch *epoch, const char *process)
{
	bool is_indexed = false;

	if (process[strspn(process, "0123456789")] == 0)
		return true; /* a pid: these are not in the index */
	CLEANUP(freep) char *plain = index_plain(process);
	for (size_t i = 0; i < epochs->index.n; i++) {
		const struct epoch_process *line = &epochs->index.at[i];
		if (strcmp(line->epoch, epoch->name) != 0)
			continue;
		is_indexed = true;
		if (line->comm && strcmp(line->comm, plain) == 0)
			return true;
	}
	return !is_indexed;
}
