/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words that a process chooses about itself, and that a profiler stores.
 *
 *     new_titles names N     N names of one thread, each a new one
 *     new_titles lines N     N processes with command lines of 1.5 MB, each a new one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD 100000 /* the kernel allows 128 KB */
#define WORDS 15
#define AT_ONCE 8

/* Long enough to be looked at. */
static void live(void)
{
	for (volatile long i = 0; i < 3000000; i++)
		;
	usleep(200000);
}

static void rename_often(unsigned long n)
{
	char name[16];

	for (unsigned long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "n%lu", i);
		prctl(PR_SET_NAME, name);
	}
	prctl(PR_SET_NAME, "last");
	live();
}

static void start_many(const char *program, unsigned long n)
{
	char *word = malloc(WORD + 1), *argv[WORDS + 3] = { (char *)program, (char *)"live" };

	memset(word, 'x', WORD);
	word[WORD] = 0;
	for (size_t i = 0; i < WORDS; i++)
		argv[2 + i] = word;
	for (unsigned long i = 0; i < n; i++) {
		int len = snprintf(word, WORD, "%lu", i);
		word[len] = 'x';
		if (fork() == 0) {
			execv("/proc/self/exe", argv);
			_exit(1);
		}
		if (i >= AT_ONCE)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc > 1 && strcmp(argv[1], "names") == 0)
		rename_often(n);
	else if (argc > 1 && strcmp(argv[1], "lines") == 0)
		start_many(argv[0], n);
	else
		live();
	return 0;
}
