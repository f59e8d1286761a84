// SPDX-License-Identifier: BSD-2-Clause
/*
 * softverbs_read_list: many RDMA READs of a peer's private memory that are complete when the call
 * returns.
 *
 * DESIGN NOTES
 *
 * A system call finds the peer and checks the right to access it once for all of its ranges. Each
 * piece is checked as if it came alone. In adversary mode all operations go by the queue.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "soft/base/adversary.h"
#include "soft/base/export.h"
#include "soft/base/lock.h"
#include "soft/extension.h"
#include "soft/peer/peer.h"
#include "soft/peer/pipe.h"
#include "soft/rma/copy.h"
#include "soft/rma/direct.h"
#include "soft/state/qp.h"

enum {
	RANGES = 64, /* of one system call */
};

struct ranges {
	uint32_t n;
	uint64_t bytes;
	struct iovec here[RANGES], there[RANGES];
};

/* Returns false if the peer or a system call does not allow the piece. The caller is busy. */
static bool add(struct soft_qp *qp, struct ranges *ranges, const struct softverbs_piece *piece)
{
	const struct soft_span span = { piece->addr, piece->size_bytes, piece->rkey };
	uint64_t there;

	if (!soft_direct_reaches(qp, span, IBV_ACCESS_REMOTE_READ, &there))
		return false;
	ranges->here[ranges->n] = (struct iovec){ piece->here, piece->size_bytes };
	ranges->there[ranges->n++] = (struct iovec){ (void *)(uintptr_t)there, piece->size_bytes };
	ranges->bytes += piece->size_bytes;
	return true;
}

/* Returns how many pieces one call has read, or 0 if it cannot. The caller is busy. */
static size_t read_some(struct soft_qp *qp, const struct softverbs_piece *pieces, size_t count)
{
	struct ranges ranges;

	ranges.n = 0;
	ranges.bytes = 0;
	for (size_t i = 0; i < count && ranges.n < RANGES; i++) {
		if (!add(qp, &ranges, &pieces[i]))
			return 0;
	}
	if (soft_vm_readv(qp->out->peer.pid, ranges.here, ranges.n, ranges.there, ranges.n) != ranges.bytes)
		return 0;
	return ranges.n;
}

/* Under qp->lock; the queue is empty. */
static bool read_all(struct soft_qp *qp, const struct softverbs_piece *pieces, size_t count)
{
	size_t done = 0, some = soft_direct_begin(qp, IBV_WR_RDMA_READ) ? 1 : 0;

	while (some > 0 && done < count) {
		some = read_some(qp, pieces + done, count - done);
		done += some;
	}
	soft_direct_end(qp);
	return some > 0;
}

SOFT_EXPORT bool softverbs_polls(struct ibv_qp *base)
{
	struct soft_qp *qp = soft_qp(base);
	bool polls;

	if (soft_adversary.on)
		return false;
	soft_lock(&qp->lock);
	polls = qp->out && soft_peer_spins(&qp->out->peer);
	soft_unlock(&qp->lock);
	return polls;
}

SOFT_EXPORT int softverbs_read_list(struct ibv_qp *base, const struct softverbs_piece *pieces, size_t count)
{
	struct soft_qp *qp = soft_qp(base);
	bool done;

	if (soft_adversary.on)
		return EOPNOTSUPP;
	soft_lock(&qp->lock);
	done = soft_qp_idle(qp) && qp->attr.max_rd_atomic && read_all(qp, pieces, count);
	soft_unlock(&qp->lock);
	return done ? 0 : EOPNOTSUPP;
}
