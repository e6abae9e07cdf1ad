/* SPDX-License-Identifier: Apache-2.0 */
/* Frames with pages that were never touched: the kernel's copy of the stack ends there. */
#include <pthread.h>

#include "spin.h"

OWN static void above_hole(void)
{
	char room[48 << 10];

	__asm__ volatile("" ::"r"(room) : "memory");
	spin(0.2);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static volatile int is_over;

/* Its stack pointer is in an untouched page: the kernel's copy is empty, even of the pages above. */
OWN static void below_hole(void)
{
	char room[6 << 10];

	__asm__ volatile("" ::"r"(room) : "memory");
	while (!is_over)
		;
	__asm__ volatile("" ::"r"(room) : "memory");
}

static void *start(void *unused)
{
	below_hole();
	above_hole();
	sink++;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, NULL))
		return 77;
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	is_over = 1;
	pthread_join(thread, NULL);
	return 0;
}
