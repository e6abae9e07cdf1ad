/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: the products that `cpprof inspect` prints, each in its own file.
 */
#pragma once

int inspect_events(int argc, char **argv);
int inspect_locations(int argc, char **argv);
int inspect_functions(int argc, char **argv);
int inspect_cfg(int argc, char **argv);
int inspect_coverage(int argc, char **argv);
int inspect_recipes(int argc, char **argv);
int inspect_stacks(int argc, char **argv);
