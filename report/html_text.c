/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html_text.h"

#include <string.h>

#include "base/json.h"

void html_escaped(FILE *to, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		unsigned len = utf8_length(text, left);
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
			fprintf(to, "&#%u;", (unsigned char)*text);
		else if (len == 0 || utf8_is_control(text, len))
			fputs("\xef\xbf\xbd", to);
		else
			fwrite(text, 1, len, to);
		text += len ? len : 1;
		left -= len ? len : 1;
	}
}
