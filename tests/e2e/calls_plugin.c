/* SPDX-License-Identifier: Apache-2.0 */
/* A library that `calls` loads. */
int plugged(int n);

__attribute__((noinline)) int plugged(int n)
{
	return n * 3 + 1;
}
