// SPDX-License-Identifier: BSD-2-Clause
/* See places.h. */
#include "win/places.h"

#include "conn/coll.h"
#include "job/group.h"
#include "job/job.h"
#include "conn/sharing.h"
#include "conn/atomics_peer.h"
#include "sync/wait.h"
#include "win/win.h"

/* Compares the members' places: the barrier returns ORIEL_ERR_ARG if they differ. */
static int compare_places(struct oriel_win *win, const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];
	int verdict;

	coll_id_within(id, win->id, 0, COLL_PLACES);
	coll_begin(&coll, win->group, id, 0, win->job->rank);
	coll.agreed = sharing_place(win->job);
	wait_begin(&wait, win->job, call, NULL);
	verdict = coll_run_once(&coll, &wait);
	if (verdict && verdict != ORIEL_ERR_ARG)
		return verdict;
	win->places = verdict ? PLACES_SEVERAL : PLACES_ONE;
	if (win->places == PLACES_ONE && win->group->size == win->job->size)
		job_found_in_one_place(win->job);
	return 0;
}

int places_learn(struct oriel_win *win, const char *call)
{
	win->places = job_places(win->job, win->group);
	return win->places == PLACES_UNKNOWN ? compare_places(win, call) : 0;
}

void places_keep(const struct oriel_win *win)
{
	job_keep_places(win->job, win->group, win->places);
}

/* Words that a card changes must be registered with it. */
uint32_t window_devices(const struct oriel_win *win)
{
	const struct devices *devices = &win->job->devices;

	if (win->places != PLACES_ONE || job_atomic_device(win->job))
		return devices_all(devices);
	return devices_without_pinning(devices);
}
