// SPDX-License-Identifier: Apache-2.0
// Nothing is inlined here: a body from an included file is still the function's own.
// inlined: nothing
#include <stdio.h>

__attribute__((noinline)) int digest(const int *values, int n)
{
	int sum = 1;
#include "textual.inc"
	return sum;
}

__attribute__((noinline)) int count(const int *values, int n)
{
	int found = 0;
	for (int i = 0; i < n; i++) // loop 1 in count
		if (values[i] % 3 == found % 2)
			found++;
	return found;
}

int main(int n, char **words)
{
	int values[4] = { n, 2, 3, words[0][0] };

	return digest(values, 4) + count(values, 4);
}
