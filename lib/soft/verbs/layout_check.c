// SPDX-License-Identifier: BSD-2-Clause
/* Checks of the headers' layouts, which a newer rdma-core may change, and of this device's. */
#include <infiniband/verbs.h>
#include <stddef.h>

#include "soft/base/base.h"
#include "soft/mem/mr.h"
#include "soft/queue/cq.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"

/* Callers hold pointers to the base object, which are cast here. */
_Static_assert(offsetof(struct soft_qp, ex.qp_base) == 0, "queue pair begins with ibv_qp");
_Static_assert(offsetof(struct soft_cq, base) == 0 && offsetof(struct soft_cq, ex) == 0, "queue begins with ibv_cq");
_Static_assert(offsetof(struct soft_mr, base) == 0, "region begins with ibv_mr");
_Static_assert(offsetof(struct soft_pd, base) == 0, "domain begins with ibv_pd");

/* ibv_cq and ibv_cq_ex share their first fields; programs cast one to the other. */
_Static_assert(offsetof(struct ibv_cq, async_events_completed) == offsetof(struct ibv_cq_ex, async_events_completed),
               "ibv_cq_ex extends ibv_cq");
/* ibv_create_qp and ibv_create_srq pass the short structure as the beginning of the long one. */
_Static_assert(offsetof(struct ibv_qp_init_attr_ex, sq_sig_all) == offsetof(struct ibv_qp_init_attr, sq_sig_all),
               "ibv_qp_init_attr_ex extends ibv_qp_init_attr");
_Static_assert(offsetof(struct verbs_context, context) + sizeof(struct ibv_context) == sizeof(struct verbs_context),
               "ibv_context is the last field of verbs_context");
_Static_assert(offsetof(struct verbs_context, sz) + sizeof(size_t) == offsetof(struct verbs_context, context),
               "sz stands before ibv_context");

_Static_assert(sizeof(struct shm_qp) == 128, "two cache lines");
_Static_assert(sizeof(struct shm_mr) == 64, "one cache line");
_Static_assert(sizeof(struct shm_req) == 256, "four cache lines");
_Static_assert(offsetof(struct shm_req, data) == 64, "small data begins in the second one");
_Static_assert(sizeof(struct shm_resp) == 64, "one cache line");
_Static_assert(offsetof(struct shm_segment, qp) == 4096, "tables begin on a page");
_Static_assert(offsetof(struct shm_segment, mr) % 4096 == 0, "tables begin on a page");
_Static_assert(offsetof(struct shm_pipe, req_chunk) % 4096 == 0, "chunks begin on a page");
_Static_assert(SOFT_MAX_SGE * 16u <= SHM_CHUNK, "the ranges of a fetched message fit into a chunk");
_Static_assert((int)SOFT_MAX_INLINE <= (int)SHM_CHUNK, "inline data fits into a chunk");
_Static_assert(sizeof(struct soft_qp) <= 2048, "an idle queue pair stays below 4 KiB");
_Static_assert((uint32_t)SHM_SLOT_NUMBERS == 1u << (24 - SHM_SLOT_BITS), "a table by slot has a place for each");
_Static_assert(sizeof(struct shm_header) == sizeof(uint64_t), "a datagram's header takes the place of an address");
_Static_assert(SHM_QPS_PER_SLOT == 1u << SHM_SLOT_BITS, "slot and index make a queue pair number");
_Static_assert(SOFT_MAX_RD_ATOMIC <= 255, "depths are bytes in verbs");
