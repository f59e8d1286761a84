// SPDX-License-Identifier: BSD-2-Clause
/*
 * device.h - the RDMA device of a job, and what it can do
 *
 * The device is found by asking rdma_cm which local addresses have one: an identifier that could be
 * bound to an address has its device's context. The identifier that found it becomes the job's
 * listener.
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
 * How a flag is kept behind the data that was posted before it on the same queue pair: a property
 * of the device. FLAG_WRITE: a plain write follows, right where RC places write after write (rxe,
 * mlx5, softverbs). FLAG_ATOMIC: a fetch-and-add, which the specification orders behind writes.
 * FLAG_WAIT: the data's completions first; right everywhere.
 */
enum flag_mode { FLAG_WRITE, FLAG_ATOMIC, FLAG_WAIT };

/*
 * With what the device's atomics are atomic: with nothing (it has none), with those of its own requests
 * (of one HCA), or with the processor's atomics too. ORIEL_ATOMICS says who shall do atomics: "cpu" takes
 * a device that cannot do them with the processor for one that has none, "device" one that can for one
 * that cannot.
 */
enum atomic_level { ATOMICS_NONE, ATOMICS_HCA, ATOMICS_GLOB };
enum atomics_by { ATOMICS_AS_TOLD, ATOMICS_BY_CPU, ATOMICS_BY_DEVICE }; /* ORIEL_ATOMICS */

/*
 * Behind writes whose completion has been seen, a processor's store elsewhere can overtake them where
 * the device acknowledges data before it is placed (ack_placed says that it does not). In a job that
 * also has a device whose flags are such stores, what a fence or flush waits for is then the completion
 * of a read behind the writes, which brings them to memory first (read_behind).
 */
struct device {
	uint32_t index;                          /* among the job's devices */
	const struct verbs_functions *functions; /* what serves it */
	struct verbs_direct direct;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener; /* bound to addr; its port is the one others connect to */
	struct ibv_context *verbs;   /* borrowed from librdmacm */
	struct ibv_pd *pd;
	struct ibv_mr *any[2];  /* all of this process's memory, to be read and to be written; NULL: see device_any_lkey */
	struct mr_cache *cache; /* registrations of origins that outlive their epoch; NULL: none do */
	struct wakeup *wakeup;  /* NULL: nobody wakes this process by it */
	struct sockaddr_storage addr;           /* with port 0: the source address of our own connections */
	char addr_text[DEVICE_ADDR_TEXT_BYTES]; /* "10.0.0.1 18515": what other ranks are given */
	uint32_t send_depth;                    /* work requests a send queue is made for */
	uint8_t reads_in_flight;                /* RDMA READs and atomics outstanding on a queue pair */
	uint64_t max_message_bytes;
	enum flag_mode flag_mode;
	enum atomic_level atomics;      /* as it is to be used */
	enum atomic_level atomics_told; /* as the device tells it */
	enum atomics_by atomics_by;
	bool ack_placed;
	bool fence_stalls; /* a request with IBV_SEND_FENCE may stay where it is */
	bool places_twice; /* what a write has placed may be placed once more, until the next on its queue pair */
	bool read_behind;  /* set by whoever opens the job's devices */
};

/* One local address as device_scan sees it. */
struct device_candidate {
	const char *interface;
	const char *addr;      /* numeric */
	const char *device;    /* verbs device, or NULL */
	const char *why_not;   /* why it would not be taken, or NULL for the one that would */
	int error;             /* errno value of the attempt to bind, or 0 */
	struct rdma_cm_id *id; /* bound, or NULL; the callback may keep it by returning true */
};

/*
 * Call `visit` for each local address in the order of preference: not loopback first. Stops when
 * visit returns true, which also means that it has kept candidate->id. The channel is one of
 * `functions`; wanted_device and wanted_addr may be NULL or "".
 */
void device_scan(const struct verbs_functions *functions, struct rdma_event_channel *channel, const char *wanted_device,
                 const char *wanted_addr, bool (*visit)(void *arg, const struct device_candidate *candidate),
                 void *arg);

/*
 * Open the device for a job and start listening. ERRORS: ORIEL_ERR_DEVICE with what was looked for,
 * ORIEL_ERR_MEMORY.
 */
int device_open(struct device *device, const struct verbs_functions *functions, const char *wanted_device,
                const char *wanted_addr, size_t max_message_bytes);

/* Undo device_open. All queue pairs and memory regions must be gone. */
void device_close(struct device *device);

/*
 * Register memory; NULL with the error text set (need, limit, remedy) on failure. access is as for
 * ibv_reg_mr; a device without atomics is not asked for them. Where memory is short, what is kept and
 * idle is given back first (mr_cache.h); the caller does not hold a lock of that.
 */
struct ibv_mr *device_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

/* The same without a text; errno says why not. */
struct ibv_mr *device_try_register(const struct device *device, void *base, size_t size_bytes, unsigned access);

void device_deregister(const struct device *device, struct ibv_mr *mr);

/*
 * The key of all memory that this process has now or will have, for origins that the device only reads,
 * or also writes; 0 where it has none: the device cannot do without memory that was prepared. Nothing
 * is kept of where the program's memory lies, so nothing becomes stale when it is mapped anew.
 */
static inline uint32_t device_any_lkey(const struct device *device, bool written)
{
	const struct ibv_mr *mr = device->any[written];

	return mr ? mr->lkey : 0;
}

/* Its name, as verbs tells it. */
const char *device_name(const struct device *device);

/*
 * Whether it is one that maps peers' memory: it also needs this process to make progress, to place
 * what arrives in memory that it cannot map.
 */
static inline bool device_maps_memory(const struct device *device)
{
	return device->direct.lend;
}

#endif
