// SPDX-License-Identifier: BSD-2-Clause
/*
 * Draining the pipes: carries out requests, takes responses, and resumes queue pairs that waited
 * for room. Under core->progress.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft/base/base.h"
#include "soft/base/tsan.h"
#include "soft/engine/engine.h"
#include "soft/extension.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/request/request.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

enum {
	GLANCE_PIPES = 4, /* each way, up to which every poll checks them */
};

/* Returns whether there is one request more than those noted. */
static inline bool has_request(const struct soft_in *in)
{
	return shm_req_is_there(&in->shm->req[in->req_seen % SHM_RING], in->req_seen + 1);
}

/* Notes which requests are there, a ring at most. */
static void see_requests(struct soft_in *in)
{
	while (in->req_seen - in->req_tail < SHM_RING && has_request(in))
		in->req_seen++;
}

static void drain_in(struct soft_core *core, struct soft_in *in)
{
	uint64_t before = in->req_tail;

	for (; in->req_tail != in->req_seen; in->req_tail++)
		soft_respond(core, in, (uint32_t)(in->req_tail % SHM_RING));
	if (in->req_tail == before)
		return;
	soft_count_served(core, in->req_tail - before);
	soft_peer_notify(&in->peer);
}

/* Returns the next waiting queue pair, if there is room. */
static struct soft_qp *take_waiting(struct soft_out *out)
{
	struct soft_qp *qp = NULL;

	soft_lock(&out->tx);
	if (!soft_list_empty(&out->waiting) && soft_out_has_room(out)) {
		qp = soft_container(out->waiting.next, struct soft_qp, waiting);
		soft_list_del(&qp->waiting);
	}
	soft_unlock(&out->tx);
	return qp;
}

/*
 * Resumes queue pairs until the pipe is full again. No response is taken meanwhile, so the loop
 * ends. core->progress keeps queue pairs from being destroyed.
 */
static void pump_waiting(struct soft_out *out)
{
	struct soft_qp *qp;

	while ((qp = take_waiting(out))) {
		soft_lock(&qp->lock);
		if (qp->stall == SOFT_WAIT_ROOM)
			qp->stall = SOFT_GO;
		soft_pump(qp);
		soft_unlock(&qp->lock);
	}
}

static void drain_out(struct soft_core *core, struct soft_out *out)
{
	uint64_t tail = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);
	uint32_t at = (uint32_t)(tail % SHM_RING), taken = 0;

	for (; taken < SHM_RING && shm_resp_is_there(&out->shm->resp[at], tail + 1); at = (uint32_t)(++tail % SHM_RING)) {
		soft_take_response(core, out, &out->shm->resp[at]);
		soft_out_took(out, tail + 1);
		taken++;
	}
	if (taken > 0)
		pump_waiting(out);
}

/*
 * Notes which requests are there, takes the responses, and then carries out those requests. So a
 * response to a send comes before the peer's reply.
 */
static void look(struct soft_core *core)
{
	soft_tsan_ignore_begin();
	for (uint32_t i = 0; i < core->nin; i++)
		see_requests(core->in[i]);
	for (uint32_t i = 0; i < core->nout; i++)
		drain_out(core, core->out[i]);
	for (uint32_t i = 0; i < core->nin; i++)
		drain_in(core, core->in[i]);
	soft_tsan_ignore_end();
}

/* Before look(): work published after this rings again. */
static bool listen_to_bell(struct soft_core *core)
{
	uint64_t last = shm_bell_last(core->bell), seen = atomic_load_explicit(&core->bell_seen, memory_order_relaxed);

	atomic_store_explicit(&core->bell_seen, last, memory_order_relaxed);
	return last != seen;
}

static inline bool has_response(struct soft_out *out)
{
	uint64_t tail = atomic_load_explicit(&out->resp_tail, memory_order_relaxed);

	return shm_resp_is_there(&out->shm->resp[tail % SHM_RING], tail + 1);
}

/*
 * With few pipes, checks the pipes themselves, which saves the bell's cache line. Between two calls
 * of look() no noted request is left.
 */
static bool glance(struct soft_core *core)
{
	if (core->nin > GLANCE_PIPES || core->nout > GLANCE_PIPES)
		return false;
	for (uint32_t i = 0; i < core->nin; i++)
		if (has_request(core->in[i]))
			return true;
	for (uint32_t i = 0; i < core->nout; i++)
		if (has_response(core->out[i]))
			return true;
	return false;
}

static void look_if_rung(struct soft_core *core)
{
	if (glance(core) || listen_to_bell(core))
		look(core);
}

void soft_progress(struct soft_core *core)
{
	if (!soft_trylock(&core->progress))
		return;
	soft_count_look(core);
	look_if_rung(core);
	soft_unlock(&core->progress);
}

void soft_progress_arrived(struct soft_core *core)
{
	soft_lock(&core->progress);
	look_if_rung(core);
	soft_unlock(&core->progress);
}

void soft_progress_now(struct soft_core *core)
{
	soft_lock(&core->progress);
	listen_to_bell(core);
	look(core);
	soft_unlock(&core->progress);
}

SOFT_EXPORT uint64_t softverbs_served(void)
{
	/* Pairs with soft_count_served. */
	return soft_core ? atomic_load_explicit(&soft_core->served, memory_order_relaxed) : 0;
}
