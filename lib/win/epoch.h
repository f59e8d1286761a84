// SPDX-License-Identifier: BSD-2-Clause
/*
 * epoch.h - which epochs of a window are open, and which call is legal in them
 *
 * win->sync has one bit for each open epoch and each call in progress. The table below alone
 * decides from it what is legal. An access or exposure epoch with an empty group obstructs no call;
 * the next call ends it (P9). win->lock guards all of it.
 */
#ifndef ORIEL_EPOCH_H
#define ORIEL_EPOCH_H

#include <stdint.h>

struct oriel_win;
struct epoch;
struct oriel_group;

enum sync_bit {
	SYNC_ACCESS = 0x001,          /* start, with members */
	SYNC_ACCESS_NOBODY = 0x002,   /* start, with an empty group */
	SYNC_COMPLETING = 0x004,      /* a thread is inside complete */
	SYNC_EXPOSURE = 0x008,        /* post, with members */
	SYNC_EXPOSURE_NOBODY = 0x010, /* post, with an empty group */
	SYNC_WAITING = 0x020,         /* a thread is inside wait or test */
	SYNC_FENCE = 0x040,           /* a fence epoch is open: any member may be accessed */
	SYNC_FENCE_USED = 0x080,      /* operations of this rank since the fence */
	SYNC_FENCE_BEGUN = 0x100,     /* a fence is in progress, or has timed out and waits to be repeated */
	SYNC_FENCING = 0x200,         /* a thread is inside fence */
	SYNC_FREEING = 0x400,         /* a free has begun; it may have timed out half-way */
	SYNC_LOCK = 0x800,            /* lock epochs are open, or being opened or closed: win->locks.open of them */
	SYNC_LOCK_ALL = 0x1000,       /* lock_all */
	SYNC_LOCKING_ALL = 0x2000,    /* a thread is inside lock_all or unlock_all */
};

/* The bits that end with an access epoch, with an exposure epoch, and with lock epochs. */
#define SYNC_ACCESS_ALL (SYNC_ACCESS | SYNC_ACCESS_NOBODY | SYNC_COMPLETING)
#define SYNC_EXPOSURE_ALL (SYNC_EXPOSURE | SYNC_EXPOSURE_NOBODY | SYNC_WAITING)
#define SYNC_LOCKS_ALL (SYNC_LOCK | SYNC_LOCK_ALL | SYNC_LOCKING_ALL)

/* Access epochs in which a target has LINK_ACCESS: all but fence epochs. */
#define SYNC_NAMING (SYNC_ACCESS | SYNC_LOCK | SYNC_LOCK_ALL)

/* No operation is issued while one of these is set. */
#define SYNC_NO_OPERATION \
	(SYNC_ACCESS_NOBODY | SYNC_COMPLETING | SYNC_FENCE_BEGUN | SYNC_FENCING | SYNC_FREEING | SYNC_LOCKING_ALL)

enum sync_call {
	CALL_START,
	CALL_COMPLETE,
	CALL_POST,
	CALL_WAIT,
	CALL_FENCE,
	CALL_OPERATION,
	CALL_FREE,
	CALL_FREE_LOST, /* free of a window that has lost a member: it abandons open epochs */
	CALL_FOR_SOMEBODY,
	CALL_LOCK,
	CALL_UNLOCK,
	CALL_LOCK_ALL,
	CALL_UNLOCK_ALL,
};

/*
 * Bits that a call clears, bits of which none may be set, and bits of which one must be (0: none).
 */
struct legality {
	unsigned ends;
	unsigned forbids;
	unsigned needs;
};

#define SYNC_FENCE_PENDING (SYNC_FENCE_USED | SYNC_FENCE_BEGUN)

/*
 * A start or post with an empty group begins no epoch that a fence or a free needs to know of.
 * CALL_FOR_SOMEBODY is a second condition, checked only where the group has members.
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

/* Returns why a call is refused. Called only after a refusal, with win->lock held. */
const char *epoch_why_not(const struct oriel_win *win, enum sync_call call, char text[EPOCH_WHY_BYTES]);

/* Returns ORIEL_ERR_SYNC with the text of epoch_why_not. `name` is the call's. */
int epoch_refuse(const struct oriel_win *win, enum sync_call call, const char *name);

/* The empty group: of an epoch that was last opened for it, or never opened. */
extern const struct oriel_group no_group;

/*
 * Makes the links to the members of `group`, and requests their descriptions. An error leaves the
 * epoch unchanged. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_MEMORY.
 */
int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call);

#endif
