/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers that work, on the interrupted stack or, with "alternate", on an alternate stack. */
#include <signal.h>
#include <stdlib.h>

#include "spin.h"

static double seconds = 0.2;

OWN static void handler(int number)
{
	(void)number;
	spin(seconds);
}

OWN static void interrupted(int number)
{
	raise(number);
	sink++;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = argc > 1 ? SA_ONSTACK : 0 };
	stack_t stack = { .ss_sp = malloc(128 << 10), .ss_size = 128 << 10 };

	if (argc > 1)
		sigaltstack(&stack, NULL);
	if (argc > 2)
		seconds = atof(argv[2]);
	sigaction(SIGUSR1, &action, NULL);
	interrupted(SIGUSR1);
	return 0;
}
