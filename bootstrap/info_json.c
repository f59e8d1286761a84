// SPDX-License-Identifier: BSD-2-Clause
/* info_json.c - see info_json.h. */
#include "info_json.h"

#include <stdio.h>

#define DEPTH_MAX 8 /* oriel-info nests three */

static char closing[DEPTH_MAX]; /* of what is open */
static bool has_any[DEPTH_MAX]; /* what is open has a member: a comma comes before the next */
static int depth;

static void indent(void)
{
	putchar('\n');
	for (int i = 0; i < depth; i++)
		fputs("  ", stdout);
}

static void quote(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c > 0x7e)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void begin_member(const char *key)
{
	if (depth > 0) {
		if (has_any[depth - 1])
			putchar(',');
		has_any[depth - 1] = true;
		indent();
	}
	if (key) {
		quote(key);
		fputs(": ", stdout);
	}
}

static void open_with(const char *key, const char *brackets)
{
	begin_member(key);
	putchar(brackets[0]);
	closing[depth] = brackets[1];
	has_any[depth++] = false;
}

void json_object(const char *key)
{
	open_with(key, "{}");
}

void json_list(const char *key)
{
	open_with(key, "[]");
}

void json_end(void)
{
	char bracket = closing[--depth];

	if (has_any[depth])
		indent();
	putchar(bracket);
	if (depth == 0)
		putchar('\n');
}

void json_text(const char *key, const char *value)
{
	begin_member(key);
	if (value)
		quote(value);
	else
		fputs("null", stdout);
}

void json_bool(const char *key, bool value)
{
	begin_member(key);
	fputs(value ? "true" : "false", stdout);
}
