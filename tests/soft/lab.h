// SPDX-License-Identifier: BSD-2-Clause
/*
 * The bench of the conformance suite: two connected queue pairs in one process, and a runner that
 * gives every case a process of its own. Written against the InfiniBand specification and the man
 * pages only; runs on any device that has such queue pairs.
 */
#ifndef SOFT_LAB_H
#define SOFT_LAB_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

enum lab_verdict {
	LAB_PASSED,
	LAB_FAILED,
	LAB_UNSUPPORTED,
	LAB_LATE, /* something took longer than it may: the case is repeated, in case that it got no processor, and then fails */
};

struct lab_case {
	const char *name;
	enum lab_verdict (*run)(void);
	const char *source; /* what decides: specification or man page */
};

/* Run the cases whose names contain argv[1]; exit status: 1 if one failed. */
int lab_main(int argc, char **argv, const struct lab_case *cases, int n);

/* Say why and fail the case. */
enum lab_verdict lab_failed(const char *file, int line, const char *what);
#define CHECK(condition)                                       \
	do {                                                       \
		if (!(condition))                                      \
			return lab_failed(__FILE__, __LINE__, #condition); \
	} while (0)

enum {
	LAB_BUFFER = 65536,
	LAB_DEPTH = 16,
	LAB_CQE = 256,
	LAB_INLINE = 64,
};

struct lab_side {
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buffer;
};

struct lab {
	struct ibv_context *ctx;
	struct ibv_comp_channel *channel;
	int gid_index; /* -1: none needed */
	union ibv_gid gid;
	uint16_t lid;
	struct lab_side a, b;
};

/* What a case wants to be different. */
struct lab_options {
	unsigned int qp_access, mr_access; /* of side b; 0: everything */
	bool srq;                          /* side b receives from a shared queue */
	bool sig_all;
	uint8_t rnr_retry, retry_cnt, min_rnr_timer;
	uint8_t timeout;       /* 4.096 us * 2^timeout; 0: 12 */
	uint8_t no_depth;      /* no read and atomic resources at b */
	int cqe;               /* of side a's send queue; 0: plenty */
	bool own_pds;          /* b's region on another domain than its queue pair */
	uint64_t send_ops;     /* side a: ibv_wr_* */
	enum ibv_qp_type type; /* 0: RC; or UC, which has no retries, and no reads and atomics */
	uint32_t depth;        /* of each queue; 0: LAB_DEPTH */
};

/* Exits with LAB_UNSUPPORTED where there is no device. */
struct ibv_context *lab_open(void);
void lab_setup(struct lab *lab, const struct lab_options *options);
/* The steps of lab_setup, for cases about them; 0 or an errno value. */
int lab_init(struct lab *lab, struct ibv_qp *qp, unsigned int access);
int lab_rtr(struct lab *lab, struct ibv_qp *qp, uint32_t peer, const struct lab_options *options);
int lab_rts(struct ibv_qp *qp, const struct lab_options *options);
struct ibv_qp *lab_qp(struct lab_side *side, const struct lab_options *options);

/* a posts an operation on b's buffer. 0 or an errno value. */
int lab_rdma(struct lab *lab, enum ibv_wr_opcode op, uint64_t at, uint64_t remote_at, uint32_t length,
             unsigned int flags);
int lab_post(struct ibv_qp *qp, struct ibv_send_wr *wr);
int lab_recv(struct lab_side *side, uint64_t wr_id, uint64_t at, uint32_t length);
/* Poll for one completion, two seconds at most; status -1 if none came. */
struct ibv_wc lab_wait(struct ibv_cq *cq);
/* a sends 64 bytes and an immediate by that operation; b gets a completion of the expected kind. */
enum lab_verdict lab_with_immediate(struct lab *lab, enum ibv_wr_opcode op, enum ibv_wc_opcode expected);
/* The next asynchronous event, two seconds at most; -1 if none came. */
int lab_event(struct lab *lab);
enum ibv_qp_state lab_state(struct ibv_qp *qp);

#endif
