/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_message: sends bytes of any length from one process of cpprof-mpi to another. Messages of one sender
 * arrive in the order in which they were sent.
 */
#pragma once

#include "base/vec.h"
#include "base/writer.h"

void mpi_send(struct bytes bytes, int to);
/* Appends the next message. */
void mpi_receive(struct writer *ret, int from);
/* From the first to all. */
void mpi_tell(struct writer *bytes, int rank);

/* To many at once: the bytes must not move until all have been sent. */
struct mpi_sending;
struct mpi_sending *mpi_sending_new(void);
void mpi_send_begin(struct mpi_sending *sending, struct bytes bytes, int to);
/* Waits, and frees it. */
void mpi_send_end(struct mpi_sending *sending);
