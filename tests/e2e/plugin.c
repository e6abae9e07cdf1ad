/* SPDX-License-Identifier: Apache-2.0 */
/* plugin: a library that a running program loads after cpprof has attached. */
void plugin_burn(void);

static volatile unsigned long sink;

void plugin_burn(void)
{
	for (unsigned long i = 0; i < 200000; i++)
		sink += i;
}
