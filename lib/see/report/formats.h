/* SPDX-License-Identifier: BSD-2-Clause */
/* formats.h - the formats of a profile */
#ifndef ORIEL_SEE_FORMATS_H
#define ORIEL_SEE_FORMATS_H

#include <stdbool.h>
#include <string.h>

#define FORMATS_DEFAULT "text,json"
#define FORMATS_USAGE "--profile=text, json, svg or several with commas"

static inline bool format_is_known(const char *text, int length)
{
	static const char *const formats[] = { "text", "json", "svg" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strlen(formats[i]) == (size_t)length && strncmp(text, formats[i], (size_t)length) == 0)
			return true;
	}
	return false;
}

/* Returns the first unknown format of a list, and its length; or NULL. */
static inline const char *formats_unknown(const char *list, int *length)
{
	for (const char *at = list;; at += *length + 1) {
		*length = (int)strcspn(at, ",");
		if (!format_is_known(at, *length))
			return at;
		if (at[*length] == '\0')
			return NULL;
	}
}

#endif
