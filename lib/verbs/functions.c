// SPDX-License-Identifier: BSD-2-Clause
/* functions.c - rdma-core's functions as a table; the one file of the library that names them */
#include "verbs/functions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const struct verbs_functions verbs_system = {
	.name = "rdma-core",
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
};

/* ISO C has no cast from an object's address to a function's. */
static void find_global(const char *name, void *pointer)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	memcpy(pointer, &function, sizeof(function));
}

/*
 * The libibverbs that the process has loaded may be softverbs' own, which its extension shows. Where a
 * test makes nodes of one machine it stands for the card between them, and lends nothing.
 */
struct verbs_lender verbs_lender(const struct verbs_functions *functions)
{
	struct verbs_lender lender = { functions->lend, functions->give_back };

	if (functions == &verbs_system && !getenv("ORIEL_TEST_NODE")) {
		find_global("softverbs_lend", &lender.lend);
		find_global("softverbs_give_back", &lender.give_back);
	}
	return lender;
}
