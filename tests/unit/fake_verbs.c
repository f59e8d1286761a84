// SPDX-License-Identifier: BSD-2-Clause
/* fake_verbs.c - the ibv_ part of the fake device: memory, queues, work requests; see fake_verbs.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_internal.h"

#undef ibv_reg_mr
#undef ibv_query_port

/* A work request waiting for the engine; inline data is copied when it is posted. */
struct job {
	struct fake_qp *qp;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint8_t inline_data[256];
	uint64_t number;
	struct job *next;
};

static struct fake_context *contexts;
static struct fake_mr *mrs;
static struct fake_qp *qps;
static struct job *queue;
static struct job *spare; /* to be used again: one thread makes them, another ends them, a detector need not know */
static pthread_t engine;
static bool engine_runs, engine_ends;
static uint32_t next_key = 0x1000;

/* Contexts and asynchronous events. */

static int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
static int poll_cq(struct ibv_cq *ibv, int count, struct ibv_wc *wc);
static int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
static int req_notify_cq(struct ibv_cq *ibv, int solicited);

struct fake_context *fake_context_new(void)
{
	struct fake_context *context = calloc(1, sizeof(*context));

	snprintf(context->device.name, sizeof(context->device.name), "%s", fake_config.name);
	context->ibv.device = &context->device;
	context->ibv.ops.post_send = post_send;
	context->ibv.ops.poll_cq = poll_cq;
	context->ibv.ops.post_recv = post_recv;
	context->ibv.ops.req_notify_cq = req_notify_cq;
	context->ibv.async_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	fake_lock();
	context->next = contexts;
	contexts = context;
	fake_unlock();
	return context;
}

void fake_context_free(struct fake_context *context)
{
	struct fake_context **at = &contexts;

	fake_lock();
	while (*at != context)
		at = &(*at)->next;
	*at = context->next;
	fake_unlock();
	while (context->async) {
		struct fake_async_event *event = context->async;

		context->async = event->next;
		free(event);
	}
	close(context->ibv.async_fd);
	free(context);
}

static void queue_async(struct fake_context *context, enum ibv_event_type type, struct ibv_qp *qp)
{
	struct fake_async_event *event = calloc(1, sizeof(*event)), **at = &context->async;

	event->event.event_type = type;
	event->event.element.qp = qp;
	while (*at)
		at = &(*at)->next;
	*at = event;
	fake_signal(context->ibv.async_fd);
}

void fake_async(enum ibv_event_type type)
{
	bool of_qp = type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR;

	fake_lock();
	for (struct fake_context *context = contexts; context && !of_qp; context = context->next)
		queue_async(context, type, NULL);
	for (struct fake_qp *qp = qps; qp && of_qp; qp = qp->next)
		queue_async((struct fake_context *)qp->ibv.context, type, &qp->ibv);
	fake_unlock();
}

int ibv_get_async_event(struct ibv_context *ibv, struct ibv_async_event *out)
{
	struct fake_context *context = (struct fake_context *)ibv;
	struct fake_async_event *event;

	fake_lock();
	event = context->async;
	if (event) {
		*out = event->event;
		context->async = event->next;
		fake_count(FAKE_EVENT, 1);
	}
	if (!context->async)
		fake_unsignal(ibv->async_fd);
	fake_unlock();
	free(event);
	errno = EAGAIN;
	return event ? 0 : -1;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	fake_lock();
	fake_count(FAKE_EVENT, -1);
	fake_unlock();
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
	return type == IBV_EVENT_DEVICE_FATAL ? "device fatal" : "queue pair event";
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	return status == IBV_WC_RETRY_EXC_ERR ? "transport retry counter exceeded" : "some error";
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	if (fake_fault("ibv_query_device"))
		return errno = EIO;
	memset(attr, 0, sizeof(*attr));
	attr->vendor_id = fake_config.vendor_id;
	attr->max_qp_wr = (int)fake_config.max_qp_wr;
	attr->max_qp_rd_atom = fake_config.reads_in_flight;
	attr->max_qp_init_rd_atom = fake_config.reads_in_flight;
	attr->atomic_cap = fake_config.atomics;
	return 0;
}

/* The header's inline function has cleared the attributes that the old structure does not hold. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
	struct ibv_port_attr *attr = (struct ibv_port_attr *)compat;

	(void)context;
	(void)port;
	if (fake_fault("ibv_query_port"))
		return errno = EIO;
	attr->state = IBV_PORT_ACTIVE;
	attr->max_msg_sz = fake_config.max_message_bytes;
	return 0;
}

/* Protection domains and memory. */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct fake_pd *pd;

	if (fake_fault("ibv_alloc_pd")) {
		errno = ENOMEM;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	pd->ibv.context = context;
	fake_lock();
	fake_count(FAKE_PD, 1);
	fake_unlock();
	return &pd->ibv;
}

int ibv_dealloc_pd(struct ibv_pd *ibv)
{
	struct fake_pd *pd = (struct fake_pd *)ibv;

	fake_lock();
	if (pd->users)
		fake_misuse("ibv_dealloc_pd: memory regions or queue pairs are left");
	fake_count(FAKE_PD, -1);
	fake_unlock();
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct fake_mr *mr;

	if (fake_fault("ibv_reg_mr") || (fake_config.regions_max && fake_regions() >= fake_config.regions_max)) {
		errno = ENOMEM;
		return NULL;
	}
	if ((access & IBV_ACCESS_REMOTE_ATOMIC) && fake_config.atomics == IBV_ATOMIC_NONE) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if ((access & IBV_ACCESS_LOCAL_WRITE) &&
	    (uintptr_t)addr - (uintptr_t)fake_config.read_only < fake_config.read_only_bytes) {
		errno = EFAULT;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	mr->ibv.context = pd->context;
	mr->ibv.pd = pd;
	mr->ibv.addr = addr;
	mr->ibv.length = length;
	mr->access = access;
	fake_lock();
	mr->ibv.lkey = next_key += 0x101;
	mr->ibv.rkey = mr->ibv.lkey ^ 0x40000000;
	mr->next = mrs;
	mrs = mr;
	((struct fake_pd *)pd)->users++;
	fake_count(FAKE_MR, 1);
	fake_unlock();
	return &mr->ibv;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return fake_config.hides_from_forks ? IBV_FORK_ENABLED : IBV_FORK_UNNEEDED;
}

int ibv_dereg_mr(struct ibv_mr *ibv)
{
	struct fake_mr **at = &mrs, *mr = (struct fake_mr *)ibv;

	fake_lock();
	while (*at && *at != mr)
		at = &(*at)->next;
	if (*at) {
		*at = mr->next;
		((struct fake_pd *)ibv->pd)->users--;
		fake_count(FAKE_MR, -1);
	} else {
		fake_misuse("ibv_dereg_mr: no such memory region");
		mr = NULL;
	}
	fake_unlock();
	free(mr);
	return 0;
}

/* The region of that key in the domain, if it holds the range and allows the access. */
static struct fake_mr *find_mr(struct ibv_pd *pd, uint32_t key, bool remote, uint64_t addr, size_t size, int access)
{
	for (struct fake_mr *mr = mrs; mr; mr = mr->next) {
		uint64_t offset = addr - (uint64_t)(uintptr_t)mr->ibv.addr;

		if ((remote ? mr->ibv.rkey : mr->ibv.lkey) != key || mr->ibv.pd != pd)
			continue;
		if (offset > mr->ibv.length || mr->ibv.length - offset < size || (mr->access & access) != access)
			return NULL;
		return mr;
	}
	return NULL;
}

/* Completion queues. */

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg, struct ibv_comp_channel *channel,
                             int vector)
{
	struct fake_cq *cq;

	(void)arg;
	(void)vector;
	if (fake_fault("ibv_create_cq")) {
		errno = ENOMEM;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	cq->ibv.context = context;
	cq->ibv.cqe = cqe;
	cq->ibv.channel = channel;
	if (channel)
		((struct fake_comp *)channel)->cq = &cq->ibv;
	cq->ring = calloc((size_t)cqe, sizeof(*cq->ring));
	fake_lock();
	fake_count(FAKE_CQ, 1);
	fake_unlock();
	return &cq->ibv;
}

int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct fake_cq *cq = (struct fake_cq *)ibv;

	fake_lock();
	if (cq->users)
		fake_misuse("ibv_destroy_cq: a queue pair uses it");
	if (cq->untold)
		fake_misuse("ibv_destroy_cq: waits for events that have not been acknowledged");
	fake_count(FAKE_CQ, -1);
	if (ibv->channel)
		((struct fake_comp *)ibv->channel)->cq = NULL;
	fake_unlock();
	free(cq->ring);
	free(cq);
	return 0;
}

int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
	struct fake_cq *cq = (struct fake_cq *)ibv;
	struct fake_cqe *ring;

	if (fake_fault("ibv_resize_cq"))
		return ENOMEM;
	if (cqe > fake_config.max_cqe)
		return EINVAL;
	ring = calloc((size_t)cqe, sizeof(*ring));
	fake_lock();
	for (uint32_t i = cq->tail; i != cq->head; i++)
		ring[i % (uint32_t)cqe] = cq->ring[i % (uint32_t)ibv->cqe];
	free(cq->ring);
	cq->ring = ring;
	ibv->cqe = cqe;
	fake_unlock();
	return 0;
}

/* Completion channels. */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_comp *comp;

	if (fake_fault("ibv_create_comp_channel")) {
		errno = ENOMEM;
		return NULL;
	}
	comp = calloc(1, sizeof(*comp));
	comp->ibv.context = context;
	comp->ibv.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	fake_lock();
	fake_count(FAKE_COMP, 1);
	fake_unlock();
	return &comp->ibv;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	fake_lock();
	if (((struct fake_comp *)ibv)->cq)
		fake_misuse("ibv_destroy_comp_channel: a completion queue uses it");
	fake_count(FAKE_COMP, -1);
	fake_unlock();
	close(ibv->fd);
	free(ibv);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq, void **cq_context)
{
	struct fake_comp *comp = (struct fake_comp *)ibv;
	bool there;

	fake_lock();
	there = comp->events > 0;
	if (there) {
		*cq = comp->cq;
		*cq_context = NULL;
		((struct fake_cq *)comp->cq)->untold++;
		if (--comp->events == 0)
			fake_unsignal(ibv->fd);
	}
	fake_unlock();
	errno = EAGAIN;
	return there ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *ibv, unsigned int count)
{
	fake_lock();
	((struct fake_cq *)ibv)->untold -= count;
	fake_unlock();
}

static int req_notify_cq(struct ibv_cq *ibv, int solicited)
{
	(void)solicited;
	if (fake_fault("ibv_req_notify_cq"))
		return errno = EIO;
	fake_lock();
	((struct fake_cq *)ibv)->armed = true;
	fake_unlock();
	return 0;
}

/* With the lock. The next completion of the queue, or NULL. */
static struct fake_cqe *new_completion(struct fake_cq *cq, struct fake_qp *qp, uint64_t id, enum ibv_wc_status status)
{
	struct fake_cqe *cqe = &cq->ring[cq->head % (uint32_t)cq->ibv.cqe];

	if (cq->head - cq->tail == (uint32_t)cq->ibv.cqe) {
		fake_misuse("a completion queue overflows");
		return NULL;
	}
	memset(cqe, 0, sizeof(*cqe));
	cqe->wc.wr_id = id;
	cqe->wc.status = status;
	cqe->wc.vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x81;
	cqe->wc.qp_num = qp->ibv.qp_num;
	return cqe;
}

static void add_completion(struct fake_qp *qp, const struct job *job, enum ibv_wc_status status)
{
	struct fake_cq *cq = (struct fake_cq *)qp->ibv.send_cq;
	struct fake_cqe *cqe;

	if (status == IBV_WC_SUCCESS && !(job->wr.send_flags & IBV_SEND_SIGNALED))
		return;
	cqe = new_completion(cq, qp, job->wr.wr_id, status);
	if (!cqe)
		return;
	cqe->qp = qp;
	cqe->frees = job->number;
	cq->head++;
}

/* A receive ends: threads that sleep on the channel are woken. */
static void add_receive(struct fake_qp *qp, enum ibv_wc_status status)
{
	struct fake_cq *cq = (struct fake_cq *)qp->ibv.recv_cq;
	struct fake_comp *comp = (struct fake_comp *)cq->ibv.channel;

	if (!new_completion(cq, qp, qp->receives[0], status))
		return;
	memmove(qp->receives, qp->receives + 1, --qp->receive_count * sizeof(qp->receives[0]));
	cq->head++;
	if (!comp || !cq->armed)
		return;
	cq->armed = false;
	comp->events++;
	fake_signal(comp->ibv.fd);
}

static int post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv;
	int rc = 0;

	*bad = wr;
	if (fake_fault("ibv_post_recv"))
		return ENOMEM;
	fake_lock();
	if (wr->num_sge || wr->next)
		fake_misuse("ibv_post_recv: not a receive the library makes");
	if (qp->receive_count == FAKE_RECEIVES)
		rc = ENOMEM;
	else
		qp->receives[qp->receive_count++] = wr->wr_id;
	fake_unlock();
	return rc;
}

static int poll_cq(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibv;
	int got = 0;

	if (__atomic_load_n(&cq->head, __ATOMIC_RELAXED) == cq->tail)
		return 0;
	if (fake_fault("ibv_poll_cq"))
		return -1;
	fake_lock();
	if (cq->polls++ >= fake_config.late_polls) {
		cq->polls = 0;
		for (; got < count && cq->tail != cq->head; got++, cq->tail++) {
			struct fake_cqe *cqe = &cq->ring[cq->tail % (uint32_t)ibv->cqe];

			wc[got] = cqe->wc;
			if (cqe->qp)
				cqe->qp->freed = cqe->frees;
		}
	}
	fake_unlock();
	fake_count_completions(got);
	return got;
}

/* Queue pairs. */

int fake_qp_new(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct fake_qp *qp;

	if (attr->cap.max_inline_data > fake_config.max_inline || attr->cap.max_send_wr > fake_config.max_qp_wr) {
		errno = EINVAL;
		return -1;
	}
	qp = calloc(1, sizeof(*qp));
	qp->ibv.context = pd->context;
	qp->ibv.pd = pd;
	qp->ibv.send_cq = attr->send_cq;
	qp->ibv.recv_cq = attr->recv_cq;
	qp->ibv.qp_type = attr->qp_type;
	qp->ibv.state = IBV_QPS_INIT;
	qp->id = (struct fake_id *)id;
	qp->depth = attr->cap.max_send_wr;
	qp->max_inline = attr->cap.max_inline_data;
	fake_lock();
	qp->ibv.qp_num = next_key++;
	((struct fake_pd *)pd)->users++;
	((struct fake_cq *)attr->send_cq)->users++;
	((struct fake_cq *)attr->recv_cq)->users++;
	qp->next = qps;
	qps = qp;
	id->qp = &qp->ibv;
	fake_count(FAKE_QP, 1);
	fake_unlock();
	return 0;
}

static void end_job(struct job *job)
{
	job->next = spare;
	spare = job;
}

static struct job *new_job(void)
{
	struct job *job = spare;

	if (!job)
		return calloc(1, sizeof(*job));
	spare = job->next;
	job->next = NULL;
	return job;
}

/* Drop what the engine has not begun. With the lock. */
static void unqueue(const struct fake_qp *qp)
{
	struct job **at = &queue;

	while (*at) {
		struct job *job = *at;

		if (job->qp != qp) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		end_job(job);
	}
}

/* Drops writes that have not been placed; they never will be. */
static void drop_unplaced(struct fake_qp *qp)
{
	while (qp->unplaced) {
		struct fake_write *write = qp->unplaced;

		qp->unplaced = write->next;
		free(write);
	}
}

void fake_qp_free(struct fake_qp *qp)
{
	struct fake_qp **at = &qps;
	struct fake_cq *cq = (struct fake_cq *)qp->ibv.send_cq;

	fake_lock();
	unqueue(qp);
	drop_unplaced(qp);
	while (*at != qp)
		at = &(*at)->next;
	*at = qp->next;
	((struct fake_pd *)qp->ibv.pd)->users--;
	cq->users--;
	((struct fake_cq *)qp->ibv.recv_cq)->users--;
	fake_take_over(&qp->done);
	cq->tail = cq->head;
	qp->id->ibv.qp = NULL;
	fake_count(FAKE_QP, -1);
	fake_unlock();
	free(qp);
}

/* With the lock. */
void fake_qp_error(struct fake_qp *qp)
{
	if (!qp || qp->ibv.state == IBV_QPS_ERR)
		return;
	qp->ibv.state = IBV_QPS_ERR;
	for (struct job *job = queue; job; job = job->next) {
		if (job->qp == qp)
			add_completion(qp, job, IBV_WC_WR_FLUSH_ERR);
	}
	unqueue(qp);
	while (qp->receive_count > 0)
		add_receive(qp, IBV_WC_WR_FLUSH_ERR);
}

int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	if (fake_fault("ibv_modify_qp"))
		return EINVAL;
	fake_lock();
	if (mask != IBV_QP_STATE || attr->qp_state != IBV_QPS_ERR)
		fake_misuse("ibv_modify_qp: not to the error state");
	fake_qp_error((struct fake_qp *)ibv);
	fake_unlock();
	return 0;
}

/* Work requests. */

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
		return "RDMA WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return "RDMA WRITE WITH IMMEDIATE";
	case IBV_WR_RDMA_READ:
		return "RDMA READ";
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return "COMPARE AND SWAP";
	default:
		return "FETCH AND ADD";
	}
}

/* The other end, if it can be reached. */
static struct fake_qp *remote_qp(const struct fake_qp *qp)
{
	struct fake_id *other = qp->id->other;
	struct fake_qp *remote = other ? (struct fake_qp *)other->ibv.qp : NULL;

	return remote && remote->ibv.state == IBV_QPS_RTS ? remote : NULL;
}

static void place(void *to, const void *from, size_t size)
{
	uint64_t word;

	if (size != sizeof(word) || (uintptr_t)to % sizeof(word)) {
		fake_copy(to, from, size);
		return;
	}
	fake_copy(&word, from, sizeof(word));
	fake_place_word(to, word);
}

/* In the order in which they were sent. */
static void place_all(struct fake_qp *qp)
{
	while (qp->unplaced) {
		struct fake_write *write = qp->unplaced;

		qp->unplaced = write->next;
		place(write->to, write->data, write->size_bytes);
		free(write);
	}
}

static void place_later(struct fake_qp *qp, void *to, const void *from, size_t size)
{
	struct fake_write *write = calloc(1, sizeof(*write) + size), **at = &qp->unplaced;

	while (*at)
		at = &(*at)->next;
	*at = write;
	write->to = to;
	write->size_bytes = size;
	fake_copy(write->data, from, size);
}

static bool is_early(const struct fake_qp *qp, size_t size)
{
	return fake_config.early_acks && (size > sizeof(uint64_t) || qp->unplaced);
}

/* Atomic among the device's requests alone: a load and a store. */
static uint64_t change_word(const struct ibv_send_wr *wr, void *target)
{
	uint64_t value;

	fake_copy(&value, target, sizeof(value));
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		fake_place_word(target, value + wr->wr.atomic.compare_add);
	else
		fake_place_word(target, value == wr->wr.atomic.compare_add ? wr->wr.atomic.swap : value);
	return value;
}

static uint64_t change_word_as_processor(const struct ibv_send_wr *wr, void *target)
{
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return fake_add_to_word(target, wr->wr.atomic.compare_add);
	return fake_swap_word(target, wr->wr.atomic.compare_add, wr->wr.atomic.swap);
}

static void do_atomic(const struct ibv_send_wr *wr, void *result, void *target)
{
	uint64_t old =
		fake_config.atomics == IBV_ATOMIC_HCA ? change_word(wr, target) : change_word_as_processor(wr, target);

	fake_copy(result, &old, sizeof(old));
}

static enum ibv_wc_status transfer(struct job *job, struct fake_qp *remote, void *local, size_t size)
{
	bool atomic = is_atomic(job->wr.opcode), read = job->wr.opcode == IBV_WR_RDMA_READ;
	uint64_t addr = atomic ? job->wr.wr.atomic.remote_addr : job->wr.wr.rdma.remote_addr;
	uint32_t rkey = atomic ? job->wr.wr.atomic.rkey : job->wr.wr.rdma.rkey;
	int access = atomic ? IBV_ACCESS_REMOTE_ATOMIC : read ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	void *target = (void *)(uintptr_t)addr;

	if (size == 0)
		return IBV_WC_SUCCESS; /* a device does not look at the key of nothing */
	if (!find_mr(remote->ibv.pd, rkey, true, addr, size, access) || (atomic && addr % 8)) {
		queue_async((struct fake_context *)remote->ibv.context, IBV_EVENT_QP_ACCESS_ERR, &remote->ibv);
		fake_qp_error(remote);
		return IBV_WC_REM_ACCESS_ERR;
	}
	if (atomic || read || !fake_config.early_acks)
		place_all(job->qp);
	if (atomic)
		do_atomic(&job->wr, local, target);
	else if (read)
		fake_copy(local, target, size);
	else if (is_early(job->qp, size))
		place_later(job->qp, target, local, size);
	else
		place(target, local, size);
	return IBV_WC_SUCCESS;
}

static bool is_write(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

/* An immediate that no receive waits for holds everything up and breaks the queue pair in the end. */
static enum ibv_wc_status wake(struct fake_qp *qp, struct fake_qp *remote)
{
	if (remote->receive_count == 0) {
		fake_misuse("an immediate without a receive");
		return IBV_WC_RNR_RETRY_EXC_ERR;
	}
	place_all(qp);
	add_receive(remote, IBV_WC_SUCCESS);
	return IBV_WC_SUCCESS;
}

static enum ibv_wc_status execute(struct job *job)
{
	struct fake_qp *qp = job->qp, *remote = remote_qp(qp);
	int access = is_write(job->wr.opcode) ? 0 : IBV_ACCESS_LOCAL_WRITE;
	enum ibv_wc_status status;
	bool in = job->wr.send_flags & IBV_SEND_INLINE;
	size_t size = job->wr.num_sge ? job->sge.length : 0;
	void *local = in ? job->inline_data : (void *)(uintptr_t)job->sge.addr;

	if (qp->ibv.state != IBV_QPS_RTS)
		return IBV_WC_WR_FLUSH_ERR;
	if (fake_request_fault(opcode_name(job->wr.opcode)) || !remote)
		return IBV_WC_RETRY_EXC_ERR;
	if (size > fake_config.max_message_bytes)
		return IBV_WC_LOC_LEN_ERR;
	if (!in && size && !find_mr(qp->ibv.pd, job->sge.lkey, false, job->sge.addr, size, access))
		return IBV_WC_LOC_PROT_ERR;
	status = transfer(job, remote, local, size);
	if (status == IBV_WC_SUCCESS && job->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		status = wake(qp, remote);
	return status;
}

/* With the lock. The job is taken out of the queue. */
static void run(struct job *job)
{
	enum ibv_wc_status status = execute(job);

	fake_count_request(&job->wr);
	add_completion(job->qp, job, status);
	if (status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_LEN_ERR)
		fake_misuse("a request with bad memory");
	if (status == IBV_WC_REM_ACCESS_ERR && !fake_hit()) /* a target that thinks us dead has taken its memory back */
		fake_misuse("a request the target does not allow");
	if (status != IBV_WC_SUCCESS)
		fake_qp_error(job->qp);
	end_job(job);
}

static void *run_engine(void *arg)
{
	(void)arg;
	for (;;) {
		struct job *job;
		bool ends;

		fake_lock();
		job = fake_config.engine_rests ? NULL : queue;
		ends = engine_ends;
		if (job) {
			struct fake_qp *qp = job->qp;

			queue = job->next;
			fake_take_over(&qp->token);
			run(job);
			fake_hand_over(&qp->done);
		}
		fake_unlock();
		if (!job && ends)
			return NULL;
		if (!job)
			usleep(20);
	}
}

/* With the lock. */
static void start_engine(void)
{
	if (engine_runs)
		return;
	engine_runs = true;
	engine_ends = false;
	if (pthread_create(&engine, NULL, run_engine, NULL))
		abort();
}

void fake_engine_stop(void)
{
	if (!engine_runs)
		return;
	fake_lock();
	engine_ends = true;
	fake_unlock();
	pthread_join(engine, NULL);
	engine_runs = false;
}

static bool fits(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	if (qp->posted - qp->freed >= qp->depth) {
		fake_misuse("ibv_post_send: the send queue is full");
		return false;
	}
	if ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge && wr->sg_list->length > qp->max_inline) {
		fake_misuse("ibv_post_send: more inline data than the queue pair takes");
		return false;
	}
	if (is_atomic(wr->opcode) &&
	    (wr->num_sge != 1 || wr->sg_list->length != sizeof(uint64_t) || wr->sg_list->addr % sizeof(uint64_t))) {
		fake_misuse("ibv_post_send: an atomic without 8 aligned bytes for its result");
		return false;
	}
	if (wr->num_sge > 1 || ((wr->send_flags & IBV_SEND_INLINE) && !is_write(wr->opcode))) {
		fake_misuse("ibv_post_send: not a request the library makes");
		return false;
	}
	return true;
}

static void post_one(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct job *job = new_job(), **at = &queue;

	job->qp = qp;
	job->wr = *wr;
	job->number = ++qp->posted;
	if (wr->num_sge)
		job->sge = *wr->sg_list;
	if (wr->num_sge && (wr->send_flags & IBV_SEND_INLINE))
		fake_copy(job->inline_data, (void *)(uintptr_t)job->sge.addr, job->sge.length);
	if (!fake_config.engine) {
		run(job);
		return;
	}
	start_engine();
	fake_hand_over(&qp->token);
	while (*at)
		at = &(*at)->next;
	*at = job;
}

static int post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)ibv;
	int rc = 0;

	*bad = wr;
	fake_count_post();
	if (fake_fault("ibv_post_send"))
		return ENOMEM;
	fake_lock();
	for (; wr && rc == 0; wr = wr->next) {
		*bad = wr;
		if (fits(qp, wr))
			post_one(qp, wr);
		else
			rc = ENOMEM;
	}
	fake_unlock();
	return rc;
}
