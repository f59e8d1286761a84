// SPDX-License-Identifier: BSD-2-Clause
/*
 * The port's addresses: a link-local GID made from the node's GUID, then one per address of the
 * host, IPv4 as ::ffff:a.b.c.d, as in RoCE.
 */
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "soft/base/base.h"

static __be64 read_guid(void)
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

/* Returns a number made from the machine's id, or its name if it has none. */
__be64 soft_guid(void)
{
	static _Atomic __be64 known;
	__be64 guid = atomic_load(&known);

	if (!guid) {
		guid = read_guid();
		atomic_store(&known, guid);
	}
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
