/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_port: a port where programs on this machine, such as Prometheus, can read texts. A thread answers;
 * it shares only the texts with the thread that sets them, under a lock.
 */
#pragma once

#include "base/diag.h"

/* The text at a path. */
enum port_text { PORT_METRICS, PORT_FUNCTIONS, PORT_TEXT_N };

struct metrics_port;
/* PORT, ADDRESS:PORT or [ADDRESS]:PORT, with a numeric address; without one: this machine only. */
int port_check(const char *address, struct diag *diag);
int port_open(const char *address, struct metrics_port **ret, struct diag *diag);
/* port may be NULL. */
void port_close(struct metrics_port *port);
/* Takes the text, which must be allocated. */
void port_set(struct metrics_port *port, enum port_text which, char *text);
