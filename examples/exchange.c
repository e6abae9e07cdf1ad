/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange: one wait, reached by sixteen call paths, of which one costs. A step of a simulation sends and
 * receives the edges of its part of a grid: four fields in four directions, each of which waits for a
 * neighbour. One field is late from one direction.
 *
 * A profile by function says that the program waits; who waits is in the paths:
 *
 *   sudo cpprof trace -f await -- ./exchange
 *   cpprof report --view calls
 *
 * usage: exchange [STEPS]    (20)
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))

enum direction { NORTH, EAST, SOUTH, WEST, N_DIRECTIONS };
enum field { DENSITY, PRESSURE, ENERGY, VELOCITY, N_FIELDS };

static volatile unsigned received;

/* A message: nearly always it is there after a moment. */
OWN int await(enum field field, enum direction direction)
{
	long us = field == ENERGY && direction == WEST ? 5000 : 20;

	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
	received++;
	return (int)received;
}

/* Each direction and each field has its own code, as in a real one. */
#define DIRECTION(name, direction)               \
	OWN int name(enum field field)           \
	{                                        \
		int n = await(field, direction); \
		received += (unsigned)n & 1u;    \
		return n;                        \
	}
DIRECTION(from_north, NORTH)
DIRECTION(from_east, EAST)
DIRECTION(from_south, SOUTH)
DIRECTION(from_west, WEST)

#define FIELD(name, field)                                                        \
	OWN int name(void)                                                        \
	{                                                                         \
		int n = from_north(field) + from_east(field) + from_south(field); \
		return n + from_west(field);                                      \
	}
FIELD(exchange_density, DENSITY)
FIELD(exchange_pressure, PRESSURE)
FIELD(exchange_energy, ENERGY)
FIELD(exchange_velocity, VELOCITY)

OWN static int step(void)
{
	return exchange_density() + exchange_pressure() + exchange_energy() + exchange_velocity();
}

int main(int argc, char **argv)
{
	int n_steps = argc > 1 ? atoi(argv[1]) : 20, sum = 0;

	for (int i = 0; i < n_steps; i++)
		sum += step();
	printf("%d steps, %u messages\n", n_steps, (unsigned)(n_steps * N_FIELDS * N_DIRECTIONS));
	return sum == 0;
}
