// SPDX-License-Identifier: BSD-2-Clause
/* Protection domains, memory regions, memory windows, and mappings. */
#ifndef SOFT_MR_H
#define SOFT_MR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "soft/state/core.h"
#include "soft/state/qp.h"

struct soft_pd {
	struct ibv_pd base;
	_Atomic uint32_t users; /* objects on it */
};

struct soft_mr {
	struct ibv_mr base;
	uint32_t place; /* in segment->mr[] */
	uint32_t access;
	int file_fd; /* for peers, or -1 */
	uint64_t file_offset;
	_Atomic uint32_t windows; /* bound to it */
};

static inline struct soft_pd *soft_pd(struct ibv_pd *pd)
{
	return (struct soft_pd *)pd;
}

/* mr.c */
struct soft_mw {
	struct ibv_mw base;
	uint32_t place;
	struct soft_mr *mr; /* bound to, or NULL */
	uint32_t qpn;       /* type 2: queue pair it is bound through */
};

struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_dealloc_mw(struct ibv_mw *mw);
/* Under qp->lock. Returns 0 or an errno value. */
int soft_mw_bind(struct soft_qp *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info);
/* Returns false if a peer or work request may not invalidate the key. */
bool soft_mw_invalidate(struct soft_core *core, uint32_t key, uint32_t pd, uint32_t qpn);

/* backing.c */

/*
 * Returns 0 if [addr, addr + length) can be registered with these rights, otherwise an errno value.
 * *fd becomes a reference to a descriptor of the one file behind it, if peers can open it and get
 * rights, otherwise -1. *offset is that of addr in the file.
 */
int soft_backing_find(const void *addr, size_t length, unsigned int access, int *fd, uint64_t *offset);
void soft_backing_put(int fd);
/* In a forked child: makes the lock anew. */
void soft_backing_forked(void);

/* backing.c */
struct soft_vma {
	uint64_t start, end;
	uint64_t offset; /* of start in its file */
	dev_t dev;
	uint64_t inode; /* 0: no file */
	bool readable, writable, shared;
	char path[256];
};

/* Finds the mapping at `addr`. Returns 0, ENOENT if there is none, or another errno value. */
int soft_procmap(uint64_t addr, struct soft_vma *vma);
/* In a forked child: makes the lock anew. */
void soft_procmap_forked(void);

#endif
