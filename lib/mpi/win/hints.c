// SPDX-License-Identifier: BSD-2-Clause
/* See window.h. */
#include "mpi/win/window.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/job/real_mpi.h"
#include "mpi/win/error.h"

static bool is_one_of(const char *value, size_t bytes, const char *const names[])
{
	for (; *names; names++)
		if (strlen(*names) == bytes && memcmp(*names, value, bytes) == 0)
			return true;
	return false;
}

static bool truth(const char *value)
{
	return is_one_of(value, strlen(value), (const char *const[]){ "true", "false", NULL });
}

static bool ops(const char *value)
{
	return is_one_of(value, strlen(value), (const char *const[]){ "same_op", "same_op_no_op", NULL });
}

static bool ordering(const char *value)
{
	static const char *const each[] = { "rar", "raw", "war", "waw", NULL };

	if (strcmp(value, "none") == 0)
		return true;
	for (;;) {
		size_t bytes = strcspn(value, ",");

		if (!is_one_of(value, bytes, each))
			return false;
		if (!value[bytes])
			return true;
		value += bytes + 1;
	}
}

static bool number(const char *value)
{
	return *value && strspn(value, "0123456789") == strlen(value) && strlen(value) < 10;
}

/* All members must give them alike. */
static const char noncontig_key[] = "alloc_shared_noncontig", granularity_key[] = "mpi_accumulate_granularity";

static const struct {
	const char *key;
	bool (*usable)(const char *value);
} known[HINTS_MAX] = {
	{ noncontig_key, truth },  { "accumulate_ordering", ordering },
	{ "accumulate_ops", ops }, { granularity_key, number },
	{ "share", truth },
};

/* Gets a key's value; false: none, or longer than usable, which MPICH calls an error. */
static int get(MPI_Info info, const char *key, char value[HINT_VALUE_MAX + 1])
{
	int length, found;

	PMPI_Info_get_valuelen(info, key, &length, &found);
	if (found && length <= HINT_VALUE_MAX)
		PMPI_Info_get(info, key, HINT_VALUE_MAX, value, &found);
	return found && length <= HINT_VALUE_MAX;
}

void hints_read(MPI_Info info, struct hints *hints)
{
	int count = 0;

	memset(hints, 0, sizeof(*hints));
	for (int i = 0; info != MPI_INFO_NULL && i < HINTS_MAX; i++) {
		char *value = hints->values[count];

		if (get(info, known[i].key, value) && known[i].usable(value))
			hints->list[count++] = (struct oriel_hint){ known[i].key, value };
	}
}

static const char *const reported_keys[HINTS_REPORTED] = { "no_locks", "same_size", "same_disp_unit" };

void hints_keep_reported(MPI_Info info, bool reported[HINTS_REPORTED])
{
	char value[HINT_VALUE_MAX + 1];

	for (int i = 0; info != MPI_INFO_NULL && i < HINTS_REPORTED; i++)
		if (get(info, reported_keys[i], value) && truth(value))
			reported[i] = strcmp(value, "true") == 0;
}

static const char *value_of(const struct hints *hints, const char *key)
{
	for (const struct oriel_hint *hint = hints->list; hint->key; hint++)
		if (hint->key == key)
			return hint->value;
	return NULL;
}

long hints_agreed(const struct hints *hints)
{
	const char *granularity = value_of(hints, granularity_key), *noncontig = value_of(hints, noncontig_key);

	return 2 * (granularity ? atol(granularity) : 0) + (noncontig && strcmp(noncontig, "true") == 0);
}

void hints_drop_agreed(struct hints *hints)
{
	struct oriel_hint *to = hints->list;

	for (const struct oriel_hint *from = hints->list; from->key; from++)
		if (from->key != granularity_key && from->key != noncontig_key)
			*to++ = *from;
	*to = (struct oriel_hint){ NULL, NULL };
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info)
{
	struct window *window = window_of(win);
	struct hints hints;
	int rc;

	if (!window)
		return window_error(win) ?: real_mpi.Win_set_info(win, info);
	if (info == MPI_INFO_NULL)
		return error_on_window(window, MPI_ERR_INFO, "MPI_Win_set_info", "the info is MPI_INFO_NULL");
	hints_read(info, &hints);
	rc = oriel_win_set_hints(window->win, hints.list);
	if (rc == 0)
		hints_keep_reported(info, window->reported);
	return error_of_call(window, rc);
}
TAKEN(Win_set_info);

static void tell_truth(MPI_Info info, const char *key, int value)
{
	PMPI_Info_set(info, key, value ? "true" : "false");
}

static void tell(MPI_Info info, const struct window *window, const struct oriel_win_info *win_info)
{
	char granularity[24];

	snprintf(granularity, sizeof(granularity), "%zu", win_info->accumulate_granularity_bytes);
	for (int i = 0; i < HINTS_REPORTED; i++)
		tell_truth(info, reported_keys[i], window->reported[i]);
	PMPI_Info_set(info, "accumulate_ordering", win_info->accumulate_ordering);
	PMPI_Info_set(info, "accumulate_ops", win_info->accumulate_ops);
	PMPI_Info_set(info, "mpi_accumulate_granularity", granularity);
	tell_truth(info, "share", win_info->share);
	if (window->flavor == MPI_WIN_FLAVOR_SHARED)
		tell_truth(info, "alloc_shared_noncontig", win_info->alloc_shared_noncontig);
}

int MPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
	const struct window *window = window_of(win);
	struct oriel_win_info win_info = { .struct_bytes = sizeof(win_info) };
	int rc;

	if (!window)
		return window_error(win) ?: real_mpi.Win_get_info(win, info_used);
	rc = oriel_win_query(window->win, &win_info);
	if (rc)
		return error_of_call(window, rc);
	PMPI_Info_create(info_used);
	tell(*info_used, window, &win_info);
	return MPI_SUCCESS;
}
TAKEN(Win_get_info);
