/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/mpi_message.h"

#include <mpi.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK (UINT64_C(1) << 30) /* MPI counts are ints */
#define WAIT_NS 50000

static int mpi_chunk(uint64_t left)
{
	return (int)(left < CHUNK ? left : CHUNK);
}

void mpi_send(struct bytes bytes, int to)
{
	uint64_t len = bytes.len;

	MPI_Send(&len, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
	for (uint64_t at = 0; at < len; at += CHUNK)
		MPI_Send(bytes.at + at, mpi_chunk(len - at), MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

/* MPI libraries wait by polling, which would take a CPU from a process that packs a profile with several
 * threads. */
static void mpi_await(int from)
{
	int is_there = 0;

	for (;;) {
		MPI_Iprobe(from, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
		if (is_there)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = WAIT_NS }, NULL);
	}
}

void mpi_receive(struct writer *ret, int from)
{
	uint64_t len = 0;

	mpi_await(from);
	MPI_Recv(&len, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	uint8_t *to = write_space(ret, len);
	for (uint64_t at = 0; at < len; at += CHUNK)
		MPI_Recv(to + at, mpi_chunk(len - at), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void mpi_tell(struct writer *bytes, int rank)
{
	uint64_t len = bytes->len;

	MPI_Bcast(&len, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	uint8_t *at = rank == 0 ? bytes->at : write_space(bytes, len);
	for (uint64_t done = 0; done < len; done += CHUNK)
		MPI_Bcast(at + done, mpi_chunk(len - done), MPI_BYTE, 0, MPI_COMM_WORLD);
}

struct mpi_sending {
	VEC(MPI_Request) requests;
	VEC(uint64_t *) lengths; /* must not move until it has been sent */
};

struct mpi_sending *mpi_sending_new(void)
{
	return alloc_zero(1, sizeof(struct mpi_sending));
}

static void mpi_begin_one(struct mpi_sending *sending, const void *at, int n, MPI_Datatype type, int to)
{
	MPI_Request request;

	MPI_Isend(at, n, type, to, 0, MPI_COMM_WORLD, &request);
	vec_push(&sending->requests, request);
}

void mpi_send_begin(struct mpi_sending *sending, struct bytes bytes, int to)
{
	uint64_t *len = alloc_zero(1, sizeof(*len));

	*len = bytes.len;
	vec_push(&sending->lengths, len);
	mpi_begin_one(sending, len, 1, MPI_UINT64_T, to);
	for (uint64_t at = 0; at < *len; at += CHUNK)
		mpi_begin_one(sending, bytes.at + at, mpi_chunk(*len - at), MPI_BYTE, to);
}

void mpi_send_end(struct mpi_sending *sending)
{
	for (size_t i = 0; i < sending->requests.n; i++)
		MPI_Wait(&sending->requests.at[i], MPI_STATUS_IGNORE);
	for (size_t i = 0; i < sending->lengths.n; i++)
		free(sending->lengths.at[i]);
	vec_done(&sending->lengths);
	vec_done(&sending->requests);
	free(sending);
}
