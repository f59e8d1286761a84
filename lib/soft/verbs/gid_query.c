// SPDX-License-Identifier: BSD-2-Clause
/* Queries of the port's addresses and its one partition key. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#include "soft/base/adversary.h"
#include "soft/base/export.h"
#include "soft/base/gid.h"
#include "soft/base/limits.h"

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
