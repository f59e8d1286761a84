// SPDX-License-Identifier: BSD-2-Clause
/*
 * device.h - the RDMA device of a job, and its properties
 *
 * rdma_cm finds the device: an identifier that can be bound to a local address has its device's
 * context. That identifier becomes the job's listener.
 */
#ifndef ORIEL_DEVICE_H
#define ORIEL_DEVICE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "verbs/functions.h"
#include "verbs/wakeup.h"

struct oriel_options;
struct boot;
struct mr_cache;

#define DEVICE_ADDR_TEXT_BYTES 64
#define DEVICE_BACKLOG 1024
#define DEVICES_MAX 2 /* of a job */

/*
 * How a flag stays behind earlier data on the same queue pair: a property of the device.
 * FLAG_WRITE: a plain write follows, correct if RC keeps writes in order (rxe, mlx5, softverbs).
 * FLAG_ATOMIC: a fetch-and-add, which the specification orders behind writes. FLAG_WAIT: the data's
 * completions come first; correct everywhere.
 */
enum flag_mode { FLAG_WRITE, FLAG_ATOMIC, FLAG_WAIT };

/*
 * The device's atomics are atomic with nothing (it has none), with those of its own requests (of
 * one HCA), or with the processor's too. ORIEL_ATOMICS "cpu" treats a device that is not atomic
 * with the processor as one without atomics, "device" treats one that is as one that is not.
 */
enum atomic_level { ATOMICS_NONE, ATOMICS_HCA, ATOMICS_GLOB };
enum atomics_by { ATOMICS_AS_TOLD, ATOMICS_BY_CPU, ATOMICS_BY_DEVICE }; /* ORIEL_ATOMICS */

/*
 * A processor's store elsewhere can overtake writes whose completion has been seen, if the device
 * acknowledges data before it is placed (ack_placed: it does not). If the job also has a device
 * whose flags are such stores, a fence or flush waits for the completion of a read behind the
 * writes, which brings them to memory first (read_behind).
 */
struct device {
	uint32_t index; /* among the job's devices */
	const struct verbs_functions *functions;
	struct verbs_direct direct;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* bound to addr; other ranks connect to its port */
	struct ibv_context *verbs;   /* borrowed from librdmacm */
	struct ibv_pd *pd;
	struct ibv_mr *any[2];  /* all of this process's memory, to be read and to be written; NULL: see device_any_lkey */
	struct mr_cache *cache; /* registrations of origins that outlive their epoch; NULL: none */
	struct wakeup *wakeup;  /* NULL: it does not wake this process */
	struct sockaddr_storage addr;           /* with port 0: the source address of our own connections */
	char addr_text[DEVICE_ADDR_TEXT_BYTES]; /* "10.0.0.1 18515": for other ranks */
	uint32_t send_depth;                    /* work requests that a send queue holds */
	uint8_t reads_in_flight;                /* RDMA READs and atomics outstanding on a queue pair */
	uint64_t max_message_bytes;
	enum flag_mode flag_mode;
	enum atomic_level atomics;      /* as used */
	enum atomic_level atomics_told; /* as the device reports */
	enum atomics_by atomics_by;
	bool ack_placed;
	bool fence_stalls; /* a request with IBV_SEND_FENCE may stall */
	bool places_twice; /* a write may be placed once more, until the next on its queue pair */
	bool read_behind;  /* set by providers_open */
};

/* The device and the local address that a user asks for; NULL or "": any. */
struct device_wish {
	const char *device;
	const char *addr;
};

/* One local address as device_scan sees it. */
struct device_candidate {
	const char *interface;
	const char *addr;      /* numeric */
	const char *device;    /* verbs device, or NULL */
	const char *why_not;   /* why it would not be taken; NULL: it would */
	int error;             /* errno value of the attempt to bind, or 0 */
	struct rdma_cm_id *id; /* bound, or NULL; the callback may keep it by returning true */
};

typedef bool device_visit(void *arg, const struct device_candidate *candidate);

/*
 * Calls `visit` for each local address in the order of preference, loopback last. Stops when visit
 * returns true, which also means that it keeps candidate->id. The channel is one of `functions`.
 */
void device_scan(const struct verbs_functions *functions, struct rdma_event_channel *channel, struct device_wish wish,
                 device_visit *visit, void *arg);

/*
 * Opens the device for a job and starts listening. ERRORS: ORIEL_ERR_DEVICE with what was looked
 * for, ORIEL_ERR_MEMORY.
 */
int device_open(struct device *device, const struct verbs_functions *functions, const char *wanted_device,
                const char *wanted_addr, size_t max_message_bytes);

/* Undoes device_open. All queue pairs and memory regions must be gone. */
void device_close(struct device *device);

/*
 * Registers memory; NULL on failure, with the error text set (need, limit, remedy). access is as
 * for ibv_reg_mr, without atomics if the device has none. If memory is short, idle registrations
 * are given back first (mr_cache.h); the caller holds no lock of that cache.
 */
struct ibv_mr *device_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

/* Registers memory like device_register, without a text; errno says why not. */
struct ibv_mr *device_try_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

void device_deregister(const struct device *device, struct ibv_mr *mr);

/*
 * Returns the key of all present and future memory of this process, for origins that the device
 * only reads, or also writes; 0 if the device needs registered memory. Nothing becomes stale when
 * the program's memory is mapped anew.
 */
static inline uint32_t device_any_lkey(const struct device *device, bool written)
{
	const struct ibv_mr *mr = device->any[written];

	return mr ? mr->lkey : 0;
}

const char *device_name(const struct device *device);

/*
 * Returns whether the device maps peers' memory. It then also needs this process to make progress,
 * to place what arrives in memory that it cannot map.
 */
static inline bool device_maps_memory(const struct device *device)
{
	return device->direct.lend;
}

#endif
