/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_message: bytes of any length from one process of cpprof-mpi to another. Those of one sender arrive in
 * the order in which they were sent.
 */
#pragma once

#include "base/vec.h"
#include "base/writer.h"

void mpi_send(struct bytes bytes, int to);
/* Appends what comes. */
void mpi_receive(struct writer *ret, int from);
/* From the first to all. */
void mpi_tell(struct writer *bytes, int rank);

/* To many at once: the bytes stay where they are until all have been sent. */
struct mpi_sending;
struct mpi_sending *mpi_sending_new(void);
void mpi_send_begin(struct mpi_sending *sending, struct bytes bytes, int to);
/* Frees it. */
void mpi_send_end(struct mpi_sending *sending);
