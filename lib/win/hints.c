// SPDX-License-Identifier: BSD-2-Clause
/* hints.c - see hints.h. */
#include "win/hints.h"

#include <string.h>

#include "base/util.h"

static void set_text(char *to, size_t to_bytes, const char *from)
{
	size_t bytes = min_size(strlen(from), to_bytes - 1);

	memcpy(to, from, bytes);
	to[bytes] = '\0';
}

static void take_hint(struct oriel_win_info *info, const char *key, const char *value)
{
	int is_true = strcmp(value, "true") == 0;

	if (strcmp(key, "no_locks") == 0)
		info->no_locks = is_true;
	else if (strcmp(key, "same_size") == 0)
		info->same_size = is_true;
	else if (strcmp(key, "same_disp_unit") == 0)
		info->same_disp_unit = is_true;
	else if (strcmp(key, "accumulate_ordering") == 0)
		set_text(info->accumulate_ordering, sizeof(info->accumulate_ordering), value);
	else if (strcmp(key, "accumulate_ops") == 0)
		set_text(info->accumulate_ops, sizeof(info->accumulate_ops), value);
}

void hints_take(struct oriel_win_info *info, const struct oriel_hint hints[])
{
	set_text(info->accumulate_ordering, sizeof(info->accumulate_ordering), "rar,raw,war,waw");
	set_text(info->accumulate_ops, sizeof(info->accumulate_ops), "same_op_no_op");
	for (; hints && hints->key; hints++) {
		if (hints->value)
			take_hint(info, hints->key, hints->value);
	}
}
