// SPDX-License-Identifier: Apache-2.0
// Loops over lists and strings, do-while, continue and break at several depths, early returns.
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline))

struct item {
	struct item *next;
	int value;
};

KEEP int length(const struct item *item)
{
	int n = 0;
	for (; item; item = item->next) // loop 1 in length
		n++;
	return n;
}

KEEP int count_words(const char *text)
{
	int words = 0;
	while (*text) { // loop 1 in count_words
		while (*text == ' ') // loop 2 in count_words
			text++;
		if (!*text)
			break;
		words++;
		while (*text && *text != ' ') // loop 2 in count_words
			text++;
	}
	return words;
}

KEEP unsigned hash(const unsigned char *bytes, int n)
{
	unsigned h = 2166136261u;
	do { // loop 1 in hash
		h = (h ^ *bytes++) * 16777619u;
	} while (--n > 0);
	return h;
}

KEEP int search(int (*table)[8], int rows, int columns, int what)
{
	for (int i = 0; i < rows; i++) { // loop 1 in search
		if (table[i][0] < 0)
			continue;
		for (int j = 0; j < columns; j++) // loop 2 in search
			if (table[i][j] == what)
				return i * 8 + j;
	}
	return -1;
}

KEEP long binary(const long *sorted, long n, long what)
{
	long low = 0, high = n;
	while (low < high) { // loop 1 in binary
		long middle = (low + high) / 2;
		if (sorted[middle] < what)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

KEEP void sort(long *values, int n)
{
	for (int i = 1; i < n; i++) { // loop 1 in sort
		long value = values[i];
		int j = i;
		while (j > 0 && values[j - 1] > value) { // loop 2 in sort
			values[j] = values[j - 1];
			j--;
		}
		values[j] = value;
	}
}

int main(int argc, char **argv)
{
	struct item last = { NULL, 3 }, first = { &last, 4 };
	int table[8][8] = { { argc } };
	long values[] = { 5, argc, 3, 9, 2 };
	sort(values, 5);
	printf("%d %d %u %d %ld\n", length(&first), count_words(argv[0]), hash((const unsigned char *)argv[0], (int)strlen(argv[0])),
	       search(table, argc + 3, argc + 2, argc), binary(values, 5, argc));
	return 0;
}
