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

#include "soft/verbs/qp.h"

enum {
	SOFT_COPY_PIECE = 128 << 10, /* bytes */
	SOFT_COPY_WORDS = 64,        /* bytes: up to here word by word */
};

/*
 * Whether the stores of a processor are seen in the order in which it makes them, those of two copies of the kernel's among
 * them, but not of one (copy.c): x86. Elsewhere a fence stands between two whose order matters, and what one
 * system call moves has none.
 */
#ifndef SOFT_STORES_IN_ORDER
#if defined(__x86_64__) || defined(__i386__)
#define SOFT_STORES_IN_ORDER true
#else
#define SOFT_STORES_IN_ORDER false
#endif
#endif

/* Words that may lie anywhere and belong to anything. */
typedef uint64_t __attribute__((aligned(1), may_alias)) soft_word64;
typedef uint32_t __attribute__((aligned(1), may_alias)) soft_word32;

/* Local ranges turned into pointers; false: protection error. */
bool soft_ranges(const struct soft_qp *qp, const struct ibv_sge *sge, uint32_t n, uint32_t access, struct iovec *iov);
/* The same for one of `length` bytes that is being posted: inline data is where the caller has it. false also: too much of that. */
bool soft_posted_ranges(const struct soft_qp *qp, const struct ibv_send_wr *wr, uint64_t length, struct iovec *iov);
/* The same for a work request in the queue, whose data may be inline. */
bool soft_gather(const struct soft_qp *qp, const struct soft_wqe *wqe, uint32_t access, struct iovec *iov);

/*
 * Few bytes, as a NIC places them: words in one piece, and each byte once. memcpy stores some twice, of 16 bytes all:
 * who sees them and puts something else in their place would find it overwritten. Volatile, or the compiler would make
 * it memcpy again.
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

/* Of so many bytes, how many are the last word, or what there is of one. */
static inline size_t soft_last_bytes(size_t length)
{
	size_t last = length % sizeof(uint64_t);

	return last == 0 && length > 0 ? sizeof(uint64_t) : last;
}

/*
 * Many bytes are memcpy's business, in pieces: of a megabyte it takes another way, which is 15 % slower between two
 * caches. The last ones come behind all others: programs look at these, and then have it all.
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

/* Copy between our ranges, starting `skip` bytes in, and contiguous memory. */
void soft_copy_out(void *to, const struct iovec *iov, uint32_t n, uint64_t skip, size_t length);
void soft_copy_in(const struct iovec *iov, uint32_t n, const void *from, uint64_t skip, size_t length);

/*
 * Between our ranges and contiguous memory of another process; 0 or an errno value. What is written comes in the order of
 * soft_copy, and all that this thread writes or reads afterwards behind it, as with the others here.
 */
int soft_vm_write(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length);
int soft_vm_read(pid_t pid, uint64_t raddr, const struct iovec *iov, uint32_t n, uint64_t length);
/*
 * The last word of so many bytes becomes a range of its own, if it is none yet; how many there are then. There is room
 * for one more.
 */
uint32_t soft_last_apart(struct iovec *iov, uint32_t n, uint64_t length);
/* From ranges here to as many bytes in ranges there, in order: where SOFT_STORES_IN_ORDER. How many have been moved. */
uint64_t soft_vm_writev(pid_t pid, const struct iovec *here, uint32_t n, const struct iovec *there, uint32_t nthere);
/* From several ranges there to several here, starting `skip` bytes in; 0 or an errno value. */
int soft_vm_fetch(pid_t pid, const struct iovec *there, uint32_t nthere, const struct iovec *here, uint32_t nhere,
                  uint64_t skip);

/* Carry out an atomic; what was there before. What is read or written afterwards comes behind it. */
uint64_t soft_atomic(uint32_t opcode, uint64_t *word, uint64_t compare_add, uint64_t swap);

#endif
