// SPDX-License-Identifier: BSD-2-Clause
/*
 * info_json.h - for oriel-info: writes JSON to standard output
 *
 * Objects and lists are opened and closed in turn; commas and indentation come by themselves. The
 * key is NULL inside a list, and for the outermost object.
 */
#ifndef ORIEL_INFO_JSON_H
#define ORIEL_INFO_JSON_H

#include <stdbool.h>

void json_object(const char *key);
void json_list(const char *key);
void json_end(void);

/* A value that is NULL becomes null; bytes that are no printable ASCII become \u00XX. */
void json_text(const char *key, const char *value);
void json_bool(const char *key, bool value);

#endif
