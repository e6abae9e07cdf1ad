/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify: the subjects of `cpprof verify`, each in its own file.
 */
#pragma once

int verify_names_command(int argc, char **argv);
int verify_recipes_command(int argc, char **argv);
int verify_steps_command(int argc, char **argv);
