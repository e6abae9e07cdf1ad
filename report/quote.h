/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote: escapes foreign names for cells of tables. Terminal control sequences are replaced in all of them.
 */
#pragma once

#include "base/text.h"

/* As a field of RFC 4180. What a spreadsheet would compute is marked as text by the quote that they all know.
 */
void quote_csv(struct text *to, const char *name);
/* As code, so that nothing in a name is taken for markup; a bar would end the cell. Long names are cut. */
void quote_markdown(struct text *to, const char *name);
