// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_internal.h - what the files of the fake device share. The lock is fake_lock unless a comment
 * says otherwise.
 */
#ifndef ORIEL_TESTS_FAKE_INTERNAL_H
#define ORIEL_TESTS_FAKE_INTERNAL_H

#include "fake_malloc.h"
#include "fake_verbs.h"

enum fake_kind { FAKE_CHANNEL, FAKE_ID, FAKE_PD, FAKE_MR, FAKE_CQ, FAKE_QP, FAKE_EVENT, FAKE_COMP, FAKE_KINDS };

#define FAKE_RECEIVES 4

struct fake_async_event {
	struct ibv_async_event event;
	struct fake_async_event *next;
};

struct fake_context {
	struct ibv_context ibv;
	struct ibv_device device;
	struct fake_async_event *async;
	struct fake_context *next;
};

struct fake_pd {
	struct ibv_pd ibv;
	int users; /* memory regions and queue pairs */
};

struct fake_mr {
	struct ibv_mr ibv;
	int access;
	struct fake_mr *next;
};

struct fake_cqe {
	struct ibv_wc wc;
	struct fake_qp *qp;
	uint64_t frees; /* requests of the queue pair up to this one leave the send queue */
};

/* A completion channel: its descriptor counts the events that have not been taken. */
struct fake_comp {
	struct ibv_comp_channel ibv;
	struct ibv_cq *cq; /* the one that uses it */
	uint32_t events;
};

struct fake_cq {
	struct ibv_cq ibv;
	bool armed;
	uint32_t untold; /* events taken and not acknowledged */
	struct fake_cqe *ring;
	uint32_t head, tail;
	uint32_t polls; /* in a row that have found something too fresh */
	int users;
};

/* A write that has been acknowledged and not placed. */
struct fake_write {
	struct fake_write *next;
	void *to;
	size_t size_bytes;
	uint8_t data[];
};

struct fake_qp {
	struct ibv_qp ibv;
	struct fake_id *id;
	uint32_t depth;
	uint32_t max_inline;
	uint64_t posted, freed;
	uint64_t receives[FAKE_RECEIVES]; /* ids of those that wait */
	uint32_t receive_count;
	uint64_t token; /* handed over with each request, and the next one back */
	uint64_t done;
	struct fake_write *unplaced;
	struct fake_qp *next;
};

enum fake_state {
	ID_IDLE,
	ID_BOUND,
	ID_LISTEN,
	ID_ADDRESS,
	ID_ROUTE,
	ID_CONNECT,
	ID_REQUESTED,
	ID_ACCEPTED,
	ID_CONNECTED,
	ID_CLOSED,
};

struct fake_id {
	struct rdma_cm_id ibv;
	enum fake_state state;
	struct fake_id *other;    /* the other end, from the request on, while both exist */
	struct fake_id *listener; /* of a request that has not been reported yet */
	int unacked;
	struct fake_id *next;
};

struct fake_event {
	struct rdma_cm_event event;
	uint8_t data[196];
	struct fake_event *next;
};

struct fake_channel {
	struct rdma_event_channel ibv;
	struct fake_event *events;
	struct fake_context *context;
};

void fake_lock(void);
void fake_unlock(void);

/* Count a call that can fail; true if it is the one that shall. Takes no lock. */
bool fake_fault(const char *name);
bool fake_request_fault(const char *name);
bool fake_event_fault(const char *name);

void fake_count(enum fake_kind kind, int change);
void fake_misuse(const char *what);
void fake_count_completions(int count);
void fake_count_post(void);
void fake_count_request(const struct ibv_send_wr *wr);

/* Make a descriptor readable, or no longer. */
void fake_signal(int fd);
void fake_unsignal(int fd);

struct fake_context *fake_context_new(void);
void fake_context_free(struct fake_context *context);

/* The queue pair's outstanding requests are lost. */
void fake_qp_error(struct fake_qp *qp);
int fake_qp_new(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void fake_qp_free(struct fake_qp *qp);

/* Wait until the engine is idle and end it. */
void fake_engine_stop(void);

/* Copy without a call that a race detector knows. */
void fake_copy(void *to, const void *from, size_t size_bytes);

#endif
