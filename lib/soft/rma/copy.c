// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies bytes within this process's mappings, and into or out of another process.
 *
 * DESIGN NOTES
 *
 * Programs poll the last word of a write, and then read the rest. One system call has no fence
 * between its bytes. If stores may become visible in another order (SOFT_STORES_IN_ORDER is false),
 * the last word takes a call of its own, after a fence. On x86, too, the stores of one string
 * instruction may be reordered, and the kernel copies each range by one; those of two are in order
 * (Intel's manual, volume 3, "String Operations"). So the last word is a range of its own.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "soft/base/base.h"
#include "soft/mem/key.h"
#include "soft/rma/copy.h"
#include "soft/state/qp.h"

enum {
	VM_RANGES = SOFT_MAX_SGE,
};

bool soft_ranges(const struct soft_qp *qp, const struct ibv_sge *sge, uint32_t n, uint32_t access, struct iovec *iov)
{
	for (uint32_t i = 0; i < n; i++) {
		iov[i].iov_len = sge[i].length;
		iov[i].iov_base = NULL;
		if (sge[i].length == 0)
			continue;
		iov[i].iov_base = soft_key_local(sge[i].lkey, qp->ex.qp_base.pd->handle, sge[i].addr, sge[i].length, access);
		if (!iov[i].iov_base)
			return false;
	}
	return true;
}

bool soft_posted_ranges(const struct soft_qp *qp, const struct ibv_send_wr *wr, uint64_t length, struct iovec *iov)
{
	if (wr->send_flags & IBV_SEND_INLINE) {
		for (int i = 0; i < wr->num_sge; i++) {
			iov[i].iov_base = (void *)(uintptr_t)wr->sg_list[i].addr;
			iov[i].iov_len = wr->sg_list[i].length;
		}
		return length <= qp->attr.cap.max_inline_data;
	}
	return soft_ranges(qp, wr->sg_list, (uint32_t)wr->num_sge,
	                   wr->opcode == IBV_WR_RDMA_WRITE ? 0 : IBV_ACCESS_LOCAL_WRITE, iov);
}

bool soft_gather(const struct soft_qp *qp, const struct soft_wqe *wqe, uint32_t access, struct iovec *iov)
{
	if (wqe->flags & IBV_SEND_INLINE) {
		iov[0].iov_base = (void *)(uintptr_t)wqe->sge;
		iov[0].iov_len = wqe->length;
		return true;
	}
	return soft_ranges(qp, wqe->sge, wqe->nsge, access, iov);
}

/*
 * Returns how many bytes of a range follow the first *skip bytes, at most `left`. Subtracts the
 * range's skipped bytes from *skip.
 */
static size_t part_of(const struct iovec *range, uint64_t *skip, size_t left)
{
	size_t part;

	if (*skip >= range->iov_len) {
		*skip -= range->iov_len;
		return 0;
	}
	part = range->iov_len - (size_t)*skip;
	return part < left ? part : left;
}

enum direction {
	FROM_RANGES,
	TO_RANGES,
};

static inline void copy(const struct iovec *iov, uint32_t n, uint64_t skip, struct iovec flat, enum direction direction)
{
	for (uint32_t i = 0; i < n && flat.iov_len > 0; i++) {
		size_t part = part_of(&iov[i], &skip, flat.iov_len);
		uint8_t *range = (uint8_t *)iov[i].iov_base + skip;

		if (part == 0)
			continue;
		if (direction == TO_RANGES)
			soft_copy(range, flat.iov_base, part);
		else
			soft_copy(flat.iov_base, range, part);
		flat.iov_base = (uint8_t *)flat.iov_base + part;
		flat.iov_len -= part;
		skip = 0;
	}
}

void soft_copy_out(void *to, const struct iovec *iov, uint32_t n, uint64_t skip, size_t length)
{
	copy(iov, n, skip, (struct iovec){ to, length }, FROM_RANGES);
}

void soft_copy_in(const struct iovec *iov, uint32_t n, const void *from, uint64_t skip, size_t length)
{
	copy(iov, n, skip, (struct iovec){ (void *)(uintptr_t)from, length }, TO_RANGES);
}

typedef ssize_t vm_fn(pid_t pid, const struct iovec *here, unsigned long nhere, const struct iovec *there,
                      unsigned long nthere, unsigned long flags);

static void advance(struct iovec **iov, uint32_t *n, size_t done)
{
	while (*n > 0 && done >= (*iov)->iov_len) {
		done -= (*iov)->iov_len;
		++*iov;
		--*n;
	}
	if (*n > 0) {
		(*iov)->iov_base = (uint8_t *)(*iov)->iov_base + done;
		(*iov)->iov_len -= done;
	}
}

uint32_t soft_last_apart(struct iovec *iov, uint32_t n, uint64_t length)
{
	size_t last = soft_last_bytes(length);

	while (n > 0 && iov[n - 1].iov_len == 0)
		n--;
	if (n == 0 || iov[n - 1].iov_len <= last)
		return n;
	iov[n - 1].iov_len -= last;
	iov[n] = (struct iovec){ (uint8_t *)iov[n - 1].iov_base + iov[n - 1].iov_len, last };
	return n + 1;
}

struct rest {
	struct iovec ranges[VM_RANGES + 1], *here; /* soft_last_apart makes one more */
	uint32_t n;
	uint64_t raddr;
};

static void rest_init(struct rest *rest, uint64_t raddr, const struct iovec *iov, uint32_t n)
{
	memcpy(rest->ranges, iov, n * sizeof(*iov));
	rest->here = rest->ranges;
	rest->n = n;
	rest->raddr = raddr;
}

/* One call moves at most 2 GiB less a page, and may stop at any page. */
static int vm_move(vm_fn *fn, pid_t pid, struct rest *rest, uint64_t length)
{
	while (length > 0 && rest->n > 0) {
		struct iovec there = { .iov_base = (void *)(uintptr_t)rest->raddr, .iov_len = length };
		ssize_t moved = fn(pid, rest->here, rest->n, &there, 1, 0);

		if (moved < 0)
			return errno;
		if (moved == 0)
			return EFAULT;
		rest->raddr += (uint64_t)moved;
		length -= (uint64_t)moved;
		advance(&rest->here, &rest->n, (size_t)moved);
	}
	return length ? EFAULT : 0;
}

/* Moves bytes into memory that a thread may poll. */
static int vm_place(vm_fn *fn, pid_t pid, struct iovec there, const struct iovec *iov, uint32_t n)
{
	uint64_t last = SOFT_STORES_IN_ORDER ? 0 : soft_last_bytes(there.iov_len);
	struct rest rest;
	int err;

	rest_init(&rest, (uintptr_t)there.iov_base, iov, n);
	if (SOFT_STORES_IN_ORDER)
		rest.n = soft_last_apart(rest.ranges, n, there.iov_len);
	err = vm_move(fn, pid, &rest, there.iov_len - last);
	atomic_thread_fence(memory_order_acq_rel);
	if (err || last == 0)
		return err;
	err = vm_move(fn, pid, &rest, last);
	atomic_thread_fence(memory_order_acq_rel);
	return err;
}

int soft_vm_write(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length)
{
	return vm_place(process_vm_writev, pid, (struct iovec){ (void *)(uintptr_t)raddr, length }, iov, n);
}

uint64_t soft_vm_readv(pid_t pid, const struct iovec *here, uint32_t n, const struct iovec *there, uint32_t nthere)
{
	ssize_t moved = process_vm_readv(pid, here, n, there, nthere, 0);

	atomic_thread_fence(memory_order_acquire);
	return moved < 0 ? 0 : (uint64_t)moved;
}

uint64_t soft_vm_writev(pid_t pid, const struct iovec *here, uint32_t n, const struct iovec *there, uint32_t nthere)
{
	ssize_t moved = process_vm_writev(pid, here, n, there, nthere, 0);

	return moved < 0 ? 0 : (uint64_t)moved;
}

int soft_vm_read(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length)
{
	struct rest rest;
	int err;

	rest_init(&rest, raddr, iov, n);
	err = vm_move(process_vm_readv, pid, &rest, length);
	atomic_thread_fence(memory_order_acquire);
	return err;
}

/* Stores a part of the ranges, from `skip` bytes on, in `out`. Returns their number. */
static uint32_t slice(const struct iovec *iov, uint32_t n, uint64_t skip, uint64_t length, struct iovec *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n && length > 0; i++) {
		size_t part = part_of(&iov[i], &skip, (size_t)length);

		if (part == 0)
			continue;
		out[count].iov_base = (uint8_t *)iov[i].iov_base + skip;
		out[count++].iov_len = part;
		length -= part;
		skip = 0;
	}
	return count;
}

int soft_vm_fetch(pid_t pid, struct iovec there, const struct iovec *here, uint32_t n, uint64_t skip)
{
	struct iovec part[VM_RANGES];
	uint32_t parts = slice(here, n, skip, there.iov_len, part);

	return vm_place(process_vm_readv, pid, there, part, parts);
}

uint64_t soft_atomic(uint32_t opcode, uint64_t *word, uint64_t compare_add, uint64_t swap)
{
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		compare_add = __atomic_fetch_add(word, compare_add, __ATOMIC_SEQ_CST);
	else
		/* On failure the builtin stores the old value; on success that is compare_add. */
		__atomic_compare_exchange_n(word, &compare_add, swap, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	/* A later store may overtake the store of an atomic that takes several instructions. */
	atomic_thread_fence(memory_order_acq_rel);
	return compare_add;
}
