/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_metrics: the state of a daemon, and CPU time by process name, as a text file for Prometheus.
 */
#pragma once

#include "base/diag.h"
#include "base/vec.h"
#include "cmd/push.h"
#include "profile/profile.h"

struct daemon_service {
	char *name;
	uint64_t cpu_ns, samples;
};

struct daemon_metrics {
	uint64_t samples, lost;
	uint64_t n_epochs, n_dropped, database_bytes;
	bool pushes;
	struct push_counts push;
	VEC(struct daemon_service) services; /* by process name; the last may be all others */
};

void daemon_metrics_done(struct daemon_metrics *metrics);
/* To be called when an epoch has ended. */
void daemon_metrics_add(struct daemon_metrics *metrics, const struct profile *profile);
/* The current state as text; allocated. */
char *daemon_metrics_text(const struct daemon_metrics *metrics);
/* Replaces the file, whose permissions depend on the umask. */
int daemon_metrics_write(const struct daemon_metrics *metrics, const char *path, struct diag *diag);
