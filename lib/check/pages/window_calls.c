// SPDX-License-Identifier: BSD-2-Clause
/* window_calls.c - calls of oriel.h that make windows, or return their address; see pages.h */
#include "check/pages/pages.h"
#include "oriel.h"

#define CALLS(X) X(win_allocate) X(win_create) X(win_attach) X(win_query) X(win_shared_query) X(win_free)

#include "check/front/next.h"

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	int rc = next.win_allocate(size_bytes, disp_unit_bytes, hints, group, base, win);

	if (rc == 0)
		*base = region_add(*win, *base, size_bytes);
	return rc;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	region_let_go(base, size_bytes);
	return next.win_create(base, size_bytes, disp_unit_bytes, hints, group, win);
}

int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes)
{
	region_let_go(base, size_bytes);
	return next.win_attach(win, base, size_bytes);
}

int oriel_win_query(const oriel_win *win, struct oriel_win_info *info)
{
	int rc = next.win_query(win, info);

	if (rc == 0 && info->struct_bytes >= offsetof(struct oriel_win_info, base) + sizeof(info->base))
		info->base = alias_of(info->base);
	return rc;
}

int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes)
{
	int rc = next.win_shared_query(win, rank, base, size_bytes, disp_unit_bytes);

	if (rc == 0)
		*base = alias_of(*base);
	return rc;
}

int oriel_win_free(oriel_win **win)
{
	const oriel_win *freed = win ? *win : NULL;
	int rc = next.win_free(win);

	if (freed && !*win)
		region_remove(freed);
	return rc;
}
