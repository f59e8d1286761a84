// SPDX-License-Identifier: BSD-2-Clause
/* Addresses and ports. See addr.c. */
#ifndef SOFT_CM_ADDR_H
#define SOFT_CM_ADDR_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

socklen_t cm_addr_len(const struct sockaddr *addr);
bool cm_addr_any(const struct sockaddr *addr);
/* Is it an address of this host? */
bool cm_addr_local(const struct sockaddr *addr);
uint16_t cm_addr_port(const struct sockaddr *addr);
void cm_addr_set_port(struct sockaddr *addr, uint16_t port);
void cm_addr_gid(const struct sockaddr *addr, union ibv_gid *gid);
/* A socket that owns the port of *addr, which is chosen if it is 0; -1 with errno. */
int cm_addr_reserve(enum rdma_port_space ps, struct sockaddr *addr);
/*
 * Connect to whoever listens on an address. 0 or an errno value: ECONNREFUSED if nobody does,
 * EAGAIN if it is busy.
 */
int cm_addr_connect(int sock, enum rdma_port_space ps, const struct sockaddr *addr);

#endif
