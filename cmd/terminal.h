/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: properties of the terminal on standard output.
 */
#pragma once

#include "report/style.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Width, colour (respects NO_COLOR and TERM=dumb) and UTF-8 of a terminal; plain for anything else. */
struct style terminal_style(enum color_when color);
