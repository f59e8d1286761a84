// SPDX-License-Identifier: BSD-2-Clause
/* requests.c - see requests.h. */
#include "bench/requests.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <string.h>

#include "bench/steps.h"

typedef int create_fn(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
typedef int post_fn(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad);
typedef int poll_fn(struct ibv_cq *cq, int room, struct ibv_wc *wc);

static struct requests so_far;
static post_fn *post; /* the first library's, for all its devices */
static poll_fn *poll_cq;

static void count(long *what, long more)
{
	__atomic_add_fetch(what, more, __ATOMIC_RELAXED);
}

static int counted_post(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	bool stepping = steps_pause();
	int rc;

	count(&so_far.doorbells, 1);
	for (const struct ibv_send_wr *wr = list; wr; wr = wr->next) {
		count(&so_far.posted, 1);
		if (wr->opcode == IBV_WR_RDMA_READ)
			count(&so_far.reads, 1);
		else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			count(&so_far.atomics, 1);
	}
	rc = post(qp, list, bad);
	steps_resume(stepping);
	return rc;
}

static int counted_poll(struct ibv_cq *cq, int room, struct ibv_wc *wc)
{
	bool stepping = steps_pause();
	int found = poll_cq(cq, room, wc);

	if (found > 0)
		count(&so_far.completions, found);
	steps_resume(stepping);
	return found;
}

/* Leaves devices of a second library alone. */
void requests_watch(struct ibv_context *context)
{
	post_fn *none = NULL, *own = context->ops.post_send;

	if (own == counted_post)
		return;
	if (!__atomic_compare_exchange_n(&post, &none, own, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && none != own)
		return;
	poll_cq = context->ops.poll_cq;
	context->ops.poll_cq = counted_poll;
	context->ops.post_send = counted_post;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	void *found = dlsym(RTLD_NEXT, "rdma_create_qp");
	create_fn *create;
	int rc;

	memcpy(&create, &found, sizeof(create)); /* ISO C has no such cast */
	if (!create) {
		errno = ENOSYS;
		return -1;
	}
	rc = create(id, pd, attr);
	if (rc == 0)
		requests_watch(id->qp->context);
	return rc;
}

static long value(const long *what)
{
	return __atomic_load_n(what, __ATOMIC_RELAXED);
}

struct requests requests_so_far(void)
{
	return (struct requests){ value(&so_far.posted), value(&so_far.doorbells), value(&so_far.completions),
		                      value(&so_far.reads), value(&so_far.atomics) };
}
