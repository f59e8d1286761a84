// SPDX-License-Identifier: BSD-2-Clause
/*
 * The interface of libibverbs for hardware drivers (IBVERBS_PRIVATE_34). libmlx5 and libefa, which
 * perftest links, need these symbols. Registering has no effect and every command is refused.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "soft/base/export.h"

/* Their prototypes are in rdma-core's private headers. Only drivers call them. */
int softverbs_no_command(void) SOFT_HIDDEN;
void *softverbs_no_context(void) SOFT_HIDDEN;
void softverbs_nothing(void) SOFT_HIDDEN;

__attribute__((used)) int softverbs_no_command(void)
{
	return EOPNOTSUPP;
}

__attribute__((used)) void *softverbs_no_context(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

__attribute__((used)) void softverbs_nothing(void)
{
}

#define COMMAND(name) __asm__(".globl " #name "\n.set " #name ", softverbs_no_command")
#define CONTEXT(name) __asm__(".globl " #name "\n.set " #name ", softverbs_no_context")
#define NOTHING(name) __asm__(".globl " #name "\n.set " #name ", softverbs_nothing")

COMMAND(__ioctl_final_num_attrs);
NOTHING(__verbs_log);
CONTEXT(_verbs_init_and_alloc_context);
COMMAND(execute_ioctl);
COMMAND(ibv_cmd_advise_mr);
COMMAND(ibv_cmd_alloc_dm);
COMMAND(ibv_cmd_alloc_mw);
COMMAND(ibv_cmd_alloc_pd);
COMMAND(ibv_cmd_attach_mcast);
COMMAND(ibv_cmd_close_xrcd);
COMMAND(ibv_cmd_create_ah);
COMMAND(ibv_cmd_create_counters);
COMMAND(ibv_cmd_create_cq);
COMMAND(ibv_cmd_create_cq_ex);
COMMAND(ibv_cmd_create_cq_ex2);
COMMAND(ibv_cmd_create_flow);
COMMAND(ibv_cmd_create_flow_action_esp);
COMMAND(ibv_cmd_create_qp);
COMMAND(ibv_cmd_create_qp_ex);
COMMAND(ibv_cmd_create_qp_ex2);
COMMAND(ibv_cmd_create_rwq_ind_table);
COMMAND(ibv_cmd_create_srq);
COMMAND(ibv_cmd_create_srq_ex);
COMMAND(ibv_cmd_create_wq);
COMMAND(ibv_cmd_dealloc_mw);
COMMAND(ibv_cmd_dealloc_pd);
COMMAND(ibv_cmd_dereg_mr);
COMMAND(ibv_cmd_destroy_ah);
COMMAND(ibv_cmd_destroy_counters);
COMMAND(ibv_cmd_destroy_cq);
COMMAND(ibv_cmd_destroy_flow);
COMMAND(ibv_cmd_destroy_flow_action);
COMMAND(ibv_cmd_destroy_qp);
COMMAND(ibv_cmd_destroy_rwq_ind_table);
COMMAND(ibv_cmd_destroy_srq);
COMMAND(ibv_cmd_destroy_wq);
COMMAND(ibv_cmd_detach_mcast);
COMMAND(ibv_cmd_free_dm);
COMMAND(ibv_cmd_get_context);
COMMAND(ibv_cmd_modify_cq);
COMMAND(ibv_cmd_modify_flow_action_esp);
COMMAND(ibv_cmd_modify_qp);
COMMAND(ibv_cmd_modify_qp_ex);
COMMAND(ibv_cmd_modify_srq);
COMMAND(ibv_cmd_modify_wq);
COMMAND(ibv_cmd_open_qp);
COMMAND(ibv_cmd_open_xrcd);
COMMAND(ibv_cmd_poll_cq);
COMMAND(ibv_cmd_post_recv);
COMMAND(ibv_cmd_post_send);
COMMAND(ibv_cmd_post_srq_recv);
COMMAND(ibv_cmd_query_context);
COMMAND(ibv_cmd_query_device_any);
COMMAND(ibv_cmd_query_mr);
COMMAND(ibv_cmd_query_port);
COMMAND(ibv_cmd_query_qp);
COMMAND(ibv_cmd_query_srq);
COMMAND(ibv_cmd_read_counters);
COMMAND(ibv_cmd_reg_dm_mr);
COMMAND(ibv_cmd_reg_dmabuf_mr);
COMMAND(ibv_cmd_reg_mr);
COMMAND(ibv_cmd_req_notify_cq);
COMMAND(ibv_cmd_rereg_mr);
COMMAND(ibv_cmd_resize_cq);
NOTHING(verbs_init_cq);
CONTEXT(verbs_open_device);
NOTHING(verbs_register_driver_34);
NOTHING(verbs_set_ops);
NOTHING(verbs_uninit_context);

extern bool verbs_allow_disassociate_destroy;
SOFT_EXPORT bool verbs_allow_disassociate_destroy = false;
