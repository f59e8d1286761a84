// SPDX-License-Identifier: BSD-2-Clause
/* Public symbols with no meaning here, or a trivial one. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soft/base/base.h"

/* Not declared in public headers. */
struct ib_uverbs_ah_attr;
struct ib_uverbs_qp_attr;
struct ib_user_path_rec;
const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
int ibv_read_ibdev_sysfs_file(char *buf, size_t size, void *device, const char *format, ...);
int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *to, struct ib_uverbs_ah_attr *from);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *to, struct ib_uverbs_qp_attr *from);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *to, struct ib_user_path_rec *from);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *to, struct ibv_sa_path_rec *from);

#undef ibv_reg_dmabuf_mr

/* Not declared in rdma-core 33 (Debian 11). */
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle);
void ibv_unimport_dm(struct ibv_dm *dm);
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);

static void *refuse(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

/* ---- fork: nothing is pinned ---- */

SOFT_EXPORT int ibv_fork_init(void)
{
	return 0;
}

/* ibv_is_fork_initialized, whose type rdma-core 33 (Debian 11) does not declare. */
int fork_status(void) __asm__("ibv_is_fork_initialized");
enum { FORK_UNNEEDED = 2 }; /* IBV_FORK_UNNEEDED */

SOFT_EXPORT int fork_status(void)
{
	return FORK_UNNEEDED;
}

SOFT_EXPORT int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

SOFT_EXPORT int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

/* ---- sysfs: there is none ---- */

SOFT_EXPORT const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

SOFT_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	char path[512];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, size);
	close(fd);
	if (n > 0 && buf[n - 1] == '\n')
		buf[--n] = '\0';
	else if (n >= 0 && (size_t)n < size)
		buf[n] = '\0';
	return (int)n;
}

SOFT_EXPORT int ibv_read_ibdev_sysfs_file(char *buf, size_t size, void *dev, const char *format, ...)
{
	(void)dev;
	(void)format;
	if (size > 0)
		buf[0] = '\0';
	return -1;
}

/* ---- multicast: a datagram goes to the one queue pair that its number names ---- */

SOFT_EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return soft_result(EOPNOTSUPP);
}

SOFT_EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return soft_result(EOPNOTSUPP);
}

SOFT_EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                            uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
	(void)context;
	(void)attr;
	(void)eth_mac;
	(void)vid;
	refuse();
	return -1;
}

/* ---- objects of other processes, device buffers, enhanced connections ---- */

SOFT_EXPORT struct ibv_context *ibv_import_device(int cmd_fd)
{
	(void)cmd_fd;
	return refuse();
}

SOFT_EXPORT struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
	(void)context;
	(void)handle;
	return refuse();
}

SOFT_EXPORT void ibv_unimport_pd(struct ibv_pd *pd)
{
	(void)pd;
}

SOFT_EXPORT struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	(void)pd;
	(void)handle;
	return refuse();
}

SOFT_EXPORT void ibv_unimport_mr(struct ibv_mr *mr)
{
	(void)mr;
}

SOFT_EXPORT struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
	(void)context;
	(void)handle;
	return refuse();
}

SOFT_EXPORT void ibv_unimport_dm(struct ibv_dm *dm)
{
	(void)dm;
}

SOFT_EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                             int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	return refuse();
}

SOFT_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	memset(ece, 0, sizeof(*ece));
	return soft_result(EOPNOTSUPP);
}

SOFT_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	(void)qp;
	ece->options = 0;
	return soft_result(EOPNOTSUPP);
}

/* ---- kernel structures: there is no kernel device ---- */

SOFT_EXPORT void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *to, struct ib_uverbs_ah_attr *from)
{
	(void)from;
	memset(to, 0, sizeof(*to));
}

SOFT_EXPORT void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *to, struct ib_uverbs_qp_attr *from)
{
	(void)from;
	memset(to, 0, sizeof(*to));
}

SOFT_EXPORT void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *to, struct ib_user_path_rec *from)
{
	(void)from;
	memset(to, 0, sizeof(*to));
}

SOFT_EXPORT void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *to, struct ibv_sa_path_rec *from)
{
	(void)to;
	(void)from;
}

/*
 * The IBVERBS_1.0 forms of symbols that changed in 1.1, more than fifteen years ago. Their
 * structures differ from today's headers, so they refuse.
 */

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
#define OLD(symbol, stub, version)                                      \
	__asm__(".globl old_" #symbol "\n.set old_" #symbol ", " #stub "\n" \
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

/*
 * The interface of libibverbs for hardware drivers (IBVERBS_PRIVATE_34). libmlx5 and libefa, which
 * perftest links, need these symbols. Registering has no effect and every command is refused.
 */

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
