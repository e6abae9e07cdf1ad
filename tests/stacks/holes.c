/* SPDX-License-Identifier: Apache-2.0 */
/* A frame with pages that nobody has touched: the kernel's copy of the stack ends there. */
#include <pthread.h>

#include "spin.h"

OWN static void above_hole(void)
{
	char room[48 << 10];

	__asm__ volatile("" ::"r"(room) : "memory");
	spin(0.2);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static void *start(void *unused)
{
	above_hole();
	sink++;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, NULL))
		return 77;
	pthread_join(thread, NULL);
	return 0;
}
