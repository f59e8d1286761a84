// SPDX-License-Identifier: BSD-2-Clause
/* requests.c - see requests.h. */
#include "bench/requests.h"

#include <dlfcn.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <string.h>

typedef int create_fn(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
typedef int post_fn(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad);

static long reads, atomics;
static post_fn *post; /* of the devices' library, whatever the device */

static int counted_post(struct ibv_qp *qp, struct ibv_send_wr *list, struct ibv_send_wr **bad)
{
	for (const struct ibv_send_wr *wr = list; wr; wr = wr->next) {
		if (wr->opcode == IBV_WR_RDMA_READ)
			__atomic_add_fetch(&reads, 1, __ATOMIC_RELAXED);
		else if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			__atomic_add_fetch(&atomics, 1, __ATOMIC_RELAXED);
	}
	return post(qp, list, bad);
}

/* A second library's devices are left alone. */
static void count_posts(struct ibv_context *context)
{
	post_fn *none = NULL, *own = context->ops.post_send;

	if (own == counted_post)
		return;
	if (__atomic_compare_exchange_n(&post, &none, own, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || none == own)
		context->ops.post_send = counted_post;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	void *found = dlsym(RTLD_NEXT, "rdma_create_qp");
	create_fn *create;
	int rc;

	memcpy(&create, &found, sizeof(create)); /* ISO C has no cast for that */
	if (!create) {
		errno = ENOSYS;
		return -1;
	}
	rc = create(id, pd, attr);
	if (rc == 0)
		count_posts(id->qp->context);
	return rc;
}

long reads_so_far(void)
{
	return __atomic_load_n(&reads, __ATOMIC_RELAXED);
}

long atomics_so_far(void)
{
	return __atomic_load_n(&atomics, __ATOMIC_RELAXED);
}
