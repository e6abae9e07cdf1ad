/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup: a function that is quick for all of its callers but one. A table of names is searched from its end,
 * where the new names are; two of three callers ask for new names, the third for old ones.
 *
 * The mean over all calls says little; by path it says which caller is to change:
 *
 *   sudo cpprof trace -f find_name -- ./lookup
 *   cpprof report --view calls
 *
 * usage: lookup [ROUNDS]    (2000)
 */
#include <stdio.h>
#include <stdlib.h>

#define OWN __attribute__((noinline, noclone))
#define N_NAMES 200000 /* a search of the whole table takes much longer than a probe */

static struct {
	unsigned id;
	char text[24];
} names[N_NAMES];

static volatile unsigned found;

OWN int find_name(unsigned id)
{
	for (int i = N_NAMES - 1; i >= 0; i--)
		if (names[i].id == id) {
			found++;
			return i;
		}
	return -1;
}

OWN int handle_login(unsigned round)
{
	int at = find_name(N_NAMES - 1 - round % 8);

	found += (unsigned)at & 1u;
	return at;
}

OWN int handle_message(unsigned round)
{
	int at = find_name(N_NAMES - 1 - round % 32);

	found += (unsigned)at & 1u;
	return at;
}

/* The oldest names: the whole table is looked through. */
OWN int write_bill(unsigned round)
{
	int at = find_name(round % 16);

	found += (unsigned)at & 1u;
	return at;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;

	for (unsigned i = 0; i < N_NAMES; i++) {
		names[i].id = i;
		snprintf(names[i].text, sizeof(names[i].text), "name %u", i);
	}
	for (unsigned i = 0; i < n; i++) {
		handle_login(i);
		handle_message(i);
		if (i % 10 == 0)
			write_bill(i);
	}
	printf("%u found\n", found);
	return 0;
}
