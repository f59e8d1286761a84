// SPDX-License-Identifier: BSD-2-Clause
/*
 * epoch.h - which epochs of a window are open, and which call is legal in them
 *
 * win->sync says what is open and which call is inside, one bit each; the table below is the only
 * place that decides by it what is legal. An access or exposure epoch with an empty group stands
 * in nobody's way and is ended by any other call (P9). All of it is guarded by win->lock.
 */
#ifndef ORIEL_EPOCH_H
#define ORIEL_EPOCH_H

#include <stdint.h>

struct oriel_win;
struct epoch;
struct oriel_group;

enum sync_bit {
	SYNC_ACCESS = 0x001,          /* start, to somebody */
	SYNC_ACCESS_NOBODY = 0x002,   /* start, with an empty group */
	SYNC_COMPLETING = 0x004,      /* a thread is inside complete */
	SYNC_EXPOSURE = 0x008,        /* post, for somebody */
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

/* What ends with an access epoch, and with an exposure epoch. */
#define SYNC_ACCESS_ALL (SYNC_ACCESS | SYNC_ACCESS_NOBODY | SYNC_COMPLETING)
#define SYNC_EXPOSURE_ALL (SYNC_EXPOSURE | SYNC_EXPOSURE_NOBODY | SYNC_WAITING)
#define SYNC_LOCKS_ALL (SYNC_LOCK | SYNC_LOCK_ALL | SYNC_LOCKING_ALL)

/* Access epochs in which a target carries LINK_ACCESS: all but those of a fence. */
#define SYNC_NAMING (SYNC_ACCESS | SYNC_LOCK | SYNC_LOCK_ALL)

/* With any of these no operation goes out. */
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
	CALL_FREE_LOST, /* free of a window that has lost a member: it gives up what is open */
	CALL_FOR_SOMEBODY,
	CALL_LOCK,
	CALL_UNLOCK,
	CALL_LOCK_ALL,
	CALL_UNLOCK_ALL,
};

/* What a call passes over and ends, what must not be set, and (unless 0) of what one must be. */
struct legality {
	unsigned ends;
	unsigned forbids;
	unsigned needs;
};

#define SYNC_FENCE_PENDING (SYNC_FENCE_USED | SYNC_FENCE_BEGUN)

/*
 * The table. A start or post for nobody begins no epoch that a fence or a free could mind: a second
 * condition, CALL_FOR_SOMEBODY, is looked at only where the group has members.
 */
// clang-format off
static const struct legality legality[] = {
	/*                  ends                                        forbids                                   needs */
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

/* Returns why a call is refused, only when it is. The caller holds win->lock. */
const char *epoch_why_not(const struct oriel_win *win, enum sync_call call, char text[EPOCH_WHY_BYTES]);

/* The error for that; name is the call's. ERRORS: ORIEL_ERR_SYNC. */
int epoch_refuse(const struct oriel_win *win, enum sync_call call, const char *name);

/* Of an epoch that was last opened for nobody, or not at all. */
extern const struct oriel_group no_group;

/*
 * Make the links of an epoch to the members of group, ask for their descriptions. On an error the
 * epoch is as before. ERRORS: ORIEL_ERR_RANK, ORIEL_ERR_MEMORY.
 */
int epoch_open(struct oriel_win *win, struct epoch *epoch, const struct oriel_group *group, const char *call);

#endif
