// SPDX-License-Identifier: BSD-2-Clause
/*
 * binding.c - calls that an MPI's Fortran interface makes for the program; see call.h
 *
 * DESIGN NOTES
 *
 * Such a call returns to the interface, and not to the program. A walk up the stack finds the frame
 * behind it, but takes a microsecond. A frame mostly has the same size whenever its function calls
 * from the same place. So one walk for each return address measures how far the next one is.
 *
 * An address that has not been seen is looked for by a walk. If it is not on the stack, the frame's
 * size varies: the call's place is the interface then.
 */
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unwind.h>

#include "see/front/call.h"

#define STEPS 1024 /* a power of 2 */
#define STEPS_MOST (STEPS / 2)
#define DEPTH_MAX 8
#define RANGES 8

/* Only there is a return address always next to the frame of the call. */
#if defined(__x86_64__)
#define FRAMES_ARE_KNOWN true
#else
#define FRAMES_ARE_KNOWN false
#endif

struct range {
	uintptr_t first;
	uintptr_t bytes;
};

/* A return address that has been seen. */
struct step {
	const void *address; /* NULL: the entry is free */
	uintptr_t distance;  /* from its call's frame to its own; 0: the call's place is here */
};

struct walk {
	const void *address; /* that is looked for */
	uintptr_t frame;     /* of the call that returns there; 0: not found yet */
	uintptr_t distance;
};

bool bindings_loaded;

static struct range ranges[RANGES];
static int range_count;
static struct step steps[STEPS];
static int step_count;
static pthread_mutex_t learning = PTHREAD_MUTEX_INITIALIZER;

/* ---- the interface's code ---- */

static bool is_binding(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strncmp(name, "libmpi_", 7) == 0 || (strncmp(name, "libmpi", 6) == 0 && strstr(name, "fort"));
}

static int add_ranges(struct dl_phdr_info *info, size_t size_bytes, void *unused)
{
	(void)size_bytes;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum && range_count < RANGES && is_binding(info->dlpi_name); i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_X))
			ranges[range_count++] = (struct range){ info->dlpi_addr + part->p_vaddr, part->p_memsz };
	}
	return 0;
}

void bindings_find(void)
{
	if (FRAMES_ARE_KNOWN)
		dl_iterate_phdr(add_ranges, NULL);
	bindings_loaded = range_count > 0;
}

static bool is_in_binding(const void *address)
{
	for (int i = 0; i < range_count; i++) {
		if ((uintptr_t)address - ranges[i].first < ranges[i].bytes)
			return true;
	}
	return false;
}

/* ---- return addresses ---- */

static uint32_t place_of(const void *address)
{
	return (uint32_t)((uintptr_t)address * 0x9e3779b97f4a7c15ULL >> 32) % STEPS;
}

/* There are more places than entries, so a free one ends the search. */
static struct step *find(const void *address)
{
	const void *seen;

	for (uint32_t at = place_of(address);; at = (at + 1) % STEPS) {
		seen = __atomic_load_n(&steps[at].address, __ATOMIC_ACQUIRE); /* pairs with add */
		if (seen == address)
			return &steps[at];
		if (!seen)
			return NULL;
	}
}

static struct step *add(const void *address, uintptr_t distance)
{
	uint32_t at = place_of(address);

	while (steps[at].address)
		at = (at + 1) % STEPS;
	step_count++;
	steps[at].distance = distance;
	__atomic_store_n(&steps[at].address, address, __ATOMIC_RELEASE); /* pairs with find */
	return &steps[at];
}

/* The frame of a call ends where the stack of its caller is when it returns. */
static _Unwind_Reason_Code check_frame(struct _Unwind_Context *frame, void *arg)
{
	struct walk *walk = arg;

	if (walk->frame) {
		walk->distance = _Unwind_GetCFA(frame) - walk->frame;
		return _URC_END_OF_STACK;
	}
	if ((uintptr_t)walk->address == _Unwind_GetIP(frame))
		walk->frame = _Unwind_GetCFA(frame);
	return _URC_NO_REASON;
}

/* Returns NULL if the address is not on the stack, or there is no room. */
static struct step *learn(const void *address)
{
	struct walk walk = { .address = address };
	struct step *step;

	pthread_mutex_lock(&learning);
	step = find(address);
	if (!step && step_count < STEPS_MOST) {
		_Unwind_Backtrace(check_frame, &walk);
		if (walk.frame)
			step = add(address, is_in_binding(address) ? walk.distance : 0);
	}
	pthread_mutex_unlock(&learning);
	return step;
}

const void *binding_caller(const void *caller, uintptr_t frame)
{
	const void *address = caller;
	struct step *last = NULL;

	for (int i = 0; i < DEPTH_MAX; i++) {
		struct step *step = find(address);
		uintptr_t distance;

		if (!step)
			step = learn(address);
		if (!step)
			break;
		distance = __atomic_load_n(&step->distance, __ATOMIC_RELAXED); /* pairs with the store below */
		if (!distance)
			return address;
		frame += distance;
		memcpy(&address, (const char *)frame - sizeof(address), sizeof(address));
		last = step;
	}
	if (last)
		__atomic_store_n(&last->distance, 0, __ATOMIC_RELAXED);
	return caller;
}
