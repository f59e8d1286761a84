// SPDX-License-Identifier: BSD-2-Clause
/*
 * functions.c - softverbs as a table, for the library that it is built into
 *
 * DESIGN NOTES The objects of softverbs and this one are joined into one object that shows nothing
 * but the table (soft.mk). So softverbs calls itself by the names of libibverbs and librdmacm, and
 * neither clashes with those libraries in the same process nor is seen by others that look for them.
 * It is the same code as in the libraries that oriel-soft puts in their place.
 */
#include "verbs/functions.h"

/* The functions; the headers have macros of some names. */
#undef ibv_query_port
#undef ibv_reg_mr

const struct verbs_functions verbs_softverbs = {
	.name = "softverbs",
	.alloc_pd = ibv_alloc_pd,
	.dealloc_pd = ibv_dealloc_pd,
	.reg_mr = ibv_reg_mr,
	.dereg_mr = ibv_dereg_mr,
	.create_cq = ibv_create_cq,
	.destroy_cq = ibv_destroy_cq,
	.modify_qp = ibv_modify_qp,
	.query_device = ibv_query_device,
	.query_port = ibv_query_port,
	.get_device_name = ibv_get_device_name,
	.get_async_event = ibv_get_async_event,
	.ack_async_event = ibv_ack_async_event,
	.event_type_str = ibv_event_type_str,
	.wc_status_str = ibv_wc_status_str,
	.create_event_channel = rdma_create_event_channel,
	.destroy_event_channel = rdma_destroy_event_channel,
	.create_id = rdma_create_id,
	.destroy_id = rdma_destroy_id,
	.bind_addr = rdma_bind_addr,
	.resolve_addr = rdma_resolve_addr,
	.resolve_route = rdma_resolve_route,
	.create_qp = rdma_create_qp,
	.destroy_qp = rdma_destroy_qp,
	.connect = rdma_connect,
	.listen = rdma_listen,
	.accept = rdma_accept,
	.reject = rdma_reject,
	.disconnect = rdma_disconnect,
	.get_cm_event = rdma_get_cm_event,
	.ack_cm_event = rdma_ack_cm_event,
	.set_option = rdma_set_option,
	.get_src_port = rdma_get_src_port,
	.event_str = rdma_event_str,
	.lend = softverbs_lend,
	.give_back = softverbs_give_back,
};
