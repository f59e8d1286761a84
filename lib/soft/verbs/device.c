// SPDX-License-Identifier: BSD-2-Clause
/* The device: list, open and query. It has one port, which has every address of the host. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/base/event_sem.h"
#include "soft/engine/engine.h"
#include "soft/extension.h"
#include "soft/mem/mr.h"
#include "soft/post/post.h"
#include "soft/queue/srq.h"
#include "soft/state/core.h"
#include "soft/state/qp.h"
#include "soft/state/shm.h"
#include "soft/verbs/device.h"

#undef ibv_query_port
#undef ibv_get_device_list

enum {
	VENDOR_ID = 0x736f66, /* "sof": locally administered, so no vendor's */
};

/* The names of a kernel device; under oriel-soft the paths exist (nodes/). */
static struct ibv_device device = {
	.node_type = IBV_NODE_CA,
	.transport_type = IBV_TRANSPORT_IB,
	.name = "soft0",
	.dev_name = "uverbs0",
	.dev_path = "/sys/class/infiniband_verbs/uverbs0",
	.ibdev_path = "/sys/class/infiniband/soft0",
};

SOFT_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;

	/* The first call of every program. */
	soft_adversary_init();
	list = soft_call_fails(__func__) ? NULL : calloc(2, sizeof(*list));
	if (!list) {
		errno = ENOMEM;
		return NULL;
	}
	list[0] = &device;
	if (num_devices)
		*num_devices = 1;
	return list;
}

SOFT_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SOFT_EXPORT const char *ibv_get_device_name(struct ibv_device *dev)
{
	return dev->name;
}

SOFT_EXPORT __be64 ibv_get_device_guid(struct ibv_device *dev)
{
	(void)dev;
	return soft_guid();
}

SOFT_EXPORT int ibv_get_device_index(struct ibv_device *dev)
{
	/* The kernel does not know the device. */
	(void)dev;
	return -1;
}

static void set_operations(struct verbs_context *vctx)
{
	struct ibv_context_ops *ops = &vctx->context.ops;

	ops->alloc_mw = soft_alloc_mw;
	ops->bind_mw = soft_bind_mw;
	ops->dealloc_mw = soft_dealloc_mw;
	ops->poll_cq = soft_poll_cq;
	ops->req_notify_cq = soft_req_notify_cq;
	ops->post_srq_recv = soft_post_srq_recv;
	ops->post_send = soft_post_send;
	ops->post_recv = soft_post_recv;
	/* Operations left out are NULL, for which the headers' inline functions return EOPNOTSUPP. */
	vctx->query_port = soft_query_port_ex;
	vctx->query_device_ex = soft_query_device_ex;
	vctx->create_cq_ex = soft_create_cq_ex;
	vctx->query_rt_values = soft_query_rt_values;
	vctx->create_qp_ex = soft_create_qp_ex;
	vctx->sz = sizeof(*vctx);
	vctx->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

/* The descriptor for commands, which programs check, is an empty epoll: it refuses all. */
static bool open_descriptors(struct ibv_context *context)
{
	int err;

	context->async_fd = event_sem_new();
	if (context->async_fd < 0)
		return false;
	context->cmd_fd = epoll_create1(EPOLL_CLOEXEC);
	if (context->cmd_fd >= 0)
		return true;
	err = errno;
	close(context->async_fd);
	errno = err;
	return false;
}

SOFT_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *dev)
{
	struct soft_context *context;
	struct soft_core *core;

	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return NULL;
	}
	core = soft_core_get();
	if (!core)
		return NULL;
	context = calloc(1, sizeof(*context));
	if (!context)
		return NULL;
	if (!open_descriptors(&context->vctx.context)) {
		free(context);
		return NULL;
	}
	context->core = core;
	context->vctx.context.device = dev;
	context->vctx.context.num_comp_vectors = 1;
	pthread_mutex_init(&context->vctx.context.mutex, NULL);
	pthread_mutex_init(&context->event_lock, NULL);
	soft_list_init(&context->events);
	set_operations(&context->vctx);
	return &context->vctx.context;
}

SOFT_EXPORT int ibv_close_device(struct ibv_context *base)
{
	struct soft_context *context = soft_context(base);

	while (!soft_list_empty(&context->events)) {
		struct soft_list *first = context->events.next;

		soft_list_del(first);
		free(soft_container(first, struct soft_event, list));
	}
	close(base->cmd_fd);
	close(base->async_fd);
	pthread_mutex_destroy(&base->mutex);
	pthread_mutex_destroy(&context->event_lock);
	free(context);
	return 0;
}

static void describe(struct ibv_device_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	snprintf(attr->fw_ver, sizeof(attr->fw_ver), "softverbs %d", SHM_ABI);
	attr->node_guid = attr->sys_image_guid = soft_guid();
	attr->vendor_id = VENDOR_ID;
	attr->max_mr_size = UINT64_MAX >> 1;
	attr->page_size_cap = (uint64_t)sysconf(_SC_PAGESIZE);
	attr->max_qp = SHM_QPS;
	attr->max_qp_wr = SOFT_MAX_WR;
	attr->device_cap_flags = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_CURR_QP_STATE_MOD |
	                         IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
	                         IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_UD_AV_PORT_ENFORCE;
	attr->max_sge = attr->max_sge_rd = attr->max_srq_sge = SOFT_MAX_SGE;
	attr->max_cq = attr->max_pd = attr->max_srq = SHM_MRS;
	attr->max_cqe = SOFT_MAX_CQE;
	attr->max_mr = attr->max_mw = attr->max_ah = SHM_MRS;
	attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = SOFT_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SOFT_MAX_RD_ATOMIC * SHM_QPS;
	/* All cards report this: programs take IBV_ATOMIC_GLOB for a device without atomics. */
	attr->atomic_cap = IBV_ATOMIC_HCA;
	attr->max_srq_wr = SOFT_MAX_WR;
	attr->max_pkeys = 1;
	attr->phys_port_cnt = 1;
}

/* Atomics are the processor's own instructions. */
SOFT_EXPORT bool softverbs_atomics_mix(void)
{
	return !soft_adversary.apart;
}

SOFT_EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	describe(attr);
	return 0;
}

/* Regions on demand: mr.c. */
static const struct ibv_odp_caps on_demand = {
	.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT,
	.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV | IBV_ODP_SUPPORT_WRITE |
	                                  IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV,
};

int soft_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                         struct ibv_device_attr_ex *attr, size_t size)
{
	/* phys_port_cnt_ex: padding in the structure of rdma-core 33 (Debian 11) */
	enum { PORT_COUNT_AT = offsetof(struct ibv_device_attr_ex, xrc_odp_caps) + sizeof(uint32_t) };
	struct ibv_device_attr_ex full;
	uint32_t port_count;

	(void)context;
	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (input && input->comp_mask)
		return soft_result(EINVAL);
	memset(&full, 0, sizeof(full));
	describe(&full.orig_attr);
	full.device_cap_flags_ex = full.orig_attr.device_cap_flags;
	port_count = full.orig_attr.phys_port_cnt;
	memcpy((char *)&full + PORT_COUNT_AT, &port_count, sizeof(port_count));
	full.odp_caps = on_demand;
	/* Time stamps are nanoseconds. */
	full.completion_timestamp_mask = UINT64_MAX;
	full.hca_core_clock = 1000000;
	/* A structure of newer headers is longer: the rest of it is zero. */
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

int soft_query_port_ex(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	struct ibv_port_attr full;

	(void)context;
	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (port != SOFT_PORT)
		return soft_result(EINVAL);
	memset(&full, 0, sizeof(full));
	full.state = IBV_PORT_ACTIVE;
	full.max_mtu = full.active_mtu = IBV_MTU_4096;
	full.gid_tbl_len = SOFT_MAX_GIDS;
	full.port_cap_flags = IBV_PORT_CM_SUP;
	full.max_msg_sz = SOFT_MAX_MSG;
	full.pkey_tbl_len = 1;
	/* One LID for all processes of the host. */
	full.lid = full.sm_lid = 1;
	full.max_vl_num = 1;
	full.active_width = 2;  /* 4x */
	full.active_speed = 32; /* EDR: "fast" */
	full.phys_state = 5;    /* link up */
	full.link_layer = IBV_LINK_LAYER_INFINIBAND;
	memset(attr, 0, size);
	memcpy(attr, &full, size < sizeof(full) ? size : sizeof(full));
	return 0;
}

/* The structure of programs built before port_cap_flags2 existed ends there. */
SOFT_EXPORT int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	return soft_query_port_ex(context, port, (struct ibv_port_attr *)(void *)attr,
	                          offsetof(struct ibv_port_attr, port_cap_flags2));
}

/* Queries of the port's addresses and its one partition key. */

static int port_gid(uint32_t port, int index, union ibv_gid *gid)
{
	union ibv_gid gids[SOFT_MAX_GIDS];
	int n;

	if (port != SOFT_PORT || index < 0 || index >= SOFT_MAX_GIDS)
		return EINVAL;
	n = soft_gids(gids, SOFT_MAX_GIDS);
	memset(gid, 0, sizeof(*gid));
	if (index < n)
		*gid = gids[index];
	return 0;
}

SOFT_EXPORT int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	int err = soft_call_fails(__func__) ? ENOMEM : port_gid(port, index, gid);

	(void)context;
	if (!err)
		return 0;
	errno = err;
	return -1;
}

static void fill_entry(struct ibv_gid_entry *entry, const union ibv_gid *gid, uint32_t index)
{
	entry->gid = *gid;
	entry->gid_index = index;
	entry->port_num = SOFT_PORT;
	entry->gid_type = IBV_GID_TYPE_IB;
	entry->ndev_ifindex = 0;
}

SOFT_EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                                  struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	union ibv_gid gids[SOFT_MAX_GIDS];
	struct ibv_gid_entry full;
	int n;

	(void)context;
	if (soft_call_fails(__func__))
		return soft_result(ENOMEM);
	if (flags)
		return soft_result(EOPNOTSUPP);
	if (port != SOFT_PORT || index >= SOFT_MAX_GIDS)
		return soft_result(EINVAL);
	n = soft_gids(gids, SOFT_MAX_GIDS);
	if (index >= (uint32_t)n)
		return soft_result(ENODATA);
	fill_entry(&full, &gids[index], index);
	memcpy(entry, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	return 0;
}

SOFT_EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max,
                                         uint32_t flags, size_t entry_size)
{
	union ibv_gid gids[SOFT_MAX_GIDS];
	size_t n = (size_t)soft_gids(gids, SOFT_MAX_GIDS);

	(void)context;
	if (soft_call_fails(__func__))
		return -ENOMEM;
	if (flags)
		return -EOPNOTSUPP;
	if (n > max)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		struct ibv_gid_entry full;

		fill_entry(&full, &gids[i], (uint32_t)i);
		memcpy((uint8_t *)entries + i * entry_size, &full, entry_size < sizeof(full) ? entry_size : sizeof(full));
	}
	return (ssize_t)n;
}

/* Called by ibv_devinfo. In rdma-core's private enumeration 0 is "IB or RoCE v1". */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type);

SOFT_EXPORT int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned int index, unsigned int *type)
{
	(void)context;
	if (port != SOFT_PORT || index >= SOFT_MAX_GIDS) {
		errno = EINVAL;
		return -1;
	}
	*type = 0;
	return 0;
}

SOFT_EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	(void)context;
	if (soft_call_fails(__func__)) {
		errno = ENOMEM;
		return -1;
	}
	if (port != SOFT_PORT || index != 0) {
		errno = EINVAL;
		return -1;
	}
	/* The default partition, full member. */
	*pkey = 0xffff;
	return 0;
}

SOFT_EXPORT int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
	(void)context;
	if (port == SOFT_PORT && pkey == 0xffff)
		return 0;
	errno = EINVAL;
	return -1;
}
