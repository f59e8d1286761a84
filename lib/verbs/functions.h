// SPDX-License-Identifier: BSD-2-Clause
/*
 * functions.h - the verbs and rdma_cm functions that the library calls, as a table
 *
 * One table has rdma-core's functions, another those of built-in softverbs (lib/soft): both serve
 * one process, and other libraries' symbols stay as they are. Functions that verbs.h defines inline
 * (ibv_post_send, ibv_poll_cq) use the context's own table and are called directly.
 */
#ifndef ORIEL_FUNCTIONS_H
#define ORIEL_FUNCTIONS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "soft/extension.h"

struct verbs_functions {
	const char *name; /* "rdma-core" or "softverbs" */

	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context,
	                            struct ibv_comp_channel *channel, int comp_vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*resize_cq)(struct ibv_cq *cq, int cqe); /* 0 or an errno value */
	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned int count);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
	int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr);
	const char *(*get_device_name)(struct ibv_device *device);
	int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
	void (*ack_async_event)(struct ibv_async_event *event);
	const char *(*event_type_str)(enum ibv_event_type event);
	const char *(*wc_status_str)(enum ibv_wc_status status);

	struct rdma_event_channel *(*create_event_channel)(void);
	void (*destroy_event_channel)(struct rdma_event_channel *channel);
	int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
	                 enum rdma_port_space ps);
	int (*destroy_id)(struct rdma_cm_id *id);
	int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
	int (*resolve_addr)(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms);
	int (*resolve_route)(struct rdma_cm_id *id, int timeout_ms);
	int (*create_qp)(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	void (*destroy_qp)(struct rdma_cm_id *id);
	int (*connect)(struct rdma_cm_id *id, struct rdma_conn_param *param);
	int (*listen)(struct rdma_cm_id *id, int backlog);
	int (*accept)(struct rdma_cm_id *id, struct rdma_conn_param *param);
	int (*reject)(struct rdma_cm_id *id, const void *private_data, uint8_t size_bytes);
	int (*disconnect)(struct rdma_cm_id *id);
	int (*get_cm_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event);
	int (*ack_cm_event)(struct rdma_cm_event *event);
	int (*set_option)(struct rdma_cm_id *id, int level, int name, void *value, size_t size_bytes);
	uint16_t (*get_src_port)(struct rdma_cm_id *id);
	const char *(*event_str)(enum rdma_cm_event_type event);

	/* NULL, except for softverbs: extension.h. */
	softverbs_map_fn *map;
	softverbs_unmap_fn *unmap;
	softverbs_move_fn *move;
	softverbs_read_list_fn *read_list;
	softverbs_write_list_fn *write_list;
	softverbs_pull_fn *pull;
	softverbs_polls_fn *polls;
	softverbs_served_fn *served;
	softverbs_atomics_mix_fn *atomics_mix;
	softverbs_failed_step_fn *failed_step;
};

/* The functions by their names: the linker decides from which library. */
/* clang-format off */
#define VERBS_FUNCTIONS \
	.alloc_pd = ibv_alloc_pd, \
	.dealloc_pd = ibv_dealloc_pd, \
	.reg_mr = ibv_reg_mr, \
	.dereg_mr = ibv_dereg_mr, \
	.create_cq = ibv_create_cq, \
	.destroy_cq = ibv_destroy_cq, \
	.resize_cq = ibv_resize_cq, \
	.create_comp_channel = ibv_create_comp_channel, \
	.destroy_comp_channel = ibv_destroy_comp_channel, \
	.get_cq_event = ibv_get_cq_event, \
	.ack_cq_events = ibv_ack_cq_events, \
	.modify_qp = ibv_modify_qp, \
	.query_device = ibv_query_device, \
	.query_port = ibv_query_port, \
	.get_device_name = ibv_get_device_name, \
	.get_async_event = ibv_get_async_event, \
	.ack_async_event = ibv_ack_async_event, \
	.event_type_str = ibv_event_type_str, \
	.wc_status_str = ibv_wc_status_str, \
	.create_event_channel = rdma_create_event_channel, \
	.destroy_event_channel = rdma_destroy_event_channel, \
	.create_id = rdma_create_id, \
	.destroy_id = rdma_destroy_id, \
	.bind_addr = rdma_bind_addr, \
	.resolve_addr = rdma_resolve_addr, \
	.resolve_route = rdma_resolve_route, \
	.create_qp = rdma_create_qp, \
	.destroy_qp = rdma_destroy_qp, \
	.connect = rdma_connect, \
	.listen = rdma_listen, \
	.accept = rdma_accept, \
	.reject = rdma_reject, \
	.disconnect = rdma_disconnect, \
	.get_cm_event = rdma_get_cm_event, \
	.ack_cm_event = rdma_ack_cm_event, \
	.set_option = rdma_set_option, \
	.get_src_port = rdma_get_src_port, \
	.event_str = rdma_event_str
/* clang-format on */

/* The libibverbs and librdmacm that the process has loaded. */
extern const struct verbs_functions verbs_system;

/* softverbs, built into the library. */
extern const struct verbs_functions verbs_softverbs;

/* Functions of softverbs, however loaded, for direct access; NULL for other devices. */
struct verbs_direct {
	softverbs_map_fn *map;
	softverbs_unmap_fn *unmap;
	softverbs_move_fn *move;
	softverbs_read_list_fn *read_list;
	softverbs_write_list_fn *write_list;
	softverbs_pull_fn *pull;
	softverbs_polls_fn *polls;
	softverbs_served_fn *served;
};

struct verbs_direct verbs_direct(const struct verbs_functions *functions);

/* Returns whether softverbs says that its atomics mix with the processor's. */
bool verbs_atomics_mix(const struct verbs_functions *functions);

/*
 * Returns whether forked children get copies of registered memory. False: libibverbs hides it from
 * them (ibv_fork_init), or does not say (before rdma-core 35).
 */
bool verbs_forks_copy(const struct verbs_functions *functions);

#endif
