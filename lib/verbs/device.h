// SPDX-License-Identifier: BSD-2-Clause
/*
 * device.h - the RDMA device of a job, and its properties
 *
 * An rdma_cm identifier bound to a local address gives the device, and becomes the job's listener.
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
 * How a flag stays behind earlier data on its queue pair. FLAG_WRITE: a plain write follows, if RC
 * keeps writes in order. FLAG_ATOMIC: a fetch-and-add, which the specification orders behind
 * writes. FLAG_WAIT: the data's completions come first; correct everywhere.
 */
enum flag_mode { FLAG_WRITE, FLAG_ATOMIC, FLAG_WAIT };

/*
 * The device's atomics are atomic with nothing (it has none), with its own (one HCA's), or with the
 * processor's too. ORIEL_ATOMICS "cpu" uses no atomics of a device below GLOB; "device" uses GLOB
 * as HCA.
 */
enum atomic_level { ATOMICS_NONE, ATOMICS_HCA, ATOMICS_GLOB };
enum atomics_by { ATOMICS_AS_REPORTED, ATOMICS_BY_CPU, ATOMICS_BY_DEVICE }; /* ORIEL_ATOMICS */

/*
 * A later store of a processor overtakes data that a device acknowledges before it is placed (not
 * ack_placed). If another device of the job writes flags by such stores, a fence or flush waits for
 * a read behind the writes (read_behind).
 */
struct device {
	uint32_t index; /* among the job's devices */
	const struct verbs_functions *functions;
	struct verbs_direct direct;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* bound to addr */
	struct ibv_context *verbs;   /* borrowed from librdmacm */
	struct ibv_pd *pd;
	struct ibv_mr *any[2];                  /* of all memory, to be read and to be written; NULL: none */
	struct mr_cache *cache;                 /* NULL: registrations end with their epoch */
	struct wakeup *wakeup;                  /* NULL: it does not wake this process */
	struct sockaddr_storage addr;           /* with port 0: the source of our own connections */
	char addr_text[DEVICE_ADDR_TEXT_BYTES]; /* "10.0.0.1 18515": for other ranks */
	uint32_t send_depth;                    /* work requests */
	uint8_t reads_in_flight;                /* with atomics, on a queue pair */
	uint64_t max_message_bytes;
	enum flag_mode flag_mode;
	enum atomic_level atomics;          /* as used */
	enum atomic_level atomics_reported; /* as the device reports */
	enum atomics_by atomics_by;
	bool ack_placed;
	bool fence_stalls; /* a request with IBV_SEND_FENCE may stall */
	bool places_twice; /* a write may be placed again, until the next on its queue pair */
	bool read_behind;  /* set by providers_open */
};

/* A user's device and local address; NULL or "": any. */
struct device_wish {
	const char *device;
	const char *addr;
};

struct device_candidate {
	const char *interface;
	const char *addr;      /* numeric */
	const char *device;    /* verbs device, or NULL */
	const char *why_not;   /* NULL: it would be taken */
	int error;             /* errno value of the attempt to bind, or 0 */
	struct rdma_cm_id *id; /* bound, or NULL */
};

typedef bool device_visit(void *arg, const struct device_candidate *candidate);

/*
 * Calls `visit` for each local address, loopback last. Stops when visit returns true, and so keeps
 * candidate->id. The channel is one of `functions`.
 */
void device_scan(const struct verbs_functions *functions, struct rdma_event_channel *channel, struct device_wish wish,
                 device_visit *visit, void *arg);

/* Opens the job's device and starts listening. ERRORS: ORIEL_ERR_DEVICE, ORIEL_ERR_MEMORY. */
int device_open(struct device *device, const struct verbs_functions *functions, const char *wanted_device,
                const char *wanted_addr, size_t max_message_bytes);

/* Undoes device_open. All queue pairs and memory regions must be gone. */
void device_close(struct device *device);

/*
 * Registers memory; NULL on failure, with the error text set. access is as for ibv_reg_mr, without
 * atomics if the device has none. If memory is short, drops idle registrations first (mr_cache.h);
 * the caller holds no lock of that cache.
 */
struct ibv_mr *device_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

/* Registers without a text; errno says why not. */
struct ibv_mr *device_try_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

void device_deregister(const struct device *device, struct ibv_mr *mr);

/*
 * Returns the key of all present and future memory of this process, for origins that the device
 * only reads, or also writes; 0 if it needs registered memory.
 */
static inline uint32_t device_any_lkey(const struct device *device, bool written)
{
	const struct ibv_mr *mr = device->any[written];

	return mr ? mr->lkey : 0;
}

const char *device_name(const struct device *device);

/*
 * Returns whether the device maps peers' memory. Where it cannot, it needs this process's progress
 * to place what arrives.
 */
static inline bool device_maps_memory(const struct device *device)
{
	return device->direct.map;
}

#endif
