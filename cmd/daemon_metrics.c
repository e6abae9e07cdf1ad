/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/daemon_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "base/text.h"
#include "report/style.h"

#define SERVICES_MAX 1000 /* names; Prometheus keeps a series for each */
#define OTHERS "other"

void daemon_metrics_done(struct daemon_metrics *metrics)
{
	for (size_t i = 0; i < metrics->services.n; i++)
		free(metrics->services.at[i].name);
	vec_done(&metrics->services);
}

/* As in a label. A name that is not UTF-8, because somebody chose it or the kernel cut it after 15 bytes,
 * would make a server reject all metrics, and so would two names that look the same there. */
static char *metrics_label(const char *name)
{
	struct text label = { 0 };

	text_add(&label, "", 0);
	style_safe(&label, &(struct style){ .utf8 = true }, name);
	return label.at;
}

static struct daemon_service *metrics_service(struct daemon_metrics *metrics, const char *name)
{
	for (size_t i = 0; i < metrics->services.n; i++)
		if (strcmp(metrics->services.at[i].name, name) == 0)
			return &metrics->services.at[i];
	if (metrics->services.n >= SERVICES_MAX && strcmp(name, OTHERS) != 0)
		return metrics_service(metrics, OTHERS);
	vec_push(&metrics->services, ((struct daemon_service){ .name = alloc_text(name) }));
	return &metrics->services.at[metrics->services.n - 1];
}

/* Metric 1 is time, unless another event was requested. */
static bool metrics_has_time(const struct profile *profile)
{
	return profile->metrics.n > 1 &&
	       strcmp(intern_text(&profile->strings, profile->metrics.at[1].unit), "ns") == 0;
}

void daemon_metrics_add(struct daemon_metrics *metrics, const struct profile *profile)
{
	bool has_time = metrics_has_time(profile);

	metrics->samples += profile->quality.samples;
	metrics->lost += profile->quality.lost;
	for (size_t i = 0; i < profile->cct.values.n; i++) {
		const struct cct_value *value = &profile->cct.values.at[i];
		if (value->metric > 1)
			continue;
		const struct profile_process *process =
			&profile->processes.at[profile->threads.at[value->thread].process];
		CLEANUP(freep) char *label = metrics_label(intern_text(&profile->strings, process->comm));
		struct daemon_service *service = metrics_service(metrics, label);
		if (value->metric == 0)
			service->samples += value->value;
		else if (has_time)
			service->cpu_ns += value->value;
	}
}

static void metrics_print(FILE *to, const char *name, const char *kind, const char *help, double value)
{
	fprintf(to, "# HELP cpprof_%s %s\n# TYPE cpprof_%s %s\ncpprof_%s %.17g\n", name, help, name, kind,
		name, value);
}

/* Escaped for a quoted label value. */
static void metrics_print_label(FILE *to, const char *text)
{
	for (; *text; text++)
		if (*text == '\\' || *text == '"')
			fprintf(to, "\\%c", *text);
		else
			fputc(*text, to);
}

static void metrics_print_push(const struct push_counts *push, FILE *to)
{
	metrics_print(to, "push_sent_total", "counter", "Profiles that were sent to a server.",
		      (double)push->sent);
	metrics_print(to, "push_failed_total", "counter", "Requests that failed and are retried.",
		      (double)push->failed);
	metrics_print(to, "push_dropped_total", "counter",
		      "Profiles discarded because the queue was full or a server rejected them.",
		      (double)(push->dropped + push->refused));
	metrics_print(to, "push_queued", "gauge", "Profiles waiting to be sent.", (double)push->queued);
}

static double metrics_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Of this process, and of its children that have ended. */
static void metrics_print_own(FILE *to)
{
	struct rusage own = { 0 }, children = { 0 };

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	metrics_print(to, "own_cpu_seconds_total", "counter", "CPU time of the daemon and its children.",
		      metrics_seconds(own.ru_utime) + metrics_seconds(own.ru_stime) +
			      metrics_seconds(children.ru_utime) + metrics_seconds(children.ru_stime));
	metrics_print(to, "own_memory_peak_bytes", "gauge", "Peak memory of the daemon.",
		      (double)own.ru_maxrss * 1024);
}

static void metrics_print_all(const struct daemon_metrics *metrics, FILE *to)
{
	metrics_print(to, "samples_total", "counter", "Samples taken.", (double)metrics->samples);
	metrics_print(to, "lost_total", "counter", "Samples lost.", (double)metrics->lost);
	metrics_print(to, "epochs_written_total", "counter", "Epochs written.", (double)metrics->n_epochs);
	metrics_print(to, "epochs_dropped_total", "counter",
		      "Epochs deleted because of --keep, --database-size or a full disk.",
		      (double)metrics->n_dropped);
	metrics_print_own(to);
	metrics_print(to, "database_bytes", "gauge", "Size of the database.",
		      (double)metrics->database_bytes);
	if (metrics->pushes)
		metrics_print_push(&metrics->push, to);
	fputs("# HELP cpprof_cpu_seconds_total CPU time by process name.\n# TYPE cpprof_cpu_seconds_total "
	      "counter\n",
	      to);
	for (size_t i = 0; i < metrics->services.n; i++) {
		fputs("cpprof_cpu_seconds_total{process=\"", to);
		metrics_print_label(to, metrics->services.at[i].name);
		fprintf(to, "\"} %.9f\n", (double)metrics->services.at[i].cpu_ns / 1e9);
	}
}

char *daemon_metrics_text(const struct daemon_metrics *metrics)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	if (to) {
		metrics_print_all(metrics, to);
		fclose(to);
	}
	return text ? text : alloc_text("");
}

int daemon_metrics_write(const struct daemon_metrics *metrics, const char *path, struct diag *diag)
{
	CLEANUP(freep) char *place = NULL;
	struct fresh_file file;
	int error = fresh_file_follow(path, &place);

	if (error)
		return fresh_file_explain(path, error, diag);
	error = fresh_file_open(&file, place, FRESH_BY_UMASK);
	FILE *to = error ? NULL : fresh_file_stream(&file);
	if (to) {
		metrics_print_all(metrics, to);
		error = ferror(to) ? -EIO : 0;
		if (fclose(to) != 0 && !error)
			error = errno ? -errno : -EIO;
	} else if (!error) {
		error = -ENOMEM;
	}
	if (!error)
		error = fresh_file_keep(&file);
	fresh_file_done(&file);
	return error ? diag_set(diag, error, "cannot write metrics to '%s'", path) : 0;
}
