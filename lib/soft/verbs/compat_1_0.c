// SPDX-License-Identifier: BSD-2-Clause
/*
 * The IBVERBS_1.0 forms of symbols that changed in 1.1, more than fifteen years ago. Their
 * structures differ from today's headers, so they refuse.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>

#include "soft/base/export.h"

/*
 * Prototypes differ: callers only need a result that means failure. Exported under the old names
 * only.
 */
void *softverbs_refuse_pointer(void);
int softverbs_refuse_int(void);

SOFT_EXPORT void *softverbs_refuse_pointer(void)
{
	errno = ENOSYS;
	return NULL;
}

SOFT_EXPORT int softverbs_refuse_int(void)
{
	errno = ENOSYS;
	return ENOSYS;
}

/* The assembler binds one version to one name, so each old symbol is a name of its own. */
#define OLD(symbol, refusal, version)                                      \
	__asm__(".globl old_" #symbol "\n.set old_" #symbol ", " #refusal "\n" \
	        ".symver old_" #symbol ", " #symbol "@" #version)

// clang-format off
OLD(ibv_ack_async_event, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_ack_cq_events, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_alloc_pd, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_attach_mcast, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_close_device, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_create_ah, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_create_cq, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_create_qp, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_create_srq, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_dealloc_pd, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_dereg_mr, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_destroy_ah, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_destroy_cq, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_destroy_qp, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_destroy_srq, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_detach_mcast, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_free_device_list, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_get_async_event, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_get_cq_event, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_get_device_guid, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_get_device_list, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_get_device_name, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_modify_qp, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_modify_srq, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_open_device, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_query_device, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_query_gid, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_query_pkey, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_query_port, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_query_qp, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_query_srq, softverbs_refuse_int, IBVERBS_1.0);
OLD(ibv_reg_mr, softverbs_refuse_pointer, IBVERBS_1.0);
OLD(ibv_register_driver, softverbs_refuse_int, IBVERBS_1.1);
OLD(ibv_resize_cq, softverbs_refuse_int, IBVERBS_1.0);
// clang-format on
