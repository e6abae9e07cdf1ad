/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 500; i++)
		sum += fib(24) + i;
	printf("%d\n", sum);
	return 0;
}
