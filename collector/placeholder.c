/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the library non-empty until its first module lands; delete it then. */
extern int cpprof_collector_placeholder;
int cpprof_collector_placeholder;
