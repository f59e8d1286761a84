// SPDX-License-Identifier: BSD-2-Clause
/*
 * What softverbs offers beyond verbs: a peer's registered memory, mapped for the program to load
 * and store itself. A program that has to run on any device does not link these, but looks for them
 * by name (dlsym); including this is what makes the compiler check that both sides mean the same.
 */
#ifndef SOFT_EXTENSION_H
#define SOFT_EXTENSION_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A peer's region: its bytes [addr, addr + size_bytes), as keys name them, are at `here` in this
 * process.
 */
struct softverbs_lent {
	uint64_t addr;
	size_t size_bytes;
	void *here;
};

typedef int softverbs_lend_fn(struct ibv_qp *qp, uint32_t rkey, unsigned int access, struct softverbs_lent *lent);
typedef void softverbs_give_back_fn(const struct softverbs_lent *lent);

/*
 * Map the region behind a key that grants `access` (IBV_ACCESS_REMOTE_WRITE,
 * IBV_ACCESS_REMOTE_READ) to this queue pair, which is in RTS. 0 and *lent, or an errno value where
 * that cannot be: then verbs is the way. Each success is given back once, with the same addresses.
 */
__attribute__((visibility("default"))) softverbs_lend_fn softverbs_lend;
__attribute__((visibility("default"))) softverbs_give_back_fn softverbs_give_back;

#endif
