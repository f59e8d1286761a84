// SPDX-License-Identifier: BSD-2-Clause
/*
 * window.c - making windows; free.c frees them, info.c answers queries
 *
 * DESIGN NOTES
 *
 * A member registers the memory, takes a directory slot, publishes the entry, and enters a barrier
 * of the group with a vote. No rank sends an operation or flag for the window before the barrier is
 * over. A member that could not register passes its error to the barrier, and all fail together.
 */
#include "win/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/order.h"
#include "base/util.h"
#include "conn/atomics_peer.h"
#include "conn/coll.h"
#include "conn/ctrl_msg.h"
#include "conn/directory.h"
#include "job/group.h"
#include "job/job.h"
#include "mem/alloc.h"
#include "mem/mem.h"
#include "pages/memory_file.h"
#include "pages/share_in_place.h"
#include "see/tool.h"
#include "sync/atomic_mode.h"
#include "sync/wait.h"
#include "win/link.h"
#include "win/lock_words.h"
#include "win/origin.h"
#include "win/shared.h"
#include "win/win.h"

#define WORDS_GRANULARITY_MAX 32 /* bytes; a larger hint announces vectors */
#define SHARE_NO_HINT (-1)       /* no hint */
#define DISP_UNIT_MAX 0x7fffffffu

/* `info` is as in win_new. */
static int create_check(const struct oriel_win_info *info, const struct oriel_group *group, oriel_win **win,
                        const char *call)
{
	const size_t size_bytes = info->kind == ORIEL_WIN_CREATED ? info->size_bytes : 0; /* the program's memory */

	if (!handle_valid(HANDLE_GROUP, group) || !handle_valid(HANDLE_JOB, group->job))
		return handle_refuse(group, call, "group");
	if (!win)
		return err_set(ORIEL_ERR_ARG, "%s: win is NULL", call);
	if (!info->base && size_bytes > 0)
		return err_set(ORIEL_ERR_ARG, "%s: base is NULL, size_bytes is %zu; give the memory's address, or 0 bytes",
		               call, size_bytes);
	if (info->disp_unit_bytes < 1 || info->disp_unit_bytes > DISP_UNIT_MAX)
		return err_set(ORIEL_ERR_ARG, "%s: disp_unit_bytes is %zu, must be 1 to %u", call, info->disp_unit_bytes,
		               DISP_UNIT_MAX);
	if ((uintptr_t)info->base + size_bytes < (uintptr_t)info->base)
		return err_set(ORIEL_ERR_ARG, "%s: %zu bytes at %p pass the end of the address space", call, size_bytes,
		               info->base);
	if (group->my_rank == ORIEL_RANK_NONE)
		return err_set(ORIEL_ERR_RANK, "%s: rank %d of the job is no member of the group", call, group->job->rank);
	return 0;
}

static struct oriel_win *win_alloc(struct oriel_group *group, const struct oriel_win_info *info)
{
	struct oriel_win *win = handle_new(HANDLE_WIN, sizeof(*win));

	if (!win)
		return NULL;
	win->info = *info;
	win->job = group->job;
	win->memory.size_bytes = info->size_bytes;
	win->memory.disp_unit_bytes = info->disp_unit_bytes;
	win->memory.fd = -1;
	win->group = group_copy(group);
	if (!win->group) {
		handle_release(HANDLE_WIN, win);
		return NULL;
	}
	win->fence.barrier.rounds = log2_up((uint64_t)group->size);
	win->epoch_serial = 1;
	win->sync = win->job->unkind == NOT_UNKIND ? 0 : SYNC_UNKIND;
	win->losses = &group->job->deaths.losses;
	win->deferred_errors.news = &win->losses_seen;
	win->access.group = win->exposure.group = &no_group;
	snprintf(win->label, sizeof(win->label), "the new window");
	owned_lock_init(&win->lock);
	regions_watch_init(&win->regions_watch);
	return win;
}

/* The hint precedes the environment. The library's own memory is shared anyway. */
static void take_wish(struct oriel_win *win)
{
	bool provided = win->info.kind != ORIEL_WIN_CREATED && win->info.kind != ORIEL_WIN_DYNAMIC;

	if (win->info.share == SHARE_NO_HINT)
		win->wish = win->job->share ? IN_PLACE_IF_WORTH : IN_PLACE_NEVER;
	else
		win->wish = win->info.share ? IN_PLACE_ALWAYS : IN_PLACE_NEVER;
	if (provided)
		win->wish = IN_PLACE_NEVER;
	win->info.share = win->wish != IN_PLACE_NEVER;
}

/* Ends the memory's use as origin: waits for the operations that use it. */
static void withdraw_memory(struct oriel_win *win)
{
	struct oriel_job *job = win->job;

	if (!is_registered(&win->memory.registration))
		return;
	if (!win->memory.mappable)
		__atomic_sub_fetch(&job->private_windows, 1, __ATOMIC_RELAXED);
	mem_forget(&job->mems, &win->memory.registration);
	peers_drain_zero_copy(job); /* of other windows */
}

static void let_go_of_memory(struct oriel_win *win, bool reuse)
{
	const struct window_memory *memory = &win->memory;

	withdraw_memory(win);
	if (reuse && memory->allocated && is_registered(&memory->registration)) {
		const struct cached_window piece = { memory->base, memory->size_bytes, memory->fd, memory->registration };

		window_cache_give(win->job, &piece);
		return;
	}
	mem_deregister(&win->job->mems, &win->memory.registration);
	if (memory->in_place)
		share_let_go(memory->base, memory->size_bytes);
	if (memory->allocated && memory->base)
		unmap_memory_file(memory->base, memory->mapped_bytes, memory->fd);
}

/* Unpins words only once no device reaches them. */
static void release_memory(struct oriel_win *win, bool reuse)
{
	let_go_of_memory(win, reuse);
	if (win->memory.pins_atomic_mode)
		atomic_mode_unpin(win->job);
}

void window_release(struct oriel_win *win, bool reuse)
{
	release_epoch_mrs(win);
	locks_free(win);
	links_free(win);
	regions_close(win);
	release_memory(win, reuse);
	shared_close(&win->shared);
	regions_watch_destroy(&win->regions_watch);
	signals_close(win);
	free(win->deferred.list);
	free(win->deferred.accs);
	free(win->epoch_mrs.list);
	free(win->room);
	free(win->requests.parts);
	deferred_errors_free(&win->deferred_errors);
	free(win->access.links);
	free(win->exposure.links);
	group_release(win->group);
	owned_lock_destroy(&win->lock);
	handle_release(HANDLE_WIN, win);
}

static int make_memory(struct window_memory *memory)
{
	void *base;
	int rc = map_memory_file("oriel-window", memory->mapped_bytes, &base, &memory->fd);

	memory->base = base;
	return rc;
}

/* Drops cached windows before it fails for lack of memory. */
static int make_or_take_memory(struct oriel_job *job, struct window_memory *memory)
{
	struct cached_window piece;
	int rc;

	if (window_cache_take(job, memory->size_bytes, &piece)) {
		memory->base = piece.base;
		memory->fd = piece.fd;
		memory->registration = piece.registration;
		return 0;
	}
	do
		rc = make_memory(memory);
	while (rc && window_cache_release_one(job));
	return rc;
}

static int allocate_memory(struct oriel_win *win)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	win->memory.allocated = true;
	win->memory.mappable = true;
	if (win->memory.size_bytes == 0)
		return 0;
	if (win->memory.size_bytes > SIZE_MAX - page)
		return err_set(ORIEL_ERR_MEMORY, "%zu bytes cannot be allocated", win->memory.size_bytes);
	win->memory.mapped_bytes = round_up(win->memory.size_bytes, page);
	return make_or_take_memory(win->job, &win->memory);
}

/*
 * Returns the flags for how the window's words are changed (layout.h), for peers of that device.
 * With a granularity for long vectors, and on softverbs, processors change them: one domain. All
 * members map shared windows.
 */
static uint32_t words_flags(const struct oriel_win *win, uint32_t index)
{
	const struct device *device = &win->job->devices.list[index];

	if (!win->memory.registration.mr[index] || win->info.kind == ORIEL_WIN_SHARED)
		return 0;
	if (win->memory.read_only)
		return 0; /* the key permits a device no atomic, by which it reads a word: the owner's processor reads */
	if (job_atomic_device(win->job) && win->info.accumulate_granularity_bytes <= WORDS_GRANULARITY_MAX)
		return DIR_WORDS_BY_DEVICE;
	if (device->atomics != ATOMICS_GLOB || device_maps_memory(device))
		return 0;
	return DIR_WORDS_BY_BOTH;
}

/* Returns whether processors must change words by atomic instructions, since a device does too. */
static bool pins_atomic_mode(const struct oriel_win *win)
{
	bool pins = false;

	for (uint32_t i = 0; i < win->job->devices.count; i++)
		pins |= words_flags(win, i) == DIR_WORDS_BY_BOTH;
	return pins;
}

static struct dir_entry entry_for(const struct oriel_win *win, uint32_t device)
{
	const struct ibv_mr *mr = win->memory.registration.mr[device];
	const struct device *tickets = job_ticket_device(win->job);
	struct dir_entry entry = {
		.base = (uint64_t)(uintptr_t)win->memory.base,
		.size_bytes = win->memory.size_bytes,
		.control_addr = (uint64_t)(uintptr_t)win->control.addr,
		.control_rkey = win->control.keys[device].rkey,
		.rkey = mr ? mr->rkey : 0,
		.disp_unit_bytes = (uint32_t)win->memory.disp_unit_bytes,
		.flags = (win->memory.read_only ? DIR_READ_ONLY : 0) | (device == 1 ? DIR_SECOND_DEVICE : 0) |
		         (tickets ? DIR_NEXT_BY_DEVICE : 0),
	};

	if (tickets)
		entry.control_atomic_rkey = win->control.keys[tickets->index].rkey;
	entry.flags |= words_flags(win, device);
	if (entry.flags & DIR_WORDS_BY_DEVICE)
		entry.words_rkey = win->memory.registration.mr[job_atomic_device(win->job)->index]->rkey;
	if (win->regions.table) {
		entry.base = (uint64_t)(uintptr_t)win->regions.table->root[device].addr;
		entry.rkey = win->regions.table->root[device].keys[device].rkey;
		entry.flags |= DIR_DYNAMIC;
	}
	memcpy(entry.id, win->id, sizeof(entry.id));
	signals_describe(win, device, &entry);
	entry.check = dir_entry_check(&entry);
	return entry;
}

static void publish_entries(struct oriel_win *win)
{
	win->fence.words = win->control.addr;
	for (uint32_t i = 0; i < win->job->devices.count; i++) {
		struct dir_entry entry = entry_for(win, i);

		directory_publish(win->job, i, win->slot, &entry);
	}
}

static void count_window(struct oriel_job *job, int change)
{
	pthread_mutex_lock(&job->lock);
	job->holdings.windows += (uint32_t)change;
	job->holdings.window_bytes += (size_t)change * sizeof(struct oriel_win);
	pthread_mutex_unlock(&job->lock);
}

static int add_memory(struct oriel_win *win, struct mem_region *region)
{
	const uint32_t devices = window_devices(win);

	if (is_registered(&region->registration))
		return mem_add_again(&win->job->mems, devices, region);
	return mem_add(&win->job->mems, devices, region);
}

/* Registers the memory, if the window cache has not; drops cached windows if memory is short. */
static int register_memory(struct oriel_win *win)
{
	struct window_memory *memory = &win->memory;
	struct mem_region region = { .base = (uintptr_t)memory->base,
		                         .size_bytes = memory->size_bytes,
		                         .registration = memory->registration };
	int rc;

	do
		rc = add_memory(win, &region);
	while (rc == ORIEL_ERR_MEMORY && window_cache_release_one(win->job));
	memory->registration = region.registration;
	memory->read_only = region.read_only;
	return rc;
}

static int open_memory(struct oriel_win *win)
{
	struct window_memory *memory = &win->memory;
	int rc = memory->size_bytes > 0 ? register_memory(win) : 0;

	if (is_registered(&memory->registration) && !memory->mappable)
		__atomic_add_fetch(&win->job->private_windows, 1, __ATOMIC_RELAXED);
	return rc;
}

static int pin_words(struct oriel_win *win, const char *call)
{
	int rc = atomic_mode_pin(win->job, call);

	win->memory.pins_atomic_mode = rc == 0;
	return rc;
}

/* Opens slot and memory. *slot_taken is valid on failure too. */
static int open_window(struct oriel_win *win, bool *slot_taken, const char *call)
{
	int rc = directory_take(win->job, &win->slot, &win->control);

	*slot_taken = rc == 0;
	win->flags_segment = table_segment(win->slot, &win->flags_bytes);
	win->flags_bytes *= (uint32_t)sizeof(struct flag_pair);
	if (rc == 0)
		count_window(win->job, 1);
	if (rc == 0)
		rc = open_memory(win);
	if (rc == 0 && pins_atomic_mode(win))
		rc = pin_words(win, call);
	if (rc == 0)
		rc = signals_open(win);
	if (rc == 0)
		rc = am_enter_window(win->job, win->slot, win);
	if (rc == 0)
		publish_entries(win);
	return rc;
}

void window_hide(struct oriel_win *win)
{
	am_leave_window(win->job, win->slot);
	directory_hide(win->job, win->slot);
}

void window_give_slot(struct oriel_job *job, uint32_t slot, bool reuse)
{
	if (reuse)
		directory_give(job, slot);
	count_window(job, -1);
}

/* Returns this member's proposal; the highest is the window's number. */
static uint64_t propose_number(struct oriel_job *job)
{
	uint64_t number;

	pthread_mutex_lock(&job->lock);
	number = ++job->window_numbers;
	pthread_mutex_unlock(&job->lock);
	return number;
}

static void take_number(struct oriel_win *win, uint64_t number)
{
	struct oriel_job *job = win->job;

	pthread_mutex_lock(&job->lock);
	if (job->window_numbers < number)
		job->window_numbers = number;
	pthread_mutex_unlock(&job->lock);
	win->info.number = number;
	win_make_label(win);
	if (see_tool && see_tool->window_numbered)
		see_tool->window_numbered(number);
}

static int hints_differ(const struct oriel_win *win, int culprit)
{
	return err_set(
		ORIEL_ERR_ARG,
		"the hints mpi_accumulate_granularity (here %zu) and alloc_shared_noncontig (here \"%s\") must be the "
		"same on all members, and are not on rank %d of the job",
		win->info.accumulate_granularity_bytes, win->info.alloc_shared_noncontig ? "true" : "false", culprit);
}

/* Reports that members make windows of different kinds, of which `kinds` has a bit each. */
static int kinds_differ(const struct oriel_win *win, uint64_t kinds, const char *call)
{
	static const char *const calls[] = { [ORIEL_WIN_CREATED] = "oriel_win_create",
		                                 [ORIEL_WIN_ALLOCATED] = "oriel_win_allocate",
		                                 [ORIEL_WIN_SHARED] = "oriel_win_allocate_shared",
		                                 [ORIEL_WIN_DYNAMIC] = "oriel_win_create_dynamic" };
	enum oriel_win_kind other = ORIEL_WIN_CREATED;

	while (other == win->info.kind || !(kinds & 1u << other))
		other++;
	return err_set(
		ORIEL_ERR_KIND,
		"%s: another member calls %s at this place; all members must make the same collective calls, in the same "
		"order",
		call, calls[other]);
}

/*
 * Returns the members' verdict, as coll_run_once. The first barrier also agrees on number and kind.
 */
static int create_barrier(struct oriel_win *win, enum coll_kind barrier, int vote, const char *call)
{
	struct coll coll;
	struct wait wait;
	uint8_t id[16];

	coll_id_within(id, win->id, 0, barrier);
	coll_begin(&coll, win->group, id, vote, win->job->rank);
	coll.agreed = hints_to_agree(&win->info);
	coll.combines = true;
	coll.payload[0] = win->info.number ? win->info.number : propose_number(win->job);
	coll.payload[1] = 1u << win->info.kind;
	wait_begin(&wait, win->job, call, NULL);
	vote = coll_run_once(&coll, &wait);
	if (vote == ORIEL_ERR_PEER || vote == ORIEL_ERR_TIMEOUT)
		return vote;
	if (coll.payload[1] != 1u << win->info.kind)
		return kinds_differ(win, coll.payload[1], call);
	if (vote == 0)
		take_number(win, coll.payload[0]);
	return vote == ORIEL_ERR_ARG ? hints_differ(win, coll.culprit) : vote;
}

/*
 * Makes the barrier of shared windows before their other collective calls, to detect a member that
 * makes another kind.
 */
static int create_alike(struct oriel_win *win, const char *call)
{
	int vote = win->refused ? err_set(ORIEL_ERR_MEMORY, "%s", win->refused) : 0;

	return win->info.kind == ORIEL_WIN_SHARED ? create_barrier(win, COLL_CREATE, vote, call) : 0;
}

static int provide_memory(struct oriel_win *win, const char *call)
{
	int vote = win->refused ? err_set(ORIEL_ERR_MEMORY, "%s", win->refused) : 0;

	if (win->info.kind == ORIEL_WIN_SHARED)
		return shared_open(win, vote, call);
	if (vote)
		return vote;
	if (win->info.kind == ORIEL_WIN_DYNAMIC)
		return regions_open(win);
	return win->memory.allocated ? allocate_memory(win) : 0;
}

/* A member that fails brings its error to the barrier. */
static int create_together(struct oriel_win *win, const char *call)
{
	const bool shared = win->info.kind == ORIEL_WIN_SHARED;
	bool slot_taken = false;
	int vote, rc = create_alike(win, call);

	if (rc)
		return rc;
	vote = provide_memory(win, call);
	if (vote == 0)
		vote = open_window(win, &slot_taken, call);
	rc = create_barrier(win, shared ? COLL_CREATED : COLL_CREATE, vote, call);
	if (rc == 0)
		return 0;
	if (slot_taken) {
		window_hide(win);
		window_give_slot(win->job, win->slot, rc != ORIEL_ERR_PEER && rc != ORIEL_ERR_TIMEOUT);
	}
	return rc;
}

static int create_next(struct oriel_win *win, const char *call)
{
	uint64_t number;
	int rc = job_count_collective(win->job, win->group, &number);

	if (rc)
		return rc;
	coll_id(win->id, win->group->key, number, COLL_CREATE);
	rc = places_learn(win, call);
	if (rc == 0)
		rc = create_together(win, call);
	if (rc == 0)
		places_keep(win);
	return rc;
}

/* Reports to the others, with a stand-in, that there is no memory for the window itself. */
static int create_nothing(struct oriel_group *group, const struct oriel_win_info *info, const char *call)
{
	struct oriel_win stand_in = {
		.info = *info, .job = group->job, .group = group, .refused = "out of memory for the window"
	};

	return err_in(create_next(&stand_in, call), call);
}

/* Makes a window of the kind, size and unit in `info`, or fails on all members. */
static int win_new(struct oriel_win_info info, struct oriel_group *group, const struct oriel_hint hints[],
                   struct oriel_win **win, const char *call)
{
	int rc;

	info.unified = 1;
	hints_default(&info);
	info.share = SHARE_NO_HINT;
	rc = hints_take(&info, hints, false);
	if (rc)
		return err_in(rc, call);
	*win = win_alloc(group, &info);
	if (!*win)
		return create_nothing(group, &info, call);
	take_wish(*win);
	if (hints_refuse(hints))
		(*win)->refused = "the hint refuse was given";
	return 0;
}

static int create_window(struct oriel_win *win, struct oriel_win **out, const char *call)
{
	int rc = create_next(win, call);

	if (rc) {
		window_release(win, false);
		return err_in(rc, call);
	}
	counter_store(&win->losses_seen, counter_load(win->losses)); /* the load pairs with note_loss */
	*out = win;
	return 0;
}

static void take_memory(struct oriel_win *win, void *base)
{
	struct window_memory *memory = &win->memory;

	memory->base = base;
	memory->mappable = alloc_holds(win->job, base, memory->size_bytes);
	if (!memory->mappable)
		memory->in_place = memory->mappable = in_place_move(win->job, win->wish, base, memory->size_bytes);
	win->info.share = memory->in_place;
}

int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win)
{
	const struct oriel_win_info info = {
		.kind = ORIEL_WIN_CREATED, .base = base, .size_bytes = size_bytes, .disp_unit_bytes = disp_unit_bytes
	};
	struct oriel_win *made;
	int rc = create_check(&info, group, win, "oriel_win_create");

	if (rc)
		return rc;
	rc = win_new(info, group, hints, &made, "oriel_win_create");
	if (rc)
		return rc;
	take_memory(made, base);
	return create_window(made, win, "oriel_win_create");
}

int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win)
{
	const struct oriel_win_info info = { .kind = ORIEL_WIN_ALLOCATED,
		                                 .size_bytes = size_bytes,
		                                 .disp_unit_bytes = disp_unit_bytes };
	struct oriel_win *made;
	int rc = create_check(&info, group, win, "oriel_win_allocate");

	if (rc)
		return rc;
	if (!base)
		return err_set(ORIEL_ERR_ARG, "oriel_win_allocate: base is NULL");
	rc = win_new(info, group, hints, &made, "oriel_win_allocate");
	if (rc)
		return rc;
	made->memory.allocated = true;
	rc = create_window(made, win, "oriel_win_allocate");
	if (rc == 0)
		*base = made->memory.base;
	return rc;
}

int oriel_win_allocate_shared(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                              oriel_group *group, void **base, oriel_win **win)
{
	static const char call[] = "oriel_win_allocate_shared";
	const struct oriel_win_info info = { .kind = ORIEL_WIN_SHARED,
		                                 .size_bytes = size_bytes,
		                                 .disp_unit_bytes = disp_unit_bytes };
	struct oriel_win *made;
	int rc = create_check(&info, group, win, call);

	if (rc)
		return rc;
	if (!base)
		return err_set(ORIEL_ERR_ARG, "%s: base is NULL", call);
	rc = win_new(info, group, hints, &made, call);
	if (rc)
		return rc;
	made->memory.mappable = true;
	rc = create_window(made, win, call);
	if (rc == 0)
		*base = made->memory.base;
	return rc;
}

int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win)
{
	static const char call[] = "oriel_win_create_dynamic";
	const struct oriel_win_info info = { .kind = ORIEL_WIN_DYNAMIC, .disp_unit_bytes = 1 };
	struct oriel_win *made;
	int rc = create_check(&info, group, win, call);

	if (rc == 0)
		rc = win_new(info, group, hints, &made, call);
	return rc ? rc : create_window(made, win, call);
}
