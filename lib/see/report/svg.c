// SPDX-License-Identifier: BSD-2-Clause
/* See picture.h. Names come from other processes: what XML gives a meaning is escaped. */
#include <stdarg.h>

#include "see/report/picture.h"

#define TEXT_BYTES 256

static void write_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else
			fputc(*text, out);
	}
}

__attribute__((format(printf, 2, 0))) static void write_words(FILE *out, const char *format, va_list list)
{
	char text[TEXT_BYTES];

	vsnprintf(text, sizeof(text), format, list);
	write_escaped(out, text);
	fputs("</text>\n", out);
}

void svg_text(FILE *out, struct svg_point at, const char *anchor, const char *format, ...)
{
	va_list list;

	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", at.x, at.y, anchor);
	va_start(list, format);
	write_words(out, format, list);
	va_end(list);
}

void svg_heading(FILE *out, int x, int y, const char *format, ...)
{
	va_list list;

	fprintf(out, "<text x=\"%d\" y=\"%d\" font-size=\"15\" font-weight=\"bold\">", x, y);
	va_start(list, format);
	write_words(out, format, list);
	va_end(list);
}

void svg_begin_boxes(FILE *out, const char *colour)
{
	fprintf(out, "<path fill=\"%s\" d=\"", colour);
}

void svg_add_box(FILE *out, int x, int y, int width, int height)
{
	fprintf(out, "M%d %dh%dv%dh-%dz", x, y, width, height, width);
}

void svg_end_boxes(FILE *out)
{
	fputs("\"/>\n", out);
}
