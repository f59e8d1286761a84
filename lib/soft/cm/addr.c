// SPDX-License-Identifier: BSD-2-Clause
/*
 * Addresses and ports. A port is a socket name of port space, port and address, which one process
 * at a time can own.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soft/base/adversary.h"
#include "soft/base/base.h"
#include "soft/cm/cm.h"
#include "soft/meet/meet.h"

enum {
	FIRST_EPHEMERAL = 32768,
	EPHEMERAL = 28232,  /* ports from there on, as in Linux */
	TRIES = 1024,       /* then all ports are taken */
	FIRST_FILE = 61000, /* ports from there on may be those of files */
	FILES = 4096,
	WHERE = 64,
	KIND = 16,
	KNOWN_S = 1, /* a removed address may count as local for that long */
};

static const struct sockaddr_in *in4(const struct sockaddr *addr)
{
	return (const struct sockaddr_in *)(const void *)addr;
}

static const struct sockaddr_in6 *in6(const struct sockaddr *addr)
{
	return (const struct sockaddr_in6 *)(const void *)addr;
}

socklen_t cm_addr_len(const struct sockaddr *addr)
{
	switch (addr->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

bool cm_addr_any(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		return in4(addr)->sin_addr.s_addr == htonl(INADDR_ANY);
	return addr->sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&in6(addr)->sin6_addr);
}

static bool same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	if (a->sa_family == AF_INET)
		return in4(a)->sin_addr.s_addr == in4(b)->sin_addr.s_addr;
	return memcmp(&in6(a)->sin6_addr, &in6(b)->sin6_addr, sizeof(struct in6_addr)) == 0;
}

/* The address of this host that was found last: listing addresses takes two dozen system calls. */
struct known {
	union {
		struct sockaddr any;
		struct sockaddr_in in4;
		struct sockaddr_in6 in6;
	} addr;
	time_t until_s;
};

static struct known known;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool is_known(const struct sockaddr *addr)
{
	bool is;

	pthread_mutex_lock(&known_lock);
	is = known.until_s > now_s() && same_host(&known.addr.any, addr);
	pthread_mutex_unlock(&known_lock);
	return is;
}

static void remember(const struct sockaddr *addr)
{
	pthread_mutex_lock(&known_lock);
	memcpy(&known.addr, addr, cm_addr_len(addr));
	known.until_s = now_s() + KNOWN_S;
	pthread_mutex_unlock(&known_lock);
}

void cm_addr_forked(void)
{
	pthread_mutex_init(&known_lock, NULL);
}

static bool is_listed(const struct sockaddr *addr)
{
	struct ifaddrs *list;
	bool found = false;

	if (getifaddrs(&list) != 0)
		return false;
	for (struct ifaddrs *i = list; i && !found; i = i->ifa_next)
		found = i->ifa_addr && cm_addr_len(i->ifa_addr) && same_host(i->ifa_addr, addr);
	freeifaddrs(list);
	return found;
}

bool cm_addr_local(const struct sockaddr *addr)
{
	/* 127.0.0.0/8 is this host. */
	if (addr->sa_family == AF_INET && ntohl(in4(addr)->sin_addr.s_addr) >> 24 == 127)
		return true;
	if (is_known(addr))
		return true;
	if (!is_listed(addr))
		return false;
	remember(addr);
	return true;
}

uint16_t cm_addr_port(const struct sockaddr *addr)
{
	return ntohs(addr->sa_family == AF_INET6 ? in6(addr)->sin6_port : in4(addr)->sin_port);
}

void cm_addr_set_port(struct sockaddr *addr, uint16_t port)
{
	if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)(void *)addr)->sin_port = htons(port);
}

void cm_addr_gid(const struct sockaddr *addr, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->sa_family == AF_INET6) {
		memcpy(gid->raw, &in6(addr)->sin6_addr, sizeof(gid->raw));
		return;
	}
	gid->raw[10] = gid->raw[11] = 0xff;
	memcpy(gid->raw + 12, &in4(addr)->sin_addr, 4);
}

/* ---- names ---- */

static void where_of(const struct sockaddr *addr, char *where)
{
	if (cm_addr_any(addr))
		snprintf(where, WHERE, "any%d", addr->sa_family == AF_INET ? 4 : 6);
	else if (addr->sa_family == AF_INET)
		inet_ntop(AF_INET, &in4(addr)->sin_addr, where, WHERE);
	else
		inet_ntop(AF_INET6, &in6(addr)->sin6_addr, where, WHERE);
}

static struct softverbs_name port_name(enum rdma_port_space ps, uint16_t port, const char *where, char kind[KIND])
{
	snprintf(kind, KIND, "cm%x", (unsigned int)ps);
	return (struct softverbs_name){ kind, port, where };
}

static int try_bind(int sock, enum rdma_port_space ps, uint16_t port, const char *where)
{
	char kind[KIND];

	return softverbs_bind(sock, port_name(ps, port, where, kind));
}

static bool taken(enum rdma_port_space ps, uint16_t port, const char *where)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	bool is_taken;

	if (sock < 0)
		return false;
	is_taken = try_bind(sock, ps, port, where) == EADDRINUSE;
	close(sock);
	return is_taken;
}

/* On one port, the wildcard and single addresses exclude each other. */
static bool conflicts(enum rdma_port_space ps, uint16_t port, const struct sockaddr *addr)
{
	struct ifaddrs *list;
	bool found = false;
	char where[WHERE];

	if (!cm_addr_any(addr))
		return taken(ps, port, addr->sa_family == AF_INET ? "any4" : "any6");
	if (getifaddrs(&list) != 0)
		return false;
	for (struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != addr->sa_family)
			continue;
		where_of(i->ifa_addr, where);
		found = taken(ps, port, where);
	}
	freeifaddrs(list);
	return found;
}

/* Returns the start of a search for a port, which depends on the process. */
static uint32_t search_start(void)
{
	static _Atomic uint32_t next;
	uint32_t start = atomic_fetch_add(&next, 1);

	if (start == 0) {
		start = (uint32_t)getpid() * 2654435761u >> 8;
		atomic_store(&next, start + 1);
	}
	return start;
}

/* Binds a port whose name is a file, which strangers cannot take. */
static int bind_file(int sock, enum rdma_port_space ps, uint32_t start, struct sockaddr *addr, const char *where)
{
	char kind[KIND];
	int err = EADDRINUSE;

	for (uint32_t i = 0; i < FILES && err == EADDRINUSE; i++) {
		uint16_t port = (uint16_t)(FIRST_FILE + (start + i) % FILES);

		err = softverbs_bind_file(sock, port_name(ps, port, where, kind));
		if (err == 0)
			cm_addr_set_port(addr, port);
	}
	return err ? EADDRNOTAVAIL : 0;
}

static int bind_ephemeral(int sock, enum rdma_port_space ps, struct sockaddr *addr, const char *where)
{
	const uint32_t start = search_start();
	int err = EADDRINUSE;

	for (uint32_t i = 0; i < TRIES && err == EADDRINUSE; i++) {
		uint16_t port = (uint16_t)(FIRST_EPHEMERAL + (start + i) % EPHEMERAL);

		err = try_bind(sock, ps, port, where);
		if (err == 0)
			cm_addr_set_port(addr, port);
	}
	return err == EADDRINUSE ? bind_file(sock, ps, start, addr, where) : err;
}

int cm_addr_reserve(enum rdma_port_space ps, struct sockaddr *addr)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	uint16_t port = cm_addr_port(addr);
	char where[WHERE];
	int err;

	if (sock < 0)
		return -1;
	where_of(addr, where);
	if (port == 0)
		err = bind_ephemeral(sock, ps, addr, where);
	else if (conflicts(ps, port, addr))
		err = EADDRINUSE;
	else
		err = try_bind(sock, ps, port, where);
	if (!err)
		return sock;
	close(sock);
	errno = err;
	return -1;
}

/* Tries files first: their numbers may also be names. */
static int connect_name(int sock, enum rdma_port_space ps, uint16_t port, const char *where)
{
	char kind[KIND];
	struct softverbs_name name = port_name(ps, port, where, kind);
	int err = port >= FIRST_FILE ? softverbs_connect_file(sock, name) : ECONNREFUSED;

	return err == ECONNREFUSED ? softverbs_connect(sock, name) : err;
}

int cm_addr_connect(int sock, enum rdma_port_space ps, const struct sockaddr *addr)
{
	uint16_t port = cm_addr_port(addr);
	char where[WHERE];
	int err;

	where_of(addr, where);
	err = connect_name(sock, ps, port, where);
	if (err == ECONNREFUSED && addr->sa_family == AF_INET)
		err = connect_name(sock, ps, port, "any4");
	/* A listener on :: takes IPv4 unless it has declined; it checks that itself. */
	if (err == ECONNREFUSED)
		err = connect_name(sock, ps, port, "any6");
	return err;
}

/* ---- rdma_getaddrinfo ---- */

static struct sockaddr *copy_addr(const struct sockaddr *addr, socklen_t length)
{
	struct sockaddr *copy = malloc(length);

	if (copy)
		memcpy(copy, addr, length);
	return copy;
}

static enum ibv_qp_type type_of_space(int ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

static int space_of_type(int type)
{
	return type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

/* Sets port space and queue pair type, each from the other; TCP and RC by default. */
static void fill_kind(struct rdma_addrinfo *rai, const struct rdma_addrinfo *hints)
{
	if (hints) {
		rai->ai_flags = hints->ai_flags;
		rai->ai_qp_type = hints->ai_qp_type;
		rai->ai_port_space = hints->ai_port_space;
	}
	if (!rai->ai_port_space)
		rai->ai_port_space = space_of_type(rai->ai_qp_type);
	if (!rai->ai_qp_type)
		rai->ai_qp_type = (int)type_of_space(rai->ai_port_space);
}

static int resolve(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo *rai)
{
	struct addrinfo *ai, ask = { .ai_socktype = SOCK_STREAM };
	bool passive = rai->ai_flags & RAI_PASSIVE;
	struct sockaddr *addr;
	int err;

	if (hints && hints->ai_flags & RAI_FAMILY)
		ask.ai_family = hints->ai_family;
	if (hints && hints->ai_flags & RAI_NUMERICHOST)
		ask.ai_flags |= AI_NUMERICHOST;
	if (passive)
		ask.ai_flags |= AI_PASSIVE;
	err = getaddrinfo(node, service, &ask, &ai);
	if (err)
		return err;
	addr = copy_addr(ai->ai_addr, ai->ai_addrlen);
	rai->ai_family = ai->ai_family;
	if (passive) {
		rai->ai_src_addr = addr;
		rai->ai_src_len = ai->ai_addrlen;
	} else {
		rai->ai_dst_addr = addr;
		rai->ai_dst_len = ai->ai_addrlen;
	}
	freeaddrinfo(ai);
	return addr ? 0 : EAI_MEMORY;
}

/* Keeps the caller's address that is not to be resolved. */
static int keep_hint(const struct rdma_addrinfo *hints, struct rdma_addrinfo *rai)
{
	if (!hints)
		return 0;
	if (!rai->ai_src_addr && hints->ai_src_len) {
		rai->ai_src_addr = copy_addr(hints->ai_src_addr, hints->ai_src_len);
		rai->ai_src_len = hints->ai_src_len;
		if (!rai->ai_src_addr)
			return EAI_MEMORY;
		rai->ai_family = rai->ai_src_addr->sa_family;
	}
	if (!rai->ai_dst_addr && hints->ai_dst_len) {
		rai->ai_dst_addr = copy_addr(hints->ai_dst_addr, hints->ai_dst_len);
		rai->ai_dst_len = hints->ai_dst_len;
		if (!rai->ai_dst_addr)
			return EAI_MEMORY;
		rai->ai_family = rai->ai_dst_addr->sa_family;
	}
	return 0;
}

SOFT_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *rai)
{
	while (rai) {
		struct rdma_addrinfo *next = rai->ai_next;

		free(rai->ai_src_addr);
		free(rai->ai_dst_addr);
		free(rai->ai_src_canonname);
		free(rai->ai_dst_canonname);
		free(rai->ai_route);
		free(rai->ai_connect);
		free(rai);
		rai = next;
	}
}

SOFT_EXPORT int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                                 struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *rai;
	int err = 0;

	if (softverbs_adversary_fails(__func__))
		return EAI_MEMORY;
	if (!node && !service && !hints)
		return EAI_NONAME;
	rai = calloc(1, sizeof(*rai));
	if (!rai)
		return EAI_MEMORY;
	fill_kind(rai, hints);
	if (node || service)
		err = resolve(node, service, hints, rai);
	if (!err)
		err = keep_hint(hints, rai);
	if (err) {
		rdma_freeaddrinfo(rai);
		return err;
	}
	*res = rai;
	return 0;
}
