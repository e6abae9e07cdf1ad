/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is loaded many times, each copy under a different name. */
static volatile unsigned long sink;

static __attribute__((noinline)) void inner(void)
{
	for (unsigned long i = 0; i < 20000; i++)
		sink += i;
}

void plugin_burn(void);
void plugin_burn(void)
{
	inner();
	sink++;
}
