// SPDX-License-Identifier: BSD-2-Clause
/*
 * fake_verbs.h - an RDMA device inside the test program
 *
 * DESIGN NOTES
 *
 * fake_verbs.c, fake_cm.c and fake_state.c define the ibv_ and rdma_ symbols that the library uses,
 * and are linked in place of libibverbs and librdmacm. Several jobs of one process are the ranks;
 * RDMA is a copy from memory to memory, done by the poster at once, or by an engine thread
 * (fake_config.engine). Each event channel has a context of its own, as if its job were a process.
 *
 * It is strict where a device is: keys, ranges, access rights, protection domains, queue depths,
 * inline limits, states. What no program may do (destroy a queue that is in use, wait for an event
 * never acknowledged, overflow a completion queue) is counted as misuse. Every object is counted,
 * so that a test can see that nothing is left.
 *
 * Faults: the n-th call that can fail fails; the n-th work request ends in error; the n-th
 * connection event is lost. Releasing calls do not fail here: what the caller could do then is
 * nothing.
 *
 * Locking: one spin lock that a race detector does not see, so that it does not hide races of the
 * library. For the same reason fake_verbs.c, fake_cm.c and fake_state.c are to be compiled without
 * -fsanitize=thread.
 */
#ifndef ORIEL_TESTS_FAKE_VERBS_H
#define ORIEL_TESTS_FAKE_VERBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_ADDR "10.9.0.1" /* the address that has a device; 127.0.0.1 and 10.9.0.2 have none */

/*
 * Properties of the device; may change between jobs only. fake_reset sets the values in brackets.
 * With IBV_ATOMIC_HCA a compare-and-swap that fails stores the old value again, as on some versions
 * of rxe.
 */
struct fake_config {
	const char *name;            /* ["fake0"] */
	uint32_t vendor_id;          /* [0x02c9]: writes are placed in order */
	uint32_t max_qp_wr;          /* [16384] */
	int max_cqe;                 /* [65536] they are not resized to more */
	uint32_t max_inline;         /* [220] more inline bytes are refused */
	uint8_t reads_in_flight;     /* [16] */
	uint32_t max_message_bytes;  /* [2^30] */
	enum ibv_atomic_cap atomics; /* [IBV_ATOMIC_GLOB] */
	bool engine;                 /* [false] requests are carried out by another thread, later */
	bool early_acks;             /* [false] writes of more than a word, and what follows them on their queue pair, are
	                               acknowledged, and placed with the next read or atomic there, or once this is off */
	bool engine_rests;           /* [false] the engine begins nothing for now */
	uint32_t late_polls;         /* [0] a completion is seen only at the poll after that many */
	bool hold_requests;          /* [false] connection requests wait for fake_release_requests */
	int late_answer_ms;          /* [0] a rank that fetches the answer to its connection request gets no processor for so long */
	int shortage;                /* [0] no more identifiers and queue pairs: this errno value */
	bool no_device;              /* [false] no address has a device */
	bool hides_from_forks;       /* [false] registered memory is hidden from children, as on old kernels */
	int regions_max;             /* [0: any number] regions there can be */
	const void *read_only;       /* [NULL] memory that cannot be registered for writing */
	size_t read_only_bytes;
};

extern struct fake_config fake_config;

/* Forget faults, counters and misuse; default configuration. Nothing may be alive. */
void fake_reset(void);

/* Faults; n counts from 1 and from the last fake_reset. 0: none. */
void fake_fail_call(uint64_t n);
void fake_fail_request(uint64_t n);
void fake_fail_allocation(uint64_t n); /* from this call on; of the library: malloc, calloc, realloc */
void fake_drop_event(uint64_t n);
void fake_drop_first(const char *event); /* of that name: "CONNECT_RESPONSE" */

/* The name of the call, opcode, or event that the fault has hit, or NULL if it was not reached. */
const char *fake_hit(void);

/* Connection requests that are deferred now; let them go. */
int fake_held_requests(void);
void fake_release_requests(void);

/*
 * Work requests carried out so far, lists of them posted, completions polled; queue pairs and
 * regions there are.
 */
uint64_t fake_requests(void);
uint64_t fake_posts(void);
uint64_t fake_completions(void);
int fake_queue_pairs(void);
int fake_regions(void);

/* Those carried out with that opcode, and those with IBV_SEND_FENCE. */
uint64_t fake_requests_of(enum ibv_wr_opcode opcode);
uint64_t fake_fences(void);

/* An asynchronous event at every context that is open; for queue pair events, about each queue pair. */
void fake_async(enum ibv_event_type type);

/* Objects alive, misuses: the number, and what they are as text of this call. */
int fake_alive(void);
int fake_misuses(void);
const char *fake_report(void);

/*
 * Store an aligned word so that a race detector sees it: a flag. In fake_boot.c, compiled like any
 * other file.
 */
void fake_place_word(void *to, uint64_t value);

/* The processor's atomics, which a detector sees too; what was there before. In fake_boot.c. */
uint64_t fake_add_to_word(void *to, uint64_t add);
uint64_t fake_swap_word(void *to, uint64_t compare, uint64_t swap);

/* One thread hands work to another: seen by a race detector too. In fake_boot.c. */
void fake_hand_over(uint64_t *token);
void fake_take_over(const uint64_t *token);

#endif
