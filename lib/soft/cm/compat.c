// SPDX-License-Identifier: BSD-2-Clause
/* Calls without function here: multicast, rsockets, and vendor options of enhanced connections. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "soft/base/base.h"
#include "soft/cm/cm.h"

SOFT_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	(void)id;
	(void)addr;
	(void)context;
	return cm_fail(EOPNOTSUPP);
}

SOFT_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr, void *context)
{
	(void)id;
	(void)attr;
	(void)context;
	return cm_fail(EOPNOTSUPP);
}

SOFT_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id;
	(void)addr;
	return cm_fail(EOPNOTSUPP);
}

SOFT_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	(void)ece;
	return cm_fail(EOPNOTSUPP);
}

SOFT_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	(void)id;
	memset(ece, 0, sizeof(*ece));
	return 0;
}

SOFT_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return rdma_reject(id, private_data, private_data_len);
}

/*
 * Sockets over RDMA. All return an integer that is -1 on failure; a long suits ssize_t, off_t and
 * int.
 */
long softverbs_no_socket(void) SOFT_HIDDEN;

__attribute__((used)) long softverbs_no_socket(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

#define NO_SOCKET(name) __asm__(".globl " #name "\n.set " #name ", softverbs_no_socket")

NO_SOCKET(raccept);
NO_SOCKET(rbind);
NO_SOCKET(rclose);
NO_SOCKET(rconnect);
NO_SOCKET(rfcntl);
NO_SOCKET(rgetpeername);
NO_SOCKET(rgetsockname);
NO_SOCKET(rgetsockopt);
NO_SOCKET(riomap);
NO_SOCKET(riounmap);
NO_SOCKET(riowrite);
NO_SOCKET(rlisten);
NO_SOCKET(rpoll);
NO_SOCKET(rread);
NO_SOCKET(rreadv);
NO_SOCKET(rrecv);
NO_SOCKET(rrecvfrom);
NO_SOCKET(rrecvmsg);
NO_SOCKET(rselect);
NO_SOCKET(rsend);
NO_SOCKET(rsendmsg);
NO_SOCKET(rsendto);
NO_SOCKET(rsetsockopt);
NO_SOCKET(rshutdown);
NO_SOCKET(rsocket);
NO_SOCKET(rwrite);
NO_SOCKET(rwritev);
