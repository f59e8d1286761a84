// SPDX-License-Identifier: BSD-2-Clause
/* fake_state.c - faults, counters and misuse of the fake device; see fake_verbs.h. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fake_internal.h"

/* One sort of fault: the n-th of something. */
struct fault {
	uint64_t seen;
	uint64_t wanted;
};

struct fake_config fake_config;

static int locked;
static struct fault calls, requests, events, allocations;
#define OPCODES (IBV_WR_ATOMIC_FETCH_AND_ADD + 1)

static uint64_t posts, completions, fences, of_opcode[OPCODES];
static const char *volatile hit;
static const char *dropped_name;
static int alive[FAKE_KINDS];
static int misuses;
static char first_misuse[128];
static char report[512];

static const char *const kind_names[FAKE_KINDS] = {
	"event channels",    "identifiers", "protection domains",    "memory regions",
	"completion queues", "queue pairs", "unacknowledged events", "completion channels",
};

void fake_lock(void)
{
	while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

void fake_unlock(void)
{
	__atomic_store_n(&locked, 0, __ATOMIC_RELEASE);
}

void fake_reset(void)
{
	fake_engine_stop();
	fake_config = (struct fake_config){
		.name = "fake0",
		.vendor_id = 0x02c9,
		.max_qp_wr = 16384,
		.max_cqe = 65536,
		.max_inline = 220,
		.reads_in_flight = 16,
		.max_message_bytes = 1u << 30,
		.atomics = IBV_ATOMIC_GLOB,
	};
	memset(&calls, 0, sizeof(calls));
	memset(&requests, 0, sizeof(requests));
	memset(&events, 0, sizeof(events));
	memset(&allocations, 0, sizeof(allocations));
	posts = completions = fences = 0;
	memset(of_opcode, 0, sizeof(of_opcode));
	memset(alive, 0, sizeof(alive));
	hit = NULL;
	dropped_name = NULL;
	misuses = 0;
	first_misuse[0] = '\0';
}

void fake_fail_call(uint64_t n)
{
	calls.wanted = n;
}

void fake_fail_request(uint64_t n)
{
	requests.wanted = n;
}

void fake_fail_allocation(uint64_t n)
{
	allocations.wanted = __atomic_load_n(&allocations.seen, __ATOMIC_RELAXED) + n;
}

void fake_drop_event(uint64_t n)
{
	events.wanted = n;
}

const char *fake_hit(void)
{
	return hit;
}

uint64_t fake_requests(void)
{
	return __atomic_load_n(&requests.seen, __ATOMIC_RELAXED);
}

static bool count_fault(struct fault *fault, const char *name)
{
	if (__atomic_add_fetch(&fault->seen, 1, __ATOMIC_RELAXED) != fault->wanted)
		return false;
	hit = name;
	return true;
}

bool fake_fault(const char *name)
{
	return count_fault(&calls, name);
}

bool fake_request_fault(const char *name)
{
	return count_fault(&requests, name);
}

void fake_drop_first(const char *event)
{
	dropped_name = event;
}

bool fake_event_fault(const char *name)
{
	if (dropped_name && strcmp(name, dropped_name) == 0) {
		dropped_name = NULL;
		hit = name;
		return true;
	}
	return count_fault(&events, name);
}

void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t count, size_t size_bytes);
void *__wrap_realloc(void *old, size_t size_bytes);

void *__wrap_malloc(size_t size_bytes)
{
	return count_fault(&allocations, "malloc") ? NULL : __real_malloc(size_bytes);
}

void *__wrap_calloc(size_t count, size_t size_bytes)
{
	return count_fault(&allocations, "calloc") ? NULL : __real_calloc(count, size_bytes);
}

void *__wrap_realloc(void *old, size_t size_bytes)
{
	return count_fault(&allocations, "realloc") ? NULL : __real_realloc(old, size_bytes);
}

void fake_count_post(void)
{
	__atomic_add_fetch(&posts, 1, __ATOMIC_RELAXED);
}

void fake_count_completions(int count)
{
	__atomic_add_fetch(&completions, (uint64_t)count, __ATOMIC_RELAXED);
}

uint64_t fake_completions(void)
{
	return __atomic_load_n(&completions, __ATOMIC_RELAXED);
}

void fake_count_request(const struct ibv_send_wr *wr)
{
	if (wr->opcode < OPCODES)
		__atomic_add_fetch(&of_opcode[wr->opcode], 1, __ATOMIC_RELAXED);
	if (wr->send_flags & IBV_SEND_FENCE)
		__atomic_add_fetch(&fences, 1, __ATOMIC_RELAXED);
}

uint64_t fake_requests_of(enum ibv_wr_opcode opcode)
{
	return opcode < OPCODES ? __atomic_load_n(&of_opcode[opcode], __ATOMIC_RELAXED) : 0;
}

uint64_t fake_fences(void)
{
	return __atomic_load_n(&fences, __ATOMIC_RELAXED);
}

uint64_t fake_posts(void)
{
	return __atomic_load_n(&posts, __ATOMIC_RELAXED);
}

int fake_queue_pairs(void)
{
	return __atomic_load_n(&alive[FAKE_QP], __ATOMIC_RELAXED);
}

int fake_regions(void)
{
	return __atomic_load_n(&alive[FAKE_MR], __ATOMIC_RELAXED);
}

void fake_count(enum fake_kind kind, int change)
{
	alive[kind] += change;
}

void fake_misuse(const char *what)
{
	if (misuses++ == 0)
		snprintf(first_misuse, sizeof(first_misuse), "%s", what);
}

int fake_alive(void)
{
	int sum = 0;

	for (int i = 0; i < FAKE_KINDS; i++)
		sum += alive[i] < 0 ? 1000 : alive[i];
	return sum;
}

int fake_misuses(void)
{
	return misuses;
}

const char *fake_report(void)
{
	size_t used = (size_t)snprintf(report, sizeof(report), "%d misuses%s%s; alive:", misuses,
	                               misuses ? ", first: " : "", first_misuse);

	for (int i = 0; i < FAKE_KINDS; i++) {
		if (alive[i] && used < sizeof(report))
			used += (size_t)snprintf(report + used, sizeof(report) - used, " %d %s", alive[i], kind_names[i]);
	}
	return report;
}

void fake_signal(int fd)
{
	eventfd_write(fd, 1);
}

void fake_unsignal(int fd)
{
	eventfd_t count;

	eventfd_read(fd, &count);
}

void fake_copy(void *to, const void *from, size_t size_bytes)
{
	volatile uint8_t *out = to;
	const volatile uint8_t *in = from;

	for (size_t i = 0; i < size_bytes; i++)
		out[i] = in[i];
}
