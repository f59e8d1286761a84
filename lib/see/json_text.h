/* SPDX-License-Identifier: BSD-2-Clause */
/* json_text.h - a text as a member of a JSON object */
#ifndef ORIEL_JSON_TEXT_H
#define ORIEL_JSON_TEXT_H

#include <stdio.h>

/* Writes the member, and ", " for the next one. The text is printable ASCII. */
static inline void json_write_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\": \"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputs("\", ", out);
}

#endif
