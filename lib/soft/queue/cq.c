// SPDX-License-Identifier: BSD-2-Clause
/* Completion queues. Only threads of the owner's process write them. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/base/event_sem.h"
#include "soft/queue/cq.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"

struct soft_cq *soft_cq_new(struct ibv_context *context, uint32_t cqe, void *cq_context,
                            struct ibv_comp_channel *channel, uint32_t vector)
{
	struct soft_cq *cq;

	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return NULL;
	}
	if (cqe == 0 || cqe > SOFT_MAX_CQE || vector >= (uint32_t)context->num_comp_vectors) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->size = soft_pow2(cqe);
	cq->limit = cqe;
	cq->ring = malloc(cq->size * sizeof(*cq->ring)); /* an entry is written before it is read */
	if (!cq->ring) {
		free(cq);
		return NULL;
	}
	cq->base.context = context;
	cq->base.channel = channel;
	cq->base.cq_context = cq_context;
	cq->base.cqe = (int)cqe;
	cq->base.handle = atomic_fetch_add(&soft_core->object_serial, 1);
	pthread_mutex_init(&cq->base.mutex, NULL);
	pthread_cond_init(&cq->base.cond, NULL);
	soft_list_init(&cq->event);
	if (channel)
		__atomic_fetch_add(&channel->refcnt, 1, __ATOMIC_RELAXED);
	return cq;
}

SOFT_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                         struct ibv_comp_channel *channel, int comp_vector)
{
	struct soft_cq *cq;

	if (cqe < 1 || comp_vector < 0) {
		errno = EINVAL;
		return NULL;
	}
	cq = soft_cq_new(context, (uint32_t)cqe, cq_context, channel, (uint32_t)comp_vector);
	return cq ? &cq->base : NULL;
}

SOFT_EXPORT int ibv_destroy_cq(struct ibv_cq *base)
{
	struct soft_cq *cq = soft_cq(base);

	if (atomic_load(&cq->users) != 0)
		return soft_result(EBUSY);
	soft_channel_forget(cq);
	soft_async_await(&base->mutex, &base->cond, &base->async_events_completed,
	                 soft_async_forget(base->context, cq, &cq->async_raised));
	if (base->channel)
		__atomic_fetch_sub(&base->channel->refcnt, 1, __ATOMIC_RELAXED);
	pthread_mutex_destroy(&base->mutex);
	pthread_cond_destroy(&base->cond);
	free(cq->ring);
	free(cq->stamps);
	free(cq);
	return 0;
}

bool soft_cq_keep_stamps(struct soft_cq *cq)
{
	cq->stamps = malloc(cq->size * sizeof(*cq->stamps));
	return cq->stamps;
}

/* Moves the entries to another ring. The caller frees the old one. Under cq->lock. */
static void swap_rings(struct soft_cq *cq, struct soft_cqe **ring, uint64_t **stamps, uint32_t size)
{
	struct soft_cqe *old = cq->ring;
	uint64_t *old_stamps = cq->stamps;

	for (uint32_t i = cq->tail; i != cq->head; i++) {
		(*ring)[i & (size - 1)] = old[i & (cq->size - 1)];
		if (old_stamps)
			(*stamps)[i & (size - 1)] = old_stamps[i & (cq->size - 1)];
	}
	cq->ring = *ring;
	cq->stamps = *stamps;
	cq->size = size;
	*ring = old;
	*stamps = old_stamps;
}

SOFT_EXPORT int ibv_resize_cq(struct ibv_cq *base, int cqe)
{
	struct soft_cq *cq = soft_cq(base);
	struct soft_cqe *ring;
	uint64_t *stamps;
	uint32_t size;
	bool fits;

	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (cqe < 1 || cqe > SOFT_MAX_CQE)
		return soft_result(EINVAL);
	size = soft_pow2((uint32_t)cqe);
	ring = malloc(size * sizeof(*ring));
	stamps = cq->stamps ? malloc(size * sizeof(*stamps)) : NULL;
	if (!ring || (cq->stamps && !stamps)) {
		free(ring);
		free(stamps);
		return soft_result(ENOMEM);
	}
	soft_lock(&cq->lock);
	fits = soft_cq_entries(cq) <= (uint32_t)cqe;
	if (fits) {
		swap_rings(cq, &ring, &stamps, size);
		cq->limit = (uint32_t)cqe;
		base->cqe = cqe;
	}
	soft_unlock(&cq->lock);
	free(ring);
	free(stamps);
	return fits ? 0 : soft_result(EINVAL);
}

static void raise_overrun(struct soft_cq *cq)
{
	struct ibv_async_event event = { .element.cq = &cq->base, .event_type = IBV_EVENT_CQ_ERR };

	soft_async_raise(cq->base.context, &event, &cq->async_raised);
}

/* Returns whether an entry raises an event, once for each arming. Under cq->lock. */
static bool fires(struct soft_cq *cq, bool urgent)
{
	uint32_t armed = atomic_load_explicit(&cq->armed, memory_order_relaxed);

	if (armed != SOFT_ARM_ANY && !(armed == SOFT_ARM_SOLICITED && urgent))
		return false;
	atomic_store_explicit(&cq->armed, 0, memory_order_relaxed);
	cq->notified = cq->head;
	return true;
}

bool soft_cq_push(struct soft_cq *cq, const struct soft_cqe *cqe, bool solicited)
{
	bool urgent = solicited || cqe->wc.status != IBV_WC_SUCCESS;
	bool wake = false, first_loss = false, full;

	soft_lock(&cq->lock);
	full = soft_cq_entries(cq) >= cq->limit;
	if (full && !cq->ignore_overrun) {
		first_loss = !cq->overrun;
		cq->overrun = true;
	} else if (!full) {
		cq->ring[cq->head & (cq->size - 1)] = *cqe;
		if (cq->stamps)
			cq->stamps[cq->head & (cq->size - 1)] = soft_now_ns();
		/* Pairs with the look before the lock in soft_cq_pop. */
		atomic_store_explicit(&cq->head, cq->head + 1, memory_order_release);
		if (urgent)
			cq->urgent = cq->head;
		wake = fires(cq, urgent);
	}
	soft_unlock(&cq->lock);
	if (first_loss)
		raise_overrun(cq);
	if (wake)
		soft_channel_raise(cq);
	return !full || cq->ignore_overrun;
}

/* Returns whether entry number `come` is unpolled and later than the last event. Under cq->lock. */
static bool is_news(const struct soft_cq *cq, uint32_t come)
{
	return (int32_t)(come - cq->notified) > 0 && (int32_t)(come - cq->tail) > 0;
}

/*
 * The specification promises an event only for later entries. Cards (Mellanox) raise it for earlier
 * ones, too, and Open MPI's openib, which polls before it arms, relies on that. An entry raises one
 * event: perftest arms before it polls. The adversary follows the specification strictly.
 */
void soft_cq_arm(struct soft_cq *cq, bool solicited_only)
{
	bool wake;

	soft_lock(&cq->lock);
	/* "Any" includes "solicited": a later, weaker request does not replace it. */
	if (atomic_load_explicit(&cq->armed, memory_order_relaxed) != SOFT_ARM_ANY)
		atomic_store_explicit(&cq->armed, solicited_only ? SOFT_ARM_SOLICITED : SOFT_ARM_ANY, memory_order_relaxed);
	wake = !soft_adversary.on && is_news(cq, cq->head) && fires(cq, is_news(cq, cq->urgent));
	soft_unlock(&cq->lock);
	if (wake)
		soft_channel_raise(cq);
}

bool soft_cq_pop(struct soft_cq *cq, struct soft_cqe *cqe)
{
	bool found;

	if (soft_cq_entries(cq) == 0)
		return false;
	soft_lock(&cq->lock);
	found = soft_cq_entries(cq) != 0;
	if (found) {
		*cqe = cq->ring[cq->tail & (cq->size - 1)];
		if (cq->stamps)
			cq->stamp = cq->stamps[cq->tail & (cq->size - 1)];
		soft_cq_release_room(cqe);
		atomic_store_explicit(&cq->tail, cq->tail + 1, memory_order_relaxed);
	}
	soft_unlock(&cq->lock);
	return found;
}

void soft_cq_purge(struct soft_cq *cq, const struct soft_qp *qp)
{
	uint32_t kept;

	soft_lock(&cq->lock);
	kept = cq->tail;
	for (uint32_t i = cq->tail; i != cq->head; i++) {
		if (cq->ring[i & (cq->size - 1)].qp == qp)
			continue;
		cq->ring[kept & (cq->size - 1)] = cq->ring[i & (cq->size - 1)];
		if (cq->stamps)
			cq->stamps[kept & (cq->size - 1)] = cq->stamps[i & (cq->size - 1)];
		kept++;
	}
	atomic_store_explicit(&cq->head, kept, memory_order_release);
	if ((int32_t)(cq->notified - kept) > 0)
		cq->notified = kept;
	soft_unlock(&cq->lock);
}

/* Completion channels: queues with events that wait, and a descriptor that counts the events. */

static struct soft_channel *soft_channel(struct ibv_comp_channel *channel)
{
	return (struct soft_channel *)channel;
}

SOFT_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct soft_channel *channel = soft_call_fails(__func__) ? NULL : calloc(1, sizeof(*channel));

	if (!channel) {
		errno = ENOMEM;
		return NULL;
	}
	channel->base.fd = event_sem_new();
	if (channel->base.fd < 0) {
		free(channel);
		return NULL;
	}
	channel->base.context = context;
	pthread_mutex_init(&channel->lock, NULL);
	soft_list_init(&channel->ready);
	return &channel->base;
}

SOFT_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *base)
{
	struct soft_channel *channel = soft_channel(base);

	if (__atomic_load_n(&base->refcnt, __ATOMIC_RELAXED) != 0)
		return soft_result(EBUSY);
	close(base->fd);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
	return 0;
}

void soft_channel_raise(struct soft_cq *cq)
{
	struct soft_channel *channel = soft_channel(cq->base.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	cq->events_queued++;
	cq->events_raised++;
	if (soft_list_empty(&cq->event))
		soft_list_add_tail(&channel->ready, &cq->event);
	if (!event_sem_post(channel->base.fd))
		cq->overrun = true;
	pthread_mutex_unlock(&channel->lock);
}

static struct soft_cq *take(struct soft_channel *channel)
{
	struct soft_cq *cq = NULL;

	pthread_mutex_lock(&channel->lock);
	if (!soft_list_empty(&channel->ready)) {
		cq = soft_container(channel->ready.next, struct soft_cq, event);
		soft_list_del(&cq->event);
		if (--cq->events_queued)
			soft_list_add_tail(&channel->ready, &cq->event);
	}
	pthread_mutex_unlock(&channel->lock);
	return cq;
}

SOFT_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **cq_out, void **cq_context)
{
	struct soft_cq *cq;

	do {
		if (event_sem_wait(base->fd) != 0)
			return -1;
	} while (!(cq = take(soft_channel(base))));
	*cq_out = &cq->base;
	*cq_context = cq->base.cq_context;
	return 0;
}

SOFT_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	pthread_cond_signal(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}

void soft_channel_forget(struct soft_cq *cq)
{
	struct soft_channel *channel = soft_channel(cq->base.channel);

	if (!channel)
		return;
	pthread_mutex_lock(&channel->lock);
	for (; cq->events_queued; cq->events_queued--, cq->events_raised--)
		event_sem_forget(channel->base.fd);
	soft_list_del(&cq->event);
	pthread_mutex_unlock(&channel->lock);
	pthread_mutex_lock(&cq->base.mutex);
	while (cq->base.comp_events_completed != cq->events_raised)
		pthread_cond_wait(&cq->base.cond, &cq->base.mutex);
	pthread_mutex_unlock(&cq->base.mutex);
}
