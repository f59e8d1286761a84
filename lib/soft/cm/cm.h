// SPDX-License-Identifier: BSD-2-Clause
/*
 * Internals of the connection manager.
 *
 * DESIGN NOTES
 *
 * An identifier owns an abstract SOCK_SEQPACKET socket whose name is its port space, port and
 * address: binding it reserves the port. REQ, REP, RTU, REJ, DREQ and DREP travel over its
 * connection as in the InfiniBand CM; a dead process's is closed by the kernel. The engine thread
 * reads the sockets and queues events. It must not change queue pairs, which may take a message to
 * the peer's engine: rdma_accept and rdma_get_cm_event do.
 *
 * cm_lock guards all identifiers, channels and events. Its holder must not call verbs functions,
 * which may wait for a peer's engine, or softverbs_unwatch, which waits for a callback that takes
 * the lock.
 */
#ifndef SOFT_CM_H
#define SOFT_CM_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "soft/base/base.h"
#include "soft/state/core.h"

enum {
	CM_REQ_PRIVATE = 56, /* bytes, for RDMA_PS_TCP */
	CM_REP_PRIVATE = 196,
	CM_REJ_PRIVATE = 148,
	CM_MAX_BACKLOG = 1024,
	CM_REJ_NO_RESOURCES = 3,        /* short of descriptors or memory */
	CM_REJ_NO_LISTENER = 8,         /* "invalid service id" */
	CM_REJ_CONSUMER = 28,           /* rejected by the program */
	CM_REJ_YOUR_RESOURCES = 0x8003, /* the receiver is short of what cm_msg.error names */
	CM_DEFAULT_TIMEOUT = 17,        /* acknowledge timeout: about half a second */
	CM_MIN_RNR_TIMER = 0,           /* 655 ms, as in the kernel */
	CM_RETRY_MS = 5,                /* between attempts to find a listener */
	CM_RETRIES = 40,
	CM_DREQ_MS = 2000,    /* limit for an answer to DREQ */
	CM_TIMEWAIT_MS = 100, /* nothing is in flight */
};

enum cm_state {
	CM_IDLE, /* new; perhaps bound */
	CM_ADDR_RESOLVED,
	CM_ROUTE_RESOLVED,
	CM_LISTENING,
	CM_CONNECTING, /* REQ sent */
	CM_RESPONDED,  /* REP received; RTU not sent */
	CM_REQUESTED,  /* the program must accept or reject REQ */
	CM_ACCEPTED,   /* REP sent */
	CM_CONNECTED,
	CM_DISCONNECTING, /* DREQ sent */
	CM_DISCONNECTED,  /* closed, refused, peer gone, or answered (conn.c) */
};

enum cm_type {
	CM_REQ = 1,
	CM_REP,
	CM_RTU,
	CM_REJ,
	CM_DREQ,
	CM_DREP,
};

/* Always sent whole. */
struct cm_msg {
	uint64_t magic;
	uint32_t type; /* enum cm_type */
	uint32_t qpn, psn;
	uint32_t reason; /* CM_REJ */
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t srq, flow_control, private_len;
	uint8_t error;                /* errno value, for CM_REJ_YOUR_RESOURCES */
	struct sockaddr_in6 src, dst; /* CM_REQ */
	uint8_t private_data[CM_REP_PRIVATE];
};

struct cm_channel {
	struct rdma_event_channel base;
	struct soft_list events; /* cm_event.list, not yet fetched */
};

struct cm_event {
	struct rdma_cm_event base;
	struct soft_list list;
	uint8_t private_data[CM_REP_PRIVATE];
};

struct cm_id {
	struct rdma_cm_id base;
	enum cm_state state;
	int sock; /* -1 if not bound */
	bool watched;
	bool ended;                     /* DISCONNECTED reported */
	bool timewait;                  /* TIMEWAIT_EXIT is due, or reported */
	bool sync;                      /* created without a channel: calls block */
	struct cm_channel *own_channel; /* if `sync` */
	uint32_t events_fetched, events_acked;
	int backlog, requests;  /* of a listener: unfetched requests */
	struct cm_id *listener; /* receiver of a request, until that is fetched */

	struct rdma_conn_param local; /* without private data */
	uint32_t psn;
	uint32_t local_qpn, remote_qpn, remote_psn;
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count; /* agreed */
	uint8_t ack_timeout;
	struct cm_msg *request; /* kept until there is a listener */
	int retry_fd;           /* timer, or -1 */
	int end_fd;             /* timer for DREP and TIMEWAIT, or -1 */
	uint32_t retries;

	bool af_only, reuse_addr;
	uint8_t tos;

	/* created by rdma_create_qp and rdma_create_srq, or inherited by requests (rdma_create_ep) */
	bool own_srq;
	struct ibv_qp_init_attr *qp_init_attr;
	bool has_pd;
	void *connect; /* private data from rdma_getaddrinfo */
	size_t connect_len;
};

extern pthread_mutex_t cm_lock SOFT_HIDDEN;
extern pthread_cond_t cm_acked SOFT_HIDDEN;

static inline struct cm_id *cm_id(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

static inline int cm_fail(int err)
{
	errno = err;
	return -1;
}

/* addr.c */

socklen_t cm_addr_len(const struct sockaddr *addr);
bool cm_addr_any(const struct sockaddr *addr);
bool cm_addr_local(const struct sockaddr *addr);
/* In a child of fork. */
void cm_addr_forked(void);
uint16_t cm_addr_port(const struct sockaddr *addr);
void cm_addr_set_port(struct sockaddr *addr, uint16_t port);
void cm_addr_gid(const struct sockaddr *addr, union ibv_gid *gid);
/*
 * Returns a socket that owns the port of *addr, or -1 with errno. Replaces port 0 by a free port.
 */
int cm_addr_reserve(enum rdma_port_space ps, struct sockaddr *addr);
/*
 * Returns 0 or an errno value: ECONNREFUSED without a listener, EAGAIN with a busy one, ESTALE with
 * another user's.
 */
int cm_addr_connect(int sock, enum rdma_port_space ps, const struct sockaddr *addr);

/* id.c */

/* Returns the device, or NULL with errno. Opens it and its domain once. */
struct ibv_context *cm_verbs(void);
/* Resets device and locks in a child of fork. */
void cm_id_forked(void);
struct cm_id *cm_id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
                        enum ibv_qp_type type);
/* Returns 0 or an errno value. */
int cm_id_bind_device(struct cm_id *id);

/* qp.c */

/* Return 0 or an errno value. */
int cm_qp_ready(struct cm_id *id); /* to RTR and RTS, as negotiated */
int cm_qp_error(struct cm_id *id);

/* msg.c */

/* Rejects a connection after the error of ibv_modify_qp; names the side that is short. */
void cm_send_unready(struct cm_id *id, int err);
/* Returns 0 or an errno value. */
int cm_send(struct cm_id *id, struct cm_msg *msg, enum cm_type type);
void cm_attach_private(struct cm_event *event, const struct cm_msg *msg, uint8_t length);
void cm_on_listen(void *listener);
void cm_on_message(void *id);
/* Detaches a listener's connections without a request. Under cm_lock. */
void cm_orphan(struct cm_id *listener);
/* In a child of fork: forgets connections without a request. */
void cm_msg_forked(void);

/* conn.c */

/*
 * Reports that a connection has ended. If this side has disconnected, TIMEWAIT_EXIT follows. Under
 * cm_lock.
 */
void cm_ended(struct cm_id *id, int status);
void cm_stop_timers(struct cm_id *id);

/* event.c. cm_event_new, _queue and _post: under cm_lock. */

/* Returns NULL without memory. */
struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status);
void cm_event_queue(struct cm_id *on, struct cm_event *event);
void cm_event_post(struct cm_id *id, enum rdma_cm_event_type type, int status);
/* Waits for the outcome of a call on a synchronous identifier, else returns 0. */
int cm_complete(struct cm_id *id);
/*
 * Drops an identifier's unfetched events and requests, and waits until its fetched ones are
 * acknowledged. Takes cm_lock.
 */
void cm_event_forget(struct cm_id *id);

/* Identifiers for datagrams: conn.c. */

enum {
	CM_SIDR_REQ_PRIVATE = 180, /* bytes */
	CM_SIDR_REP_PRIVATE = 136,
	CM_SIDR_UNSUPPORTED = 1, /* no listener */
	CM_SIDR_REJECT = 2,
};

static inline bool cm_is_sidr(const struct cm_id *id)
{
	return id->base.qp_type == IBV_QPT_UD;
}

/* Report an answer, and a refusal. Under cm_lock. */
void cm_sidr_reply(struct cm_id *id, const struct cm_msg *msg);
void cm_sidr_refused(struct cm_id *id, int status, const struct cm_msg *msg);
/* Fills in the address for datagrams, in the thread that fetches the event, without cm_lock. */
void cm_sidr_address(struct rdma_cm_event *event);
/* rdma_accept() for datagrams. Returns 0, or -1 with errno. */
int cm_sidr_accept(struct cm_id *id, const struct rdma_conn_param *param);

#endif
