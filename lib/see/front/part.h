/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * part.h - the file in which a process records its profile
 *
 * DESIGN NOTES
 *
 * A part is a file of fixed size in a folder of the user, mapped shared: what is recorded survives
 * the death of the process. `oriel-see` reads the parts of a job, and removes them.
 *
 * An entry's index is published by its table's count, which is stored last. A reader copies the
 * file and trusts nothing in it (report/read.c).
 *
 * If a timeline is wanted, chunks of entries follow the tables. A thread takes one chunk after the
 * other (trace.c). When no chunk is free, the oldest is used again.
 */
#ifndef ORIEL_PART_H
#define ORIEL_PART_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PART_MARK 0x746c666f72706c6fULL /* "olproflt" */
#define PART_VERSION 16
#define PART_PREFIX "profile."

#define PART_SITES 1024
#define PART_WINDOWS 256
#define PART_OBJECTS 64
#define PART_WAITS 2048
#define PART_PROCESSORS 1024 /* further ones are not counted */

/* Class n: at least 2^(n-1) bytes and less than 2^n; class 0: no bytes. */
#define PART_SIZES 32
#define PART_NONE UINT32_MAX

/* Returns the class of so many bytes. More than 2^30 count as 2^30. */
static inline uint32_t part_size_class(uint64_t bytes)
{
	uint64_t most = UINT64_C(1) << (PART_SIZES - 2);

	return 63 - (uint32_t)__builtin_clzll(2 * (bytes < most ? bytes : most) + 1);
}

#define PART_JOB_BYTES 64
#define PART_HOST_BYTES 64
#define PART_NAME_BYTES 64
#define PART_PATH_BYTES 512
#define PART_BUILD_ID_BYTES 20

enum part_state { PART_RUNNING, PART_ENDED };

struct part_header {
	uint64_t mark;
	uint32_t version;
	uint32_t state; /* enum part_state */
	int32_t rank;   /* -1: not known yet */
	int32_t size;
	int32_t pid;
	uint32_t has_counter; /* clock.h */
	uint64_t begun_ns;    /* CLOCK_MONOTONIC */
	uint64_t ended_ns;
	uint64_t begun_ticks; /* of the clock that calls are measured by */
	uint64_t ended_ticks;
	uint64_t lost;        /* calls and waits that found no room */
	uint64_t overwritten; /* calls of the timeline */
	uint32_t site_count;
	uint32_t window_count;
	uint32_t object_count;
	uint32_t wait_count;
	uint32_t chunk_count; /* 0: there is no timeline */
	uint32_t meeting_count;
	char job[PART_JOB_BYTES];
	char host[PART_HOST_BYTES];
	uint64_t processors[PART_PROCESSORS / 64]; /* a bit for each that the process may run on */
};

/* A window, from its creation on; its entry stays when it is freed. */
struct part_window {
	uint64_t key;    /* the same on all members */
	uint64_t number; /* Oriel's; 0: the window is left to the MPI */
	char name[PART_NAME_BYTES];
	char kind[16];
};

/* A file that calls come from. */
struct part_object {
	char path[PART_PATH_BYTES];
	uint8_t build_id[PART_BUILD_ID_BYTES];
	uint32_t build_id_bytes;
};

/* The calls of one function from one place, by one thread or several. */
struct part_site {
	uint64_t offset; /* in the object, behind the call */
	uint32_t object; /* PART_NONE: not known */
	uint32_t window; /* PART_NONE: none */
	char call[32];
	uint64_t bytes;
	uint64_t targets; /* bit n: calls to a rank of the job that leaves n when divided by 64 */
	uint64_t ticks;
	uint64_t sizes[PART_SIZES]; /* calls of each class: together all of them */
	uint64_t followed;          /* calls that go on where the one before them ended at the target */
};

#define PART_ROOTS 8

/* A rank that was late without waiting for another one itself, for so long. */
struct part_root {
	int32_t rank;
	uint32_t padding;
	uint64_t ns;
};

/* Waits of one site, for one rank, for one cause. */
struct part_wait {
	uint32_t site;
	uint32_t cause;  /* enum wait_cause */
	int32_t rank;    /* the rank awaited, of the job; -1: several, or not known */
	int32_t process; /* the number of the process awaited, on this host; 0: not known */
	uint32_t count;
	uint32_t root_count;
	uint64_t ns;
	uint64_t max_ns;
	uint64_t served;                    /* WAIT_PROGRESS: the rank was in no call until the end, so often */
	struct part_root roots[PART_ROOTS]; /* where the lateness began; further ranks: the last */
};

/* The kinds of calls that other ranks wait for. */
enum part_event { EVENT_POST, EVENT_COMPLETE, EVENT_FENCE, EVENT_UNLOCK, EVENT_SIGNAL, EVENT_COLLECTIVE, EVENT_COUNT };

#define PART_LATEST 8
#define PART_EPOCHS 4096
#define PART_LATENESSES 4096

/* A time in which the process waited for a rank that was late. A ring: the latest ones. */
struct part_lateness {
	uint64_t number; /* 0: being written */
	uint64_t begun_ns;
	uint64_t ended_ns;
	int32_t rank;
	uint32_t wait; /* it counts there, with its roots; PART_NONE: nowhere */
};

/*
 * Above it a call's number names for which rank the call was: of an unlock the member's number + 1
 * (0: all), of a post or complete in struct part_begin the rank + 1.
 */
#define PART_RANK_SHIFT 40

/* When the process began such a call. Written by the thread that calls. */
struct part_note {
	uint64_t number; /* of the call, as all its members count; 0: being written */
	uint64_t begun;  /* by the clock that calls are measured by */
};

/* The latest calls with a window, by event. */
struct part_notes {
	struct part_note latest[EVENT_COUNT][PART_LATEST];
};

#define PART_MEETINGS 64 /* the first, and as many of the last */

/* A call from which no member returned before all had begun it (meetings.c). */
struct part_meeting {
	uint64_t key; /* this and the number are the same on all members */
	uint64_t number;
	uint64_t begun_ns;
	uint64_t ended_ns;
};

/*
 * A rank of another machine cannot read notes. So the part lists what such a rank would look up.
 * The report, which has the parts of all machines, looks it up (report/remote.c). Both lists are
 * rings, which keep the latest.
 */
#define PART_BEGINS 16384
#define PART_REMOTE_WAITS 2048
#define PART_REMOTE_RANKS 8

/*
 * A note that stays. A post or complete has one for each rank of its group. Origin and target count
 * their epochs with each other: the n-th start, post, complete and wait belong together.
 */
struct part_begin {
	uint64_t number; /* 0: being written */
	uint64_t begun_ns;
	uint32_t window; /* PART_NONE: of the whole job */
	uint32_t event;  /* enum part_event */
};

/* A wait that a call of a rank of another machine may have ended. */
struct part_remote_wait {
	uint64_t number; /* of the call; EVENT_UNLOCK: 1 + the member whose lock it was */
	uint64_t begun_ns;
	uint64_t ended_ns;
	uint32_t site;
	uint32_t wait; /* all of its time counts there; PART_NONE: it counts for no wait */
	uint32_t event;
	uint32_t window;
	uint32_t rank_count; /* 0: any member */
	int32_t ranks[PART_REMOTE_RANKS];
	uint32_t epochs[PART_REMOTE_RANKS]; /* EVENT_POST, EVENT_COMPLETE: the epoch with each rank */
};

struct part_remote {
	uint32_t begin_count;
	uint32_t wait_count;
	struct part_begin begins[PART_BEGINS];
	struct part_remote_wait waits[PART_REMOTE_WAITS];
};

#define PART_DEATHS 16
#define PART_DEATH_BYTES 76 /* longer texts are cut */

/* How another rank died, by the launcher: "was killed by signal 9 (Killed)". */
struct part_death {
	int32_t rank;
	char text[PART_DEATH_BYTES];
};

/* When the process has been in calls, by the clock that these are measured by. */
struct part_presence {
	uint64_t entered; /* the call that a thread is in; 0: none */
	uint64_t inside;  /* for how long, in calls that have ended */
	uint64_t left;    /* the last call that has ended; 0: none */
};

struct part {
	struct part_header header;
	struct part_meeting meetings[2 * PART_MEETINGS];
	struct part_notes notes[PART_WINDOWS + 1]; /* the last: calls of the whole job */
	struct part_lateness latenesses[PART_LATENESSES];
	uint64_t lateness_count;
	struct part_window windows[PART_WINDOWS];
	struct part_object objects[PART_OBJECTS];
	struct part_site sites[PART_SITES];
	struct part_wait waits[PART_WAITS];
	struct part_remote remote;
	struct part_presence presence;
	struct part_note epochs[PART_EPOCHS]; /* begins of posts and completes, by a hash (notes.c) */
	uint64_t death_count;
	struct part_death deaths[PART_DEATHS];
};

/* ---- the timeline ---- */

#define PART_LANES 64 /* threads beyond share the last lane */
#define PART_CHUNK_BYTES 8192
#define PART_CHUNKS_MIN (2 * PART_LANES)
#define PART_CHUNKS_MAX (1 << 22)
#define PART_CHUNKS_OFFSET (2 << 20) /* in the file; a multiple of all systems' pages */
#define PART_CALL UINT16_MAX

/*
 * A call; or, in front of the call in which it was seen, a call of another rank that ended a wait.
 * A call's times are of the clock that calls are measured by, other times of CLOCK_MONOTONIC.
 */
struct part_entry {
	uint64_t begun; /* the call, or the other rank's call */
	uint64_t ended; /* the call; the other rank's: when it was seen */
	uint64_t bytes;
	int32_t rank;  /* of the job: the target, or the other rank; -1: none */
	uint16_t site; /* this rank's */
	uint16_t kind; /* PART_CALL, or the enum part_event of the other rank's call */
};

#define PART_CHUNK_ENTRIES 255

struct part_chunk {
	uint64_t number; /* chunks are used in this order, from 1 on; 0: never */
	uint64_t ticks;  /* both clocks, read together when its use began */
	uint64_t ns;
	uint32_t lane;
	uint32_t count;
	struct part_entry entries[PART_CHUNK_ENTRIES];
};

static_assert(sizeof(struct part) < PART_CHUNKS_OFFSET, "chunks begin behind the part");
static_assert(sizeof(struct part_entry) == 32 && sizeof(struct part_chunk) == PART_CHUNK_BYTES, "sizes of entries");

/* Returns how many bytes the file of a part has. */
static inline uint64_t part_file_bytes(uint32_t chunk_count)
{
	return chunk_count ? PART_CHUNKS_OFFSET + (uint64_t)chunk_count * PART_CHUNK_BYTES : sizeof(struct part);
}

/* Causes of waits, in the order of their names in the report. */
enum wait_cause {
	WAIT_LATE_POST,
	WAIT_LATE_COMPLETE,
	WAIT_LATE_FENCE,
	WAIT_LATE_COLLECTIVE,
	WAIT_LOCK,
	WAIT_DATA,
	WAIT_PROGRESS,
	WAIT_ROOM,
	WAIT_SETUP,
	WAIT_REGISTRATION,
	WAIT_SIGNAL,
	WAIT_THREADS,
	WAIT_HANDOVER,
	WAIT_SHORT,
	WAIT_UNKNOWN,
	WAIT_CAUSES
};

#define PART_FOLDER_BYTES 256
#define PART_FILE_BYTES (PART_FOLDER_BYTES + 64)

/* Writes the path of the user's folder of parts. */
void part_write_folder(char folder[PART_FOLDER_BYTES]);

/*
 * Makes a file of that prefix in the folder, which it makes, too, and to which no other user can
 * write. Returns its descriptor; or -1 with errno, and the path is that of what cannot be made.
 */
int part_file_make(const char *prefix, char path[PART_FILE_BYTES]);

/* Returns whether the limit of a file's size allows so many bytes; if not, errno is EFBIG. */
bool part_file_may_have(uint64_t bytes);

/* Takes room for bytes of a file: a full disk is an error, no signal. Returns false with errno. */
bool part_file_take_room(int fd, uint64_t from, uint64_t bytes);

/* Opens another process's file. Returns -1 if it is no file of this user, or smaller than that. */
int part_file_open(const char *path, size_t least_bytes);

#endif
