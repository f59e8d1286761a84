// SPDX-License-Identifier: BSD-2-Clause
/* See wakeup.h. */
#include "verbs/wakeup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "pages/shortage.h"
#include "oriel.h"
#include "verbs/functions.h"

#define FIRST_PAIRS 64
#define ENTRIES_PER_PAIR 2 /* its receive, and that of the broken pair before it */
#define ENTRIES_SPARE 64   /* of failed attempts to connect */

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int entries_for(uint32_t pairs)
{
	return (int)(pairs * ENTRIES_PER_PAIR + ENTRIES_SPARE);
}

/* Makes channel and completion queue. Returns NULL, or what failed. */
static const char *make(struct wakeup *wakeup, const struct verbs_functions *functions, struct ibv_context *context)
{
	wakeup->channel = functions->create_comp_channel(context);
	if (!wakeup->channel)
		return "ibv_create_comp_channel";
	if (set_nonblocking(wakeup->channel->fd))
		return "fcntl";
	wakeup->room = FIRST_PAIRS;
	wakeup->cq = functions->create_cq(context, entries_for(wakeup->room), NULL, wakeup->channel, 0);
	if (!wakeup->cq)
		return "ibv_create_cq";
	return ibv_req_notify_cq(wakeup->cq, 0) ? "ibv_req_notify_cq" : NULL;
}

int wakeup_open(struct wakeup **wakeup, const struct verbs_functions *functions, struct ibv_context *context)
{
	struct wakeup *made = calloc(1, sizeof(*made));
	char why[SHORTAGE_TEXT_BYTES];
	const char *failed;
	int error;

	if (!made)
		return err_set(ORIEL_ERR_MEMORY, "out of memory");
	failed = make(made, functions, context);
	if (failed) {
		error = errno;
		snprintf(why, sizeof(why), "%s", strerror(error));
		if (is_shortage(error))
			shortage_text(error, functions != &verbs_softverbs, why, sizeof(why));
		wakeup_close(made, functions);
		return err_set(ORIEL_ERR_DEVICE, "what peers wake this process by cannot be made: %s: %s", failed, why);
	}
	*wakeup = made;
	return 0;
}

void wakeup_close(struct wakeup *wakeup, const struct verbs_functions *functions)
{
	if (wakeup->cq)
		functions->destroy_cq(wakeup->cq);
	if (wakeup->channel)
		functions->destroy_comp_channel(wakeup->channel);
	free(wakeup);
}

/* Makes room for twice as many pairs. */
static int grow(struct wakeup *wakeup, const struct verbs_functions *functions)
{
	int entries = entries_for(wakeup->room * 2), error = functions->resize_cq(wakeup->cq, entries);

	if (error) {
		err_set(ORIEL_ERR_DEVICE, "ibv_resize_cq to %d entries, for %u connections, failed: %s", entries,
		        wakeup->room * 2, strerror(error));
		errno = error;
		return ORIEL_ERR_DEVICE;
	}
	wakeup->room *= 2;
	return 0;
}

int wakeup_add_pair(struct wakeup *wakeup, const struct verbs_functions *functions)
{
	int rc = wakeup->pairs == wakeup->room ? grow(wakeup, functions) : 0;

	if (rc == 0)
		wakeup->pairs++;
	return rc;
}

void wakeup_drop_pair(struct wakeup *wakeup)
{
	wakeup->pairs--;
}

bool wakeup_receive(struct ibv_qp *qp, uint64_t id)
{
	struct ibv_recv_wr wr = { .wr_id = id }, *bad;

	return ibv_post_recv(qp, &wr, &bad) == 0;
}

void wakeup_rearm(const struct wakeup *wakeup, const struct verbs_functions *functions)
{
	unsigned events = 0;
	struct ibv_cq *cq;
	void *context;

	while (functions->get_cq_event(wakeup->channel, &cq, &context) == 0)
		events++;
	if (events > 0)
		functions->ack_cq_events(wakeup->cq, events);
	ibv_req_notify_cq(wakeup->cq, 0); /* if it fails, wakeups are late: a waiting rank polls anyway */
}

/*
 * Takes immediates; completions of broken queue pairs have none. False: there were no completions.
 */
static bool poll_some(const struct wakeup *wakeup, uint64_t ids[WAKEUP_BATCH], uint32_t *count)
{
	struct ibv_wc wc[WAKEUP_BATCH];
	int polled = ibv_poll_cq(wakeup->cq, WAKEUP_BATCH, wc);

	*count = 0;
	for (int i = 0; i < polled; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			ids[(*count)++] = wc[i].wr_id;
	}
	return polled > 0;
}

uint32_t wakeup_take(const struct wakeup *wakeup, uint64_t ids[WAKEUP_BATCH])
{
	uint32_t count;

	while (poll_some(wakeup, ids, &count) && count == 0)
		;
	return count;
}
