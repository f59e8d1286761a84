// SPDX-License-Identifier: BSD-2-Clause
/* A poll that finds nothing drains the pipes; a thread that is about to sleep requests wakeups. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/engine/engine.h"
#include "soft/peer/peer.h"
#include "soft/queue/cq.h"
#include "soft/state/core.h"
#include "soft/verbs/device.h"

enum {
	IDLE_POLLS = 64,      /* empty polls before SHM_POLLED */
	RENOTIFY_EVERY = 512, /* empty polls between two notifications of silent peers */
	SAID_EVERY = 4,       /* empty polls: reading the clock costs as much as one */
};

static int take(struct soft_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int n = 0;

	if (soft_adversary.on && soft_adversary_late())
		return 0;
	soft_lock(&cq->lock);
	while (n < num_entries && soft_cq_entries(cq) != 0) {
		const struct soft_cqe *cqe = &cq->ring[cq->tail & (cq->size - 1)];

		wc[n++] = cqe->wc;
		soft_cq_release_room(cqe);
		atomic_store_explicit(&cq->tail, cq->tail + 1, memory_order_relaxed);
	}
	soft_unlock(&cq->lock);
	return n;
}

void soft_cq_idle(struct soft_cq *cq)
{
	uint32_t idle = atomic_load_explicit(&cq->idle_polls, memory_order_relaxed);

	soft_progress(soft_core);
	if (soft_looks(soft_core) % SAID_EVERY == 0)
		soft_say_spinning(soft_core);
	if (soft_looks(soft_core) % RENOTIFY_EVERY == 0)
		soft_renotify(soft_core);
	if (idle < IDLE_POLLS)
		atomic_store_explicit(&cq->idle_polls, idle + 1, memory_order_relaxed);
	else
		soft_attention_polled(soft_core);
}

int soft_poll_cq(struct ibv_cq *base, int num_entries, struct ibv_wc *wc)
{
	struct soft_cq *cq = soft_cq(base);

	if (num_entries < 0 || cq->overrun)
		return cq->overrun && soft_cq_entries(cq) ? take(cq, num_entries, wc) : -1;
	if (soft_cq_entries(cq) == 0) {
		soft_cq_idle(cq);
		if (soft_cq_entries(cq) == 0)
			return 0;
	}
	return take(cq, num_entries, wc);
}

int soft_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
	struct soft_cq *cq = soft_cq(base);

	if (soft_call_fails(__func__))
		return ENOMEM;
	soft_cq_arm(cq, solicited_only);
	atomic_store_explicit(&cq->idle_polls, 0, memory_order_relaxed);
	/* The caller is about to sleep. */
	soft_attention_wakeup(soft_core);
	return 0;
}

/* The extended completion queue: entries are read one by one through functions. */

enum {
	WC_STAMPS = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	WC_FLAGS = IBV_WC_STANDARD_FLAGS | WC_STAMPS,
	READINGS = 8,   /* at most */
	APART_NS = 500, /* longest time between two readings that count */
};

static struct soft_cq *self(struct ibv_cq_ex *ex)
{
	return soft_container(ex, struct soft_cq, ex);
}

static int next_poll(struct ibv_cq_ex *ex)
{
	struct soft_cq *cq = self(ex);

	if (!soft_cq_pop(cq, &cq->current))
		return ENOENT;
	ex->status = cq->current.wc.status;
	ex->wr_id = cq->current.wc.wr_id;
	return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct soft_cq *cq = self(ex);

	if (attr && attr->comp_mask)
		return EINVAL;
	if (next_poll(ex) == 0)
		return 0;
	if (cq->overrun)
		return EIO;
	soft_cq_idle(cq);
	return next_poll(ex);
}

static void end_poll(struct ibv_cq_ex *ex)
{
	(void)ex;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.qp_num;
}

static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.src_qp;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.wc_flags;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
	return self(ex)->current.wc.dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *ex)
{
	return self(ex)->stamp;
}

static uint64_t day_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* Returns how far the clock of the day is ahead of that of the stamps. Repeats slow readings. */
static uint64_t ahead_ns(void)
{
	uint64_t ahead = 0, least = UINT64_MAX;

	for (int i = 0; i < READINGS && least > APART_NS; i++) {
		uint64_t before = soft_now_ns(), day = day_ns(), apart = soft_now_ns() - before;

		if (apart >= least)
			continue;
		least = apart;
		ahead = day - before;
	}
	return ahead;
}

static uint64_t read_completion_wallclock(struct ibv_cq_ex *ex)
{
	return self(ex)->stamp + ahead_ns();
}

/* Returns the clock of time stamps as cards do: all of it in one word. */
int soft_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	(void)context;
	values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
	if (values->comp_mask)
		values->raw_clock = (struct timespec){ .tv_nsec = (long)soft_now_ns() };
	return 0;
}

struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct soft_cq *cq;
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;

	if (attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS || attr->wc_flags & ~(uint64_t)WC_FLAGS ||
	    flags & ~(uint32_t)(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = soft_cq_new(context, attr->cqe, attr->cq_context, attr->channel, attr->comp_vector);
	if (!cq)
		return NULL;
	if (attr->wc_flags & WC_STAMPS && !soft_cq_keep_stamps(cq)) {
		ibv_destroy_cq(&cq->base);
		errno = ENOMEM;
		return NULL;
	}
	cq->ignore_overrun = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	cq->ex.start_poll = start_poll;
	cq->ex.next_poll = next_poll;
	cq->ex.end_poll = end_poll;
	cq->ex.read_opcode = read_opcode;
	cq->ex.read_vendor_err = read_vendor_err;
	cq->ex.read_byte_len = read_byte_len;
	cq->ex.read_imm_data = read_imm_data;
	cq->ex.read_qp_num = read_qp_num;
	cq->ex.read_src_qp = read_src_qp;
	cq->ex.read_wc_flags = read_wc_flags;
	cq->ex.read_slid = read_slid;
	cq->ex.read_sl = read_sl;
	cq->ex.read_dlid_path_bits = read_dlid_path_bits;
	cq->ex.read_completion_ts = read_completion_ts;
	cq->ex.read_completion_wallclock_ns = read_completion_wallclock;
	return &cq->ex;
}
