// SPDX-License-Identifier: BSD-2-Clause
/* Public symbols with no meaning here, or a trivial one. */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soft/base/export.h"

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
