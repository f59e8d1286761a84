// SPDX-License-Identifier: BSD-2-Clause
/*
 * epoch.h - which epochs of a window are open, and which call is legal in them
 *
 * win->sync has one bit for each open epoch and each call in progress; the table below decides from
 * it what is legal. An epoch with an empty group obstructs no call: the next call ends it (P9).
 * win->lock guards all of it.
 */
#ifndef ORIEL_EPOCH_H
#define ORIEL_EPOCH_H

#include <stdint.h>

struct oriel_win;
struct epoch;
struct oriel_group;

enum sync_bit {
	SYNC_ACCESS = 0x001,          /* with members */
	SYNC_ACCESS_NOBODY = 0x002,   /* with an empty group */
	SYNC_COMPLETING = 0x004,      /* a thread is inside complete */
	SYNC_EXPOSURE = 0x008,        /* with members */
	SYNC_EXPOSURE_NOBODY = 0x010, /* with an empty group */
	SYNC_WAITING = 0x020,         /* a thread is inside wait or test */
	SYNC_FENCE = 0x040,
	SYNC_FENCE_USED = 0x080,  /* operations of this rank since the fence */
	SYNC_FENCE_BEGUN = 0x100, /* a fence is in progress, or has timed out */
	SYNC_FENCING = 0x200,     /* a thread is inside fence */
	SYNC_FREEING = 0x400,     /* a free has begun, or has timed out */
	SYNC_LOCK = 0x800,        /* win->locks.open lock epochs are open, being opened or being closed */
	SYNC_LOCK_ALL = 0x1000,
	SYNC_LOCKING_ALL = 0x2000, /* a thread is inside lock_all or unlock_all */
	SYNC_UNKIND = 0x4000,      /* always, with ORIEL_UNKIND */
};

#define SYNC_ACCESS_ALL (SYNC_ACCESS | SYNC_ACCESS_NOBODY | SYNC_COMPLETING)
#define SYNC_EXPOSURE_ALL (SYNC_EXPOSURE | SYNC_EXPOSURE_NOBODY | SYNC_WAITING)
#define SYNC_LOCKS_ALL (SYNC_LOCK | SYNC_LOCK_ALL | SYNC_LOCKING_ALL)

/* Access epochs whose targets have LINK_ACCESS. */
#define SYNC_NAMING (SYNC_ACCESS | SYNC_LOCK | SYNC_LOCK_ALL)

#define SYNC_NO_OPERATION \
	(SYNC_ACCESS_NOBODY | SYNC_COMPLETING | SYNC_FENCE_BEGUN | SYNC_FENCING | SYNC_FREEING | SYNC_LOCKING_ALL)

/* With any of these the gate (op/gate.h) is shut. */
#define SYNC_SHUT (SYNC_NO_OPERATION | SYNC_UNKIND)

enum sync_call {
	CALL_START,
	CALL_COMPLETE,
	CALL_POST,
	CALL_WAIT,
	CALL_FENCE,
	CALL_OPERATION,
	CALL_FREE,
	CALL_FREE_LOST, /* the window has lost a member: open epochs are abandoned */
	CALL_FOR_SOMEBODY,
	CALL_LOCK,
	CALL_UNLOCK,
	CALL_LOCK_ALL,
	CALL_UNLOCK_ALL,
};

/* The bits that a call clears, those that refuse it, and those of which it needs one (0: none). */
struct legality {
	unsigned ends;
	unsigned forbids;
	unsigned needs;
};

#define SYNC_FENCE_PENDING (SYNC_FENCE_USED | SYNC_FENCE_BEGUN)

/*
 * Fence and free ignore epochs with an empty group: CALL_FOR_SOMEBODY is checked besides only if
 * the group has members.
 */
// clang-format off
static const struct legality legality[] = {
	/* ends forbids needs */
	[CALL_START]     = { SYNC_ACCESS_NOBODY,                        SYNC_ACCESS | SYNC_LOCKS_ALL,             0 },
	[CALL_POST]      = { SYNC_EXPOSURE_NOBODY,                      SYNC_EXPOSURE,                            0 },
	[CALL_FOR_SOMEBODY] = { 0,                                      SYNC_FENCE_PENDING | SYNC_FREEING,        0 },
	[CALL_COMPLETE]  = { 0,                                         SYNC_COMPLETING,                          SYNC_ACCESS | SYNC_ACCESS_NOBODY },
	[CALL_WAIT]      = { 0,                                         SYNC_WAITING,                             SYNC_EXPOSURE | SYNC_EXPOSURE_NOBODY },
	[CALL_OPERATION] = { SYNC_ACCESS_NOBODY,                        SYNC_NO_OPERATION & ~SYNC_ACCESS_NOBODY,  SYNC_NAMING | SYNC_FENCE },
	[CALL_FENCE]     = { SYNC_ACCESS_NOBODY | SYNC_EXPOSURE_NOBODY, SYNC_ACCESS | SYNC_EXPOSURE | SYNC_LOCKS_ALL |
	                                                                SYNC_FENCING | SYNC_FREEING,              0 },
	[CALL_FREE]      = { SYNC_ACCESS_NOBODY | SYNC_EXPOSURE_NOBODY, SYNC_ACCESS | SYNC_EXPOSURE | SYNC_LOCKS_ALL |
	                                                                SYNC_FENCE_PENDING | SYNC_FENCING,        0 },
	[CALL_FREE_LOST] = { 0,                                         SYNC_COMPLETING | SYNC_WAITING |
	                                                                SYNC_FENCING | SYNC_LOCKING_ALL,          0 },
	[CALL_LOCK]      = { SYNC_ACCESS_NOBODY,                        SYNC_ACCESS | SYNC_LOCK_ALL | SYNC_LOCKING_ALL |
	                                                                SYNC_FENCE_PENDING | SYNC_FENCING | SYNC_FREEING, 0 },
	[CALL_UNLOCK]    = { 0,                                         0,                                        SYNC_LOCK },
	[CALL_LOCK_ALL]  = { SYNC_ACCESS_NOBODY,                        SYNC_ACCESS | SYNC_LOCKS_ALL |
	                                                                SYNC_FENCE_PENDING | SYNC_FENCING | SYNC_FREEING, 0 },
	[CALL_UNLOCK_ALL]= { 0,                                         SYNC_LOCKING_ALL,                         SYNC_LOCK_ALL },
};
// clang-format on

#define EPOCH_WHY_BYTES 400

/* Returns why a call is refused. Under win->lock. */
const char *epoch_why_not(const struct oriel_win *win, enum sync_call call, char text[EPOCH_WHY_BYTES]);

/* Returns ORIEL_ERR_SYNC with that text for the call `name`. */
int epoch_refuse(const struct oriel_win *win, enum sync_call call, const char *name);

/* Stands for no group, or an empty one, in struct epoch. */
extern const struct oriel_group no_group;

/*
 * Makes the links to the members, and requests their descriptions. ERRORS: ORIEL_ERR_RANK,
 * ORIEL_ERR_MEMORY; the epoch is unchanged.
 */
int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call);

#endif
