/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call.h - the front: records the calls that a program makes, in front of the library they are for
 *
 * DESIGN NOTES
 *
 * A wrapper has the name of a call. It calls call_enter, which counts the call at its site: name,
 * place in the program, window, thread. Then it calls the function behind it, and call_leave, which
 * adds the call's time. Only the thread writes its sites; threads beyond LANES share the last lane,
 * under a lock.
 *
 * All that depends on the arguments is done before the call, so that none of them has to be kept
 * until its end.
 *
 * While a call runs, the library reports what its waits are blocked on (see/tool.h). call_leave
 * adds that to the site's waits (waits.c).
 *
 * Without a part (part.h) a wrapper only calls the function.
 */
#ifndef ORIEL_SEE_CALL_H
#define ORIEL_SEE_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rank_list.h"
#include "see/board.h"
#include "see/front/clock.h"
#include "see/front/part.h"

#pragma GCC visibility push(hidden)

/* part.c: this process's part */

extern struct part *process_part;

/* Makes the part. Prints why there is none. */
void part_open(void);

/* Returns the part, or NULL. */
static inline struct part *part_of_process(void)
{
	return process_part;
}

/* Notes how a rank has died. The first deaths are kept. */
void part_add_death(int rank, const char *text);

/* Nothing is recorded afterwards. */
void part_end(void);

/* Returns the folder of the parts. */
const char *part_folder(void);

/* notes.c: when ranks begin the calls that others wait for */

/* Looks for the parts of ranks that have begun since the last look. */
void notes_search(void);

/* Returns whether the notes of a rank can be read. */
bool notes_know(int rank);

/* Returns the rank of a process of this machine whose notes have been read, or -1. */
int notes_rank(int32_t process);

/*
 * A call begins, by clock_ticks; of posts and completes notes_add_epoch notes that. PART_NONE: it
 * is of the whole job. Numbers begin with 1.
 */
void notes_add(enum part_event event, uint32_t window, uint64_t number, uint64_t begun);

/* An unlock of a member's lock begins; -1: of all. */
void notes_add_unlock(uint32_t window, int member, uint64_t begun);

/*
 * Returns when a rank of the job began such a call, at before_ns or earlier; 0: not known. key is
 * the window's, 0 for calls of the job. number 0: the latest call.
 */
uint64_t notes_find(int rank, enum part_event event, uint64_t key, uint64_t number, uint64_t before_ns);

/* A post or complete begins, of the epoch of that number with a rank of the job. */
void notes_add_epoch(struct part *part, enum part_event event, uint32_t window, int rank, uint32_t epoch,
                     uint64_t begun);

/* Returns when a rank of the job began that call of its epoch with this rank; 0: not known. */
uint64_t notes_find_epoch(int rank, enum part_event event, uint32_t window, uint32_t epoch);

/*
 * Returns when a rank of the job last began, at before_ns or earlier, to give back the member's
 * lock; 0: not known.
 */
uint64_t notes_find_unlock(int rank, uint64_t key, int member, uint64_t before_ns);

/* As notes_find_unlock, but the first that began later than after_ns. */
uint64_t notes_find_next_unlock(int rank, uint64_t key, int member, uint64_t after_ns, uint64_t before_ns);

/* Notes that this rank has waited for a late one. One thread at a time. */
void notes_add_lateness(struct part *part, uint32_t wait, int rank, uint64_t begun_ns, uint64_t ended_ns);

#define NOTES_LATENESSES 64

/* Copies the latest times in which a rank waited for late ones. Returns how many. */
int notes_latenesses(int rank, struct part_lateness list[NOTES_LATENESSES]);

/* Returns for how many ticks a rank has been in calls until now. */
uint64_t notes_inside(int rank);

/* Returns false as long as a rank of the job may run on another machine. */
bool notes_know_all(void);

/* windows.c: handles of windows; more below */

/* The thread's last window. */
struct window_last {
	uint64_t handle;
	uint64_t removals; /* as many windows had been removed */
	uint32_t index;
};

extern _Thread_local struct window_last window_last __attribute__((tls_model("initial-exec")));
extern uint64_t window_removals;

/* Does what window_find does, by a search. */
uint32_t window_search(uint64_t handle);

/* Returns the index of a window; PART_NONE: not recorded. */
static inline uint32_t window_find(uint64_t handle)
{
	if (window_last.handle == handle && window_last.removals == __atomic_load_n(&window_removals, __ATOMIC_RELAXED))
		return window_last.index;
	return window_search(handle);
}

/* trace.c: the timeline; more below */

/* The chunks of the timeline; 0: there is none. */
extern uint32_t trace_chunks;

static inline bool trace_is_on(void)
{
	return trace_chunks > 0;
}

/* call.c: calls */

#define CALL_NO_DISP UINT64_MAX
#define NO_WINDOW 0 /* a handle */

struct call {
	struct part_site *site; /* NULL: none, or not known yet */
	uint64_t handle;        /* of the window, as the program knows it; NO_WINDOW */
	uint64_t bytes;
	uint64_t begun; /* clock_ticks */
	int target;     /* member of the window; -1: none */
};

/* Returns the index of the call's window; PART_NONE: none, or not recorded. */
static inline uint32_t call_window(const struct call *call)
{
	return window_find(call->handle);
}

/* The work that is left for the end of the thread's call. */
enum duty {
	DUTY_WAITS = 1,   /* waits_take */
	DUTY_MEETING = 2, /* meeting_end */
	DUTY_ALWAYS = 4,  /* there is no counted_part, or the thread's lane is shared */
};

/* The end, at the target, of a site's last call. */
struct call_end {
	int target;    /* -1: none yet */
	uint64_t unit; /* of displacements */
	uint64_t offset;
};

/* A site that the thread has called from, while duties are not DUTY_ALWAYS. */
struct call_recent {
	const void *caller; /* NULL: none yet */
	const char *name;   /* a literal: its address tells the calls apart */
	uint64_t handle;
	uint64_t removals; /* as in struct window_last */
	struct part_site *site;
	struct call_end *end;
} __attribute__((aligned(64)));

#define CALL_RECENTS 8

/* The state of a thread's calls. */
struct call_thread {
	struct call_recent recents[CALL_RECENTS];
	uint32_t duties; /* enum duty */
	uint32_t lane_plus_1;
};

extern _Thread_local struct call_thread call_thread __attribute__((tls_model("initial-exec")));

/* The part, if there is one, and calls are measured by the processor's counter; or NULL. */
extern struct part *counted_part;

static inline struct call_recent *call_recent(const void *caller)
{
	return &call_thread.recents[(uintptr_t)caller / 8 % CALL_RECENTS];
}

/* Counts a call that begins. */
static inline void call_count(struct part_site *site, uint64_t bytes)
{
	site->bytes += bytes;
	site->sizes[part_size_class(bytes)]++;
}

/* Notes whether the call goes on where the one before it, to the same target, ended. */
static inline void call_follow(struct part_site *site, struct call_end *end, uint64_t disp, uint64_t bytes)
{
	uint64_t offset = disp * end->unit;

	if (offset == end->offset)
		site->followed++;
	end->offset = offset + bytes;
}

/* The thread begins a call. */
static inline void call_go_inside(struct part *part, uint64_t begun)
{
	__atomic_store_n(&part->presence.entered, begun, __ATOMIC_RELAXED); /* pairs with notes_inside */
}

/* A call of any kind, as call_enter_at. Cold functions keep the others' arguments in registers. */
__attribute__((cold)) struct call call_enter_any(const char *name, uint64_t handle, int target, uint64_t disp,
                                                 uint64_t bytes, const void *caller);

/*
 * Counts a call that goes to a place in the target's memory, of so many bytes. `caller` is the
 * place behind the call in the program. Most calls come from a site that the thread has just called
 * from: they are counted here, in the wrapper.
 */
static inline __attribute__((always_inline)) struct call call_enter_at(const char *name, uint64_t handle, int target,
                                                                       uint64_t disp, uint64_t bytes,
                                                                       const void *caller)
{
	const struct call_recent *recent = call_recent(caller);
	struct call call = { .handle = handle, .bytes = bytes, .target = target };
	struct call_end *end = recent->end;

	if (recent->caller != caller || recent->name != name || recent->handle != handle ||
	    recent->removals != __atomic_load_n(&window_removals, __ATOMIC_RELAXED) || end->target != target)
		return call_enter_any(name, handle, target, disp, bytes, caller);
	call.begun = clock_counter(); /* first: what is done here is of the call */
	call_go_inside(counted_part, call.begun);
	call.site = recent->site;
	call_count(call.site, bytes);
	if (!__builtin_constant_p(disp) || disp != CALL_NO_DISP)
		call_follow(call.site, end, disp, bytes);
	return call;
}

/* The call has a target. */
static inline __attribute__((always_inline)) struct call call_enter_to(const char *name, uint64_t handle, int target,
                                                                       uint64_t bytes, const void *caller)
{
	return call_enter_at(name, handle, target, CALL_NO_DISP, bytes, caller);
}

static inline __attribute__((always_inline)) struct call call_enter(const char *name, uint64_t handle, uint64_t bytes,
                                                                    const void *caller)
{
	return call_enter_at(name, handle, -1, CALL_NO_DISP, bytes, caller);
}

/* A call begins whose window is not known yet: call_find counts it. */
struct call call_enter_early(void);
void call_find(struct call *call, const char *name, uint64_t handle, const void *caller);

/* Adds the time of a call that has ended. */
static inline void call_add_time(struct part *part, const struct call *call, uint64_t ended)
{
	uint64_t ticks = ended - call->begun;

	call->site->ticks += ticks;
	part->presence.inside += ticks; /* notes_inside may read it meanwhile, and what follows */
	__atomic_store_n(&part->presence.entered, 0, __ATOMIC_RELAXED);
	part->presence.left = ended;
}

/* Adds the call to the timeline. */
void call_trace(const struct call *call, uint64_t ended);

/* The end of a call of any kind, as call_leave. */
int call_leave_any(const struct call *call, int rc);

/* Adds the call's time, and returns rc. */
static inline __attribute__((always_inline)) int call_leave(const struct call *call, int rc)
{
	uint64_t ended;

	if (call_thread.duties)
		return call_leave_any(call, rc);
	ended = clock_counter();
	call_add_time(counted_part, call, ended);
	if (trace_is_on())
		call_trace(call, ended);
	return rc;
}

/* binding.c: calls that an MPI's Fortran interface makes for the program */

extern bool bindings_loaded;

/* Looks whether such an interface is loaded. */
void bindings_find(void);

/*
 * Returns the address in the program to which the interface returns. `caller` is that to which the
 * call returns, whose frame ends at `frame`.
 */
const void *binding_caller(const void *caller, uintptr_t frame);

/* As binding_caller, by a function's __builtin_return_address and __builtin_frame_address. */
static inline const void *call_place(const void *caller, const void *frame)
{
	return bindings_loaded ? binding_caller(caller, (uintptr_t)frame + 2 * sizeof(frame)) : caller;
}

/* Notes that a call begins for which others may wait: of the window, or oriel_barrier. */
void call_begins(const struct call *call, enum part_event event);

/* Notes that a signal to a member begins. */
void signal_begins(const struct call *call, int target_rank);

/* Notes that these ranks of the job begin to make a window. The list must last as long as that. */
void creation_begins(const struct call *call, const int ranks[], int count);

/* Notes that the window's end begins. */
void removal_begins(const struct call *call);

/* remote.c: what the report needs for waits for ranks of other machines */

/* A call begins, as in notes_add. */
void remote_add_begin(struct part *part, enum part_event event, uint32_t window, uint64_t number, uint64_t begun);

/* Adds a wait; without a place if it is for more ranks than that has. One thread at a time. */
void remote_add_wait(struct part *part, const struct part_remote_wait *wait, const struct rank_list *ranks);

/* epochs.c: numbers of epochs, which origin and target count for each other */

/* Returns whether the call's epoch is counted. */
bool epochs_are_counted(const struct call *call);

/*
 * The call begins to post to these ranks of the job, or has started an epoch with them. The list,
 * made by malloc, is freed here; NULL: the ranks are not known.
 */
void epochs_post(const struct call *call, int *ranks, int count);
void epochs_started(const struct call *call, int *ranks, int count);

/* The post has failed. */
void epochs_cancel_post(const struct call *call);

/* The complete begins. */
void epochs_complete(const struct call *call);

/* Returns the number of the epoch in which this rank awaits that call of the rank; 0: not known. */
uint32_t epochs_awaited(uint32_t window, enum part_event event, int rank);

/* meetings.c: calls from which no member returns before all have begun them */

/* The thread begins one that all members know by the key and the number. */
void meeting_begin(uint64_t key, uint64_t number, uint64_t begun_ns);

/* The call that the thread has begun is none after all. */
void meeting_cancel(void);

/* The thread returns from the one that it has begun. */
void meeting_end(struct part *part, uint64_t ended_ticks);

/* trace.c: the timeline */

/* Returns how many chunks the part is to have; 0: no timeline is wanted. */
uint32_t trace_chunks_wanted(void);

/* Entries go to the chunks of the part from now on. */
void trace_open(struct part *part);

/* The chunks that lanes write to. */
extern struct part_chunk *trace_of_lane[PART_LANES];

/* Returns the lane's next chunk. */
struct part_chunk *trace_take_chunk(uint32_t lane);

/* Adds an entry of the lane. One thread at a time. */
static inline void trace_add(uint32_t lane, struct part_entry entry)
{
	struct part_chunk *chunk = trace_of_lane[lane];

	if (!chunk || chunk->count == PART_CHUNK_ENTRIES)
		chunk = trace_take_chunk(lane);
	chunk->entries[chunk->count] = entry;
	__atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE); /* pairs with readers */
}

/* arrows.c: calls of other ranks that end a call's waits */

/* A rank began a call that the calling thread has waited for, and seen. */
void arrows_add(enum part_event event, int rank, uint64_t begun_ns, uint64_t seen_ns);

/* Adds the arrows of a call, which has just ended, to the timeline. */
void arrows_take(uint32_t site, uint32_t lane);

/* outside.c: calls of the MPI that are not one-sided, on the board */

/* Calls are shown on this board from now on; NULL: they are not shown. */
void outside_open(struct board *board);

/* The thread begins such a call. */
void outside_begin(const char *call, const void *caller);

/* The thread's call has ended. Returns rc. */
int outside_end(int rc);

/* windows.c: handles of windows */

/* Returns the rank, in the job, of a member of the window; -1: not known. */
int window_rank(uint32_t window, int member);

/* Returns the ranks of a window's members, in the job; count 0: not known. */
const int *window_ranks(uint32_t window, int *count);

/* Counts an event of a window, or of the job. Returns how many there were, with this one. */
uint64_t window_count(uint32_t window, enum part_event event);

/*
 * Adds a window of these members (ranks of the job), whose displacements count units of so many
 * bytes. Its key is the same on all members, since windows are made in the same order there.
 */
void window_add(uint64_t handle, const char *kind, uint64_t unit, const int ranks[], int count);

/* The window that the thread makes has this number; 0: none yet. */
void window_take_number(uint64_t number);

/* Returns the bytes of a unit of displacements. */
uint64_t window_unit(uint32_t window);

/* Returns the key that the next window of these members will have. */
uint64_t window_next_key(const int ranks[], int count);

void window_name(uint64_t handle, const char *name);
void window_remove(uint64_t handle);

/* objects.c: the files that calls come from */

/* Returns the index of the object that has the address, and the offset in it; or PART_NONE. */
uint32_t object_find(struct part *part, const void *address, uint64_t *offset);

/* roots.c: where lateness begins */

/*
 * Divides the time in which a rank was late. The time in which it waited for late ranks itself is
 * theirs. Adds the shares to the wait.
 */
void roots_add(struct part_wait *wait, int rank, uint64_t begun_ns, uint64_t ended_ns);

/* waits.c: what calls wait for */

/* Gives the library the functions that record waits. */
void waits_attach(void);

/* The call that a thread makes, as others know it. */
struct call_members {
	uint32_t window;
	enum part_event event;
	uint64_t number; /* 0: not known */
	uint64_t begun;  /* clock_ticks: no two calls of a thread begin at one time */
	uint64_t begun_ns;
	const int *ranks; /* NULL: all of the job, or none */
	int count;
	int latest_rank; /* found after the call; -1: not known */
};

/* The calling thread begins a call. */
void waits_begin(const struct call_members *of_call);

/*
 * Adds what the lane's thread has waited for in a call, from begun (clock_ticks) on, to its site.
 */
void waits_take(struct part *part, uint32_t site, uint32_t lane, uint64_t begun);

/* Forgets what the thread has waited for in a call. */
void waits_forget(void);

/* report.c: the end of the job */

/* Ends the part. On rank 0 starts the program that writes the report. */
void report_at_end(void);

#pragma GCC visibility pop

#endif
