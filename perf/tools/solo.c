// SPDX-License-Identifier: BSD-2-Clause
/* solo.c - see solo.h. */
#include "tools/solo.h"

#include <stdlib.h>

#include "bench/json.h"
#include "bench/ticks.h"

static const struct perf_refusal refusals[] = { { NULL, NULL } };
static const struct perf_backend oriel_only = { .name = "oriel", .refusals = refusals };

int solo_fail(const char *call)
{
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	return 1;
}

int solo_begin(struct solo *solo, const struct tool *which, int argc, char *argv[])
{
	struct oriel_options wanted = { .struct_bytes = sizeof(wanted), .device = NULL };
	int rc = perf_options_parse(&solo->options, which, &oriel_only, argc, argv);
	const char *device = getenv("ORIEL_DEVICE");

	if (rc)
		return rc == OPTIONS_HELP ? 1 : rc + 1;
	ticks_begin();
	wanted.device = solo->options.device;
	if (oriel_init(&wanted, &solo->job) || oriel_group_world(solo->job, &solo->world))
		return solo_fail("oriel_init") + 1;
	solo->place.rank = oriel_rank(solo->job);
	solo->place.size = oriel_size(solo->job);
	snprintf(solo->place.device, sizeof(solo->place.device), "%s",
	         wanted.device ? wanted.device
	         : device      ? device
	                       : "");
	if (solo->place.rank == 0)
		solo->json = json_begin(which->name, "oriel", &solo->options, &solo->place, &rc);
	return rc ? rc + 1 : 0;
}

int solo_end(struct solo *solo)
{
	int rc = solo->json ? json_end(solo->json, &solo->options) : 0;

	oriel_group_free(&solo->world);
	return oriel_finalize(&solo->job) ? solo_fail("oriel_finalize") : rc;
}

int solo_group(struct solo *solo, int first, int last, int without, oriel_group **group)
{
	int count = 0, rc, *ranks = malloc((size_t)(last - first + 1) * sizeof(ranks[0]));

	if (!ranks)
		return fprintf(stderr, "perf: no memory for a list of ranks\n"), 1;
	for (int rank = first; rank <= last; rank++) {
		if (rank != without)
			ranks[count++] = rank;
	}
	rc = oriel_group_incl(solo->world, count, ranks, group);
	free(ranks);
	return rc ? solo_fail("oriel_group_incl") : 0;
}

int solo_epoch_with_all(struct solo *solo, oriel_win *win, int hub)
{
	oriel_group *group;
	int rc;

	if (solo->place.rank == hub) {
		if (solo_group(solo, 0, solo->place.size - 1, hub, &group))
			return 1;
		rc = oriel_win_start(win, group, 0) || oriel_win_complete(win);
	} else {
		if (solo_group(solo, hub, hub, -1, &group))
			return 1;
		rc = oriel_win_post(win, group, 0) || oriel_win_wait(win);
	}
	oriel_group_free(&group);
	return rc ? solo_fail("epoch") : 0;
}
