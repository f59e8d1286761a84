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
 */
#ifndef ORIEL_PART_H
#define ORIEL_PART_H

#include <assert.h>
#include <stdint.h>

#define PART_MARK 0x746c666f72706c6fULL /* "olproflt" */
#define PART_VERSION 1
#define PART_PREFIX "profile."

#define PART_SITES 1024
#define PART_WINDOWS 256
#define PART_OBJECTS 64
#define PART_WAITS 2048
#define PART_SIZES 32 /* class n: at least 2^(n-1) bytes and less than 2^n; class 0: no bytes */
#define PART_NONE UINT32_MAX

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
	uint64_t lost; /* calls and waits that found no room */
	uint32_t site_count;
	uint32_t window_count;
	uint32_t object_count;
	uint32_t wait_count;
	char job[PART_JOB_BYTES];
	char host[PART_HOST_BYTES];
};

/* A window, from its creation on; its entry stays when it is freed. */
struct part_window {
	uint64_t key; /* the same on all members */
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
	uint64_t count;
	uint64_t bytes;
	uint64_t ticks;
	uint64_t sizes[PART_SIZES];
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
	struct part_root roots[PART_ROOTS]; /* where the lateness began; further ranks: the last */
};

/* The kinds of calls that other ranks wait for. */
enum part_event { EVENT_POST, EVENT_COMPLETE, EVENT_FENCE, EVENT_UNLOCK, EVENT_SIGNAL, EVENT_COLLECTIVE, EVENT_COUNT };

#define PART_LATEST 8
#define PART_LATENESSES 64

/* A time in which the process waited for a rank that was late. */
struct part_lateness {
	uint64_t number; /* 0: being written */
	uint64_t begun_ns;
	uint64_t ended_ns;
	int64_t rank;
};

/* When the process began such a call. Written by the thread that calls. */
struct part_note {
	uint64_t number; /* of the call, as all its members count; 0: being written */
	uint64_t begun_ns;
};

/* The latest calls with a window, by event. */
struct part_notes {
	struct part_note latest[EVENT_COUNT][PART_LATEST];
};

struct part {
	struct part_header header;
	struct part_notes notes[PART_WINDOWS + 1];        /* the last: calls of the whole job */
	struct part_lateness latenesses[PART_LATENESSES]; /* the latest */
	struct part_window windows[PART_WINDOWS];
	struct part_object objects[PART_OBJECTS];
	struct part_site sites[PART_SITES];
	struct part_wait waits[PART_WAITS];
};

static_assert(sizeof(struct part) < 1 << 20, "a part is below 1 MiB");

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

/* Writes the path of the user's folder of parts. */
void part_write_folder(char folder[PART_FOLDER_BYTES]);

/* Opens another process's part. Returns -1 if it is no file of this user and of a part's size. */
int part_file_open(const char *path);

#endif
