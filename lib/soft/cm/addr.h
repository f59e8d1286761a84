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
bool cm_addr_local(const struct sockaddr *addr);
uint16_t cm_addr_port(const struct sockaddr *addr);
void cm_addr_set_port(struct sockaddr *addr, uint16_t port);
void cm_addr_gid(const struct sockaddr *addr, union ibv_gid *gid);
/*
 * Returns a socket that owns the port of *addr, or -1 with errno. Port 0 is replaced by a free
 * port.
 */
int cm_addr_reserve(enum rdma_port_space ps, struct sockaddr *addr);
/*
 * Connects to an address. Returns 0 or an errno value: ECONNREFUSED without a listener, EAGAIN with
 * a busy one, ESTALE with another user's.
 */
int cm_addr_connect(int sock, enum rdma_port_space ps, const struct sockaddr *addr);

#endif
