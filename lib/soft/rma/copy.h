// SPDX-License-Identifier: BSD-2-Clause
/* Moving bytes: within this process's mappings, and into or out of another process. */
#ifndef SOFT_COPY_H
#define SOFT_COPY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "soft/state/qp.h"

enum {
	SOFT_COPY_PIECE = 128 << 10, /* bytes */
	SOFT_COPY_WORDS = 64,        /* bytes: up to this size word by word */
};

/*
 * Whether a processor's stores become visible in program order: x86. That includes the stores of
 * two copies by the kernel, but not those of one (copy.c). Elsewhere stores have a fence in
 * between, and the bytes of one system call are not ordered.
 */
#ifndef SOFT_STORES_IN_ORDER
#if defined(__x86_64__) || defined(__i386__)
#define SOFT_STORES_IN_ORDER true
#else
#define SOFT_STORES_IN_ORDER false
#endif
#endif

/* Words of any alignment and type. */
typedef uint64_t __attribute__((aligned(1), may_alias)) soft_word64;
typedef uint32_t __attribute__((aligned(1), may_alias)) soft_word32;

/* Translates local ranges to pointers. Returns false for a protection error. */
bool soft_ranges(const struct soft_qp *qp, const struct ibv_sge *sge, uint32_t n, uint32_t access, struct iovec *iov);
/*
 * Does as soft_ranges for a work request that is being posted, whose inline data lie where the
 * caller has them. Returns false also for too much inline data.
 */
bool soft_posted_ranges(const struct soft_qp *qp, const struct ibv_send_wr *wr, uint64_t length, struct iovec *iov);
/* Does as soft_ranges for a work request in the queue. */
bool soft_gather(const struct soft_qp *qp, const struct soft_wqe *wqe, uint32_t access, struct iovec *iov);

/*
 * Copies few bytes as a NIC does: each word in one store, and each byte once. memcpy stores some
 * bytes twice, perhaps over what a polling thread has put there. Volatile, so that the compiler
 * does not make it memcpy again.
 */
static inline void soft_copy_words(uint8_t *to, const uint8_t *from, size_t length)
{
	for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t)) {
		*(volatile soft_word64 *)to = *(const soft_word64 *)from;
		to += sizeof(uint64_t);
		from += sizeof(uint64_t);
	}
	if (length >= sizeof(uint32_t)) {
		*(volatile soft_word32 *)to = *(const soft_word32 *)from;
		to += sizeof(uint32_t);
		from += sizeof(uint32_t);
		length -= sizeof(uint32_t);
	}
	for (; length > 0; length--)
		*(volatile uint8_t *)to++ = *from++;
}

/* Returns how many of `length` bytes are the last word or a part of it. */
static inline size_t soft_last_bytes(size_t length)
{
	size_t last = length % sizeof(uint64_t);

	return last == 0 && length > 0 ? sizeof(uint64_t) : last;
}

/*
 * Copies many bytes by memcpy, in pieces, since memcpy is slower for a megabyte. Stores the last
 * word, which programs poll, after all others.
 */
static inline void soft_copy(void *to, const void *from, size_t length)
{
	size_t last = soft_last_bytes(length), first = length - last;

	if (first <= SOFT_COPY_WORDS)
		soft_copy_words(to, from, first);
	else
		for (size_t done = 0; done < first; done += SOFT_COPY_PIECE)
			memcpy((uint8_t *)to + done, (const uint8_t *)from + done,
			       first - done < SOFT_COPY_PIECE ? first - done : SOFT_COPY_PIECE);
	atomic_thread_fence(memory_order_release);
	soft_copy_words((uint8_t *)to + first, (const uint8_t *)from + first, last);
}

/* Copy between local ranges, from `skip` bytes on, and contiguous memory. */
void soft_copy_out(void *to, const struct iovec *iov, uint32_t n, uint64_t skip, size_t length);
void soft_copy_in(const struct iovec *iov, uint32_t n, const void *from, uint64_t skip, size_t length);

/*
 * Copy between local ranges and contiguous memory of another process, in the order of soft_copy.
 * Return 0 or an errno value. Later stores and loads of this thread come after, as with all
 * functions here.
 */
int soft_vm_write(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length);
int soft_vm_read(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length);
/*
 * Makes the last word a range of its own. Returns the number of ranges; the array has room for one
 * more.
 */
uint32_t soft_last_apart(struct iovec *iov, uint32_t n, uint64_t length);
/* Copies ranges of the other process to as many local bytes. Returns how many were moved. */
uint64_t soft_vm_readv(pid_t pid, const struct iovec *here, uint32_t n, const struct iovec *there, uint32_t nthere);
/*
 * Copies local ranges to as many bytes of the other process, in order; only if
 * SOFT_STORES_IN_ORDER. Returns how many were moved.
 */
uint64_t soft_vm_writev(pid_t pid, const struct iovec *here, uint32_t n, const struct iovec *there, uint32_t nthere);
/* Copies a remote range to local ones, from `skip` on. Returns 0 or an errno value. */
int soft_vm_fetch(pid_t pid, struct iovec there, const struct iovec *here, uint32_t n, uint64_t skip);

/* Returns the old value. Later loads and stores come after. */
uint64_t soft_atomic(uint32_t opcode, uint64_t *word, uint64_t compare_add, uint64_t swap);

#endif
