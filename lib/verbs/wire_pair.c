// SPDX-License-Identifier: BSD-2-Clause
/* See wire.h. */
#include "verbs/wire.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "oriel.h"
#include "verbs/device.h"
#include "verbs/wakeup.h"

/* Sets the text and keeps errno, by which callers recognise a shortage. */
static int no_device_object(const char *what, uint32_t entries)
{
	int error = errno;

	err_set(ORIEL_ERR_DEVICE, "%s with %u entries failed: %s", what, entries, strerror(error));
	errno = error;
	return ORIEL_ERR_DEVICE;
}

static int make_qp(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	static const uint32_t inline_sizes[] = { WIRE_INLINE_WANTED, 128, 64, 0 };

	for (size_t i = 0; i < sizeof(inline_sizes) / sizeof(inline_sizes[0]); i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = pair->cq,
			.recv_cq = device->wakeup ? device->wakeup->cq : pair->cq,
			.qp_type = IBV_QPT_RC,
			.cap = { device->send_depth, 1, 1, 1, inline_sizes[i] },
		};

		if (device->functions->create_qp(id, device->pd, &attr) == 0) {
			pair->qp = id->qp;
			pair->inline_max = attr.cap.max_inline_data;
			return 0;
		}
	}
	return no_device_object("rdma_create_qp", device->send_depth);
}

/* Makes the queue pair, and the completion queue of its sends. */
static int make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair)
{
	int rc;

	pair->cq = device->functions->create_cq(device->verbs, (int)device->send_depth + 1, NULL, NULL, 0);
	if (!pair->cq)
		return no_device_object("ibv_create_cq", device->send_depth + 1);
	rc = make_qp(device, id, pair);
	if (rc == 0 && device->wakeup && !wakeup_receive(id->qp, peer)) {
		rc = no_device_object("ibv_post_recv", 1);
		device->functions->destroy_qp(id);
	}
	if (rc) {
		int error = errno;

		device->functions->destroy_cq(pair->cq);
		pair->cq = NULL;
		errno = error;
	}
	return rc;
}

int wire_make_pair(const struct device *device, struct rdma_cm_id *id, uint64_t peer, struct wire_pair *pair)
{
	int rc = device->wakeup ? wakeup_add_pair(device->wakeup, device->functions) : 0;

	if (rc)
		return rc;
	rc = make_pair(device, id, peer, pair);
	if (rc && device->wakeup)
		wakeup_drop_pair(device->wakeup);
	return rc;
}

void wire_drop_pair(const struct device *device, struct rdma_cm_id *id, struct wire_pair *pair)
{
	if (!pair->cq)
		return;
	device->functions->destroy_qp(id);
	device->functions->destroy_cq(pair->cq);
	pair->cq = NULL;
	if (device->wakeup)
		wakeup_drop_pair(device->wakeup);
}
