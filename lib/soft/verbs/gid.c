// SPDX-License-Identifier: BSD-2-Clause
/*
 * The port's addresses: a link-local GID made from the node's GUID, then one per address of the
 * host, IPv4 as ::ffff:a.b.c.d, the way RoCE has it. They say which host this is; processes find
 * each other by queue pair number.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "soft/verbs/adversary.h"
#include "soft/verbs/export.h"
#include "soft/verbs/gid.h"
#include "soft/verbs/limits.h"
#include "soft/verbs/result.h"

/*
 * Stable on one host, different between hosts: from the machine's id, or its name where it has
 * none.
 */
__be64 soft_guid(void)
{
	uint64_t hash = 0xcbf29ce484222325u;
	char id[128] = "softverbs";
	FILE *file = fopen("/etc/machine-id", "re");
	__be64 guid;

	if (!file)
		file = fopen("/proc/sys/kernel/hostname", "re");
	if (file) {
		if (!fgets(id, sizeof(id), file))
			id[0] = '\0';
		fclose(file);
	}
	for (const char *c = id; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
	/* Locally administered. */
	hash = (hash & ~(1ull << 56)) | 1ull << 57;
	for (int i = 0; i < 8; i++)
		((uint8_t *)&guid)[i] = (uint8_t)(hash >> (8 * (7 - i)));
	return guid;
}

static bool gid_of(const struct sockaddr *addr, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (addr && addr->sa_family == AF_INET) {
		gid->raw[10] = gid->raw[11] = 0xff;
		memcpy(gid->raw + 12, &((const struct sockaddr_in *)(const void *)addr)->sin_addr, 4);
		return true;
	}
	if (addr && addr->sa_family == AF_INET6) {
		memcpy(gid->raw, &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr, 16);
		return true;
	}
	return false;
}

static bool known(const union ibv_gid *gids, int n, const union ibv_gid *gid)
{
	for (int i = 0; i < n; i++)
		if (memcmp(&gids[i], gid, sizeof(*gid)) == 0)
			return true;
	return false;
}

int soft_gids(union ibv_gid *gids, int max)
{
	struct ifaddrs *list;
	int n = 1;

	memset(&gids[0], 0, sizeof(gids[0]));
	gids[0].raw[0] = 0xfe;
	gids[0].raw[1] = 0x80;
	gids[0].global.interface_id = soft_guid();
	if (getifaddrs(&list) != 0)
		return n;
	for (struct ifaddrs *i = list; i && n < max; i = i->ifa_next) {
		union ibv_gid gid;

		if (i->ifa_flags & IFF_UP && gid_of(i->ifa_addr, &gid) && !known(gids, n, &gid))
			gids[n++] = gid;
	}
	freeifaddrs(list);
	return n;
}

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

/*
 * ibv_devinfo asks for this one; the type comes as rdma-core's private enumeration, where 0 is "IB
 * or RoCE v1".
 */
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
