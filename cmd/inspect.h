/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inspect: the products that `cpprof inspect` prints, each in its own file.
 */
#pragma once

int inspect_locations(int argc, char **argv);
