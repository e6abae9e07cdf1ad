/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_port: a port where programs on this machine can read texts: Prometheus, metrics. A thread answers;
 * it shares the texts with who sets them, under a lock, and nothing else.
 */
#pragma once

#include "base/diag.h"

/* What is answered at a path. */
enum port_text { PORT_METRICS, PORT_FUNCTIONS, PORT_TEXT_N };

struct metrics_port;
/* PORT, ADDRESS:PORT or [ADDRESS]:PORT, the address in numbers; without one: this machine only. */
int port_check(const char *address, struct diag *diag);
int port_open(const char *address, struct metrics_port **ret, struct diag *diag);
/* Takes NULL, too. */
void port_close(struct metrics_port *port);
/* The text is the listener's from now on; it was allocated. */
void port_set(struct metrics_port *port, enum port_text which, char *text);
