// SPDX-License-Identifier: BSD-2-Clause
/* See atomics_peer.h. */
#include "conn/atomics_peer.h"

#include "base/err.h"
#include "base/order.h"
#include "job/service_queue.h"
#include "job/death.h"
#include "job/job.h"
#include "job/peer.h"

/* Returns the card between ranks, or NULL if all share memory. */
static const struct device *card_between(const struct oriel_job *job, const struct device *soft)
{
	return soft && job_in_one_place(job) ? NULL : devices_find(&job->devices, false);
}

const struct device *job_atomic_device(const struct oriel_job *job)
{
	const struct device *soft = devices_find(&job->devices, true), *card = card_between(job, soft);

	if (card)
		return card->atomics == ATOMICS_HCA ? card : NULL;
	return soft && soft->atomics == ATOMICS_HCA ? soft : NULL;
}

/* Returns whether only the device can draw tickets remotely, whatever ORIEL_ATOMICS says. */
static bool draws_apart(const struct device *device)
{
	return device && (device->atomics == ATOMICS_HCA || device->atomics_reported == ATOMICS_HCA);
}

const struct device *job_ticket_device(const struct oriel_job *job)
{
	const struct device *soft = devices_find(&job->devices, true), *card = card_between(job, soft);

	if (card)
		return draws_apart(card) ? card : NULL;
	return draws_apart(soft) ? soft : NULL;
}

static int atomics_peer_get(struct peer *peer, const struct device *device, struct peer **atomics_peer)
{
	int rc = 0;

	*atomics_peer =
		__atomic_load_n(&peer->atomics_peer, __ATOMIC_ACQUIRE); /* pairs with the store in peer_make_atomics_peer */
	if (*atomics_peer)
		return 0;
	pthread_mutex_lock(&peer->job->lock);
	if (!peer->atomics_peer)
		rc = peer_make_atomics_peer(peer, device);
	*atomics_peer = peer->atomics_peer;
	pthread_mutex_unlock(&peer->job->lock);
	return rc;
}

int atomics_peer_for_request(struct oriel_job *job, int rank, const struct device *device, struct peer **atomics_peer)
{
	struct peer *peer;
	int rc = peer_get(job, rank, &peer);

	if (rc == 0)
		rc = atomics_peer_get(peer, device, atomics_peer);
	if (rc == 0 && rank == job->rank)
		rc = atomics_peer_get(*atomics_peer, device, atomics_peer);
	return rc;
}

static int no_such_device(const struct peer *peer)
{
	return err_set_route("atomic words of rank %d are changed by its card alone, and this rank has none that can: set "
	                     "ORIEL_DEVICE and ORIEL_ATOMICS alike for all ranks",
	                     peer->rank);
}

int peer_atomic_via(struct peer *peer, struct peer **via)
{
	const struct device *device = job_ticket_device(peer->job);
	bool direct = peer->rank != peer->job->rank && peer->device == device;
	int rc = 0;

	*via = peer;
	if (!device)
		return no_such_device(peer);
	if (!direct)
		rc = atomics_peer_get(peer, device, via);
	if (rc)
		return rc;
	switch (state_load(&(*via)->state)) { /* pairs with peer_set_state and rank_lost */
	case PEER_UP:
		return 1;
	case PEER_DEAD:
		return peer_error(peer->job, peer->rank);
	case PEER_NEW:
		service_queue_request(*via);
		return 0;
	default:
		return 0;
	}
}

int peer_atomic_wire(struct peer *peer, struct wire **wire)
{
	struct peer *via;
	int rc = peer_atomic_via(peer, &via);

	*wire = &via->wire;
	return rc;
}
