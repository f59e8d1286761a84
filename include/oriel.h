/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oriel.h - one-sided communication on InfiniBand verbs
 *
 * This header is the manual; the man pages are made from the blocks below. Each block says what a
 * call does, the units of its arguments, who owns what, when it is complete, which errors it gives,
 * what threads may do, its source: the number of a rule (tests/rules.md) or a section of MPI-4.1;
 * and for the central calls an example. How it all belongs together is told by oriel(7) and
 * oriel_epochs(7), in include/man.
 *
 * Every call that returns int gives 0 (or, where the block says so, a value that is not negative)
 * on success and a negative ORIEL_ERR_* otherwise; after an error nothing has changed unless the
 * block says so. oriel_last_error() then tells which call, rank, window and value were wrong. No
 * call prints on success, and none ends the process.
 *
 * Unless a block says otherwise, calls may be made from several threads at once (E4).
 *
 * A call that needs a connection for which this process, or the other rank, has no descriptors or
 * memory left gives ORIEL_ERR_LIMIT or ORIEL_ERR_MEMORY, with limit and remedy. Nobody counts as
 * dead; once something has been given back the call can be made again, as after ORIEL_ERR_TIMEOUT.
 */
#ifndef ORIEL_H
#define ORIEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

#define ORIEL_VERSION_MAJOR 0
#define ORIEL_VERSION_MINOR 1
#define ORIEL_VERSION_PATCH 0

/* A job: this process as one rank among others. */
typedef struct oriel_job oriel_job;
/* An ordered list of ranks. */
typedef struct oriel_group oriel_group;
/* Memory of every member of a group that the other members may read and write. */
typedef struct oriel_win oriel_win;
/* Local memory that has been registered with the device beforehand. */
typedef struct oriel_mem oriel_mem;

/* Error codes. None of them is -1, so that they cannot be taken for ORIEL_RANK_NONE. */
enum oriel_error {
	ORIEL_OK = 0,
	ORIEL_ERR_ARG = -2,       /* an argument is wrong: a null pointer, a bad size, an unknown assertion bit */
	ORIEL_ERR_HANDLE = -3,    /* a job, group, window or memory handle is null, freed, or of another kind */
	ORIEL_ERR_RANK = -4,      /* a rank is out of range, or stands twice in a group */
	ORIEL_ERR_RANGE = -5,     /* an operation would touch a byte outside the target's window */
	ORIEL_ERR_ACCESS = -6,    /* a put to a window whose memory its owner may only read */
	ORIEL_ERR_SYNC = -7,      /* the call is not legal in the window's present epochs */
	ORIEL_ERR_PEER = -8,      /* a rank that the call needs has died, or cannot be reached */
	ORIEL_ERR_TIMEOUT = -9,   /* the time limit passed; the epoch is still open and the call can be repeated */
	ORIEL_ERR_MEMORY = -10,   /* no memory, or the device could not register it */
	ORIEL_ERR_LIMIT = -11,    /* a named bound of the library was reached */
	ORIEL_ERR_DEVICE = -12,   /* no usable RDMA device, or the device failed */
	ORIEL_ERR_BOOTSTRAP = -13 /* the launcher could not be understood, reached, or trusted; or libev is missing */
};

/*
 * "Not a member": what oriel_group_rank and oriel_group_translate answer for a rank that is not in
 * the group.
 */
#define ORIEL_RANK_NONE (-1)
/* For oriel_win_flush and oriel_win_flush_local: every target of the epoch. */
#define ORIEL_RANK_ALL (-2)

/* Assertions (P14, F4): promises of the caller that may save work. 0 is always right. */
#define ORIEL_MODE_NOCHECK 0x01   /* start, post: the matching call has been made, or will be before any access */
#define ORIEL_MODE_NOSTORE 0x02   /* post, fence: no local stores to the window since the last synchronisation */
#define ORIEL_MODE_NOPUT 0x04     /* post, fence: no put will reach the local window until the epoch is closed */
#define ORIEL_MODE_NOPRECEDE 0x08 /* fence: closes no operations of any rank */
#define ORIEL_MODE_NOSUCCEED 0x10 /* fence: no operations follow, of any rank */

/*
 * What a program may choose when it joins a job. A field of 0 or NULL means: take the environment
 * variable named beside it, or the default; oriel_environment(7) tells more of each.
 */
struct oriel_options {
	size_t struct_bytes;      /* sizeof(struct oriel_options), set by the program */
	const char *device;       /* ORIEL_DEVICE: "rxe0", "card", "soft", "card+soft": by what to talk; man oriel_environment */
	const char *addr;         /* ORIEL_ADDR: the local address whose device to use, "10.0.0.1" */
	int timeout_ms;           /* ORIEL_TIMEOUT (seconds): the longest any call waits for a peer; default: for ever */
	int watchdog_ms;          /* ORIEL_WATCHDOG (seconds): after that long say once on stderr who waits for whom;
	                             default: 30 s, -1: never */
	size_t max_message_bytes; /* ORIEL_MAX_MESSAGE (bytes): split requests above this; default: the port's largest */
	const struct oriel_bootstrap *bootstrap; /* the program's own means to find the other ranks; default: ask whoever
	                                            started the process (ORIEL_BOOT) */
};

/*
 * How ranks find each other, where the program can tell them: it passes bytes already, by MPI or
 * sockets of its own. Each rank has one value of at most 255 bytes that the others need to know. The
 * program gives either exchange, which is simpler, or put and get, whose memory does not grow
 * with the ranks. All functions get context, give 0 on success, and another number on an error,
 * which the library's call then tells (ORIEL_ERR_BOOTSTRAP). They may not call the library.
 *
 * The struct is copied by oriel_init; what context leads to must live until oriel_finalize has
 * returned. Which value is whose, and that nobody else can read it or put it, is up to the program:
 * who knows a rank's value can connect to that rank.
 */
struct oriel_bootstrap {
	size_t struct_bytes; /* sizeof(struct oriel_bootstrap), set by the program */
	int rank;            /* this process's, 0 to size - 1, each once */
	int size;            /* ranks in the job, the same everywhere */
	int local_size;      /* how many of them on this machine; 0: not known. exchange finds it out; else 1 is taken */
	void *context;       /* for the functions */
	/*
	 * Collective over the job, as MPI_Allgather: rank i's size_bytes bytes at mine become bytes i *
	 * size_bytes and on at all, on every rank. Called twice by each rank, inside oriel_init by the
	 * thread that called it. A rank whose oriel_init fails in between takes part all the same.
	 */
	int (*exchange)(void *context, const void *mine, size_t size_bytes, void *all);
	/* Make this rank's value known. Called once, inside oriel_init by the thread that called it. */
	int (*put)(void *context, const void *value, size_t size_bytes);
	/*
	 * The value of another rank. *size_bytes is the room at value, 255 bytes, and becomes the size.
	 * Does not wait: 1 if the rank has not put yet, the library asks again; negative if it never
	 * will. Called by a thread of the library, one at a time, from oriel_init until oriel_finalize
	 * returns.
	 */
	int (*get)(void *context, int rank, void *value, size_t *size_bytes);
	/* End every rank of the job; for oriel_abort. By a thread of the library. NULL: oriel_abort does nothing. */
	int (*abort)(void *context, int status, const char *reason);
};

/* A hint for window creation; a list of them ends with a null key. */
struct oriel_hint {
	const char *key;
	const char *value;
};

/* What oriel_win_query tells about the local part of a window. */
struct oriel_win_info {
	size_t struct_bytes; /* sizeof(struct oriel_win_info), set by the program before the call */
	void *base;          /* first byte, exactly as given or allocated */
	size_t size_bytes;
	size_t disp_unit_bytes;
	oriel_group *group;           /* borrowed: lives as long as the window, must not be freed */
	int no_locks;                 /* hint no_locks: 1 if "true" was given */
	int same_size;                /* hint same_size */
	int same_disp_unit;           /* hint same_disp_unit */
	char accumulate_ordering[64]; /* hint accumulate_ordering; "rar,raw,war,waw" unless given */
	char accumulate_ops[32];      /* hint accumulate_ops; "same_op_no_op" unless given */
};

/* One piece of origin memory of a vector operation. A put only reads it. */
struct oriel_origin_piece {
	void *addr;
	size_t size_bytes;
};

/* One piece of a target's window: displacement in the target's units, size in bytes. */
struct oriel_target_piece {
	size_t disp;
	size_t size_bytes;
};

/* Memory that the library holds, in bytes; see oriel_usage. */
struct oriel_usage {
	size_t struct_bytes;     /* sizeof(struct oriel_usage), set by the program before the call */
	size_t ranks;            /* ranks in the job */
	size_t peers;            /* ranks this one talks to, or has */
	size_t windows;          /* windows now open */
	size_t links;            /* (window, peer) pairs in use */
	size_t base_bytes;       /* fixed part: device, directory root, service thread's tables */
	size_t peer_bytes;       /* per-peer state, without what the device keeps for a queue pair */
	size_t window_bytes;     /* per-window state */
	size_t link_bytes;       /* per-(window, peer) state */
	size_t registered_bytes; /* registered slabs: neighbour areas, flag words, directory, copy rings */
};

/**
 * oriel_init - join the job this process was started in
 *
 * Finds how the process was started (Open MPI's mpirun, mpiexec.hydra, srun with --mpi=pmix or
 * --mpi=pmi2, oriel-run; otherwise a job of one rank), picks an RDMA device, softverbs where there
 * is none, starts the service thread and makes this rank reachable. Does not wait for the other ranks, nor connect to any:
 * connections are made on first use. On success *job is a handle that oriel_finalize releases.
 * options may be NULL.
 *
 * A program that can already pass bytes between its ranks gives options->bootstrap: the ranks are
 * then those of its own numbering, whoever started it, and oriel_init is collective where it gives
 * exchange. For MPI (the example) all_gather does MPI_Allgather(mine, (int)size_bytes, MPI_BYTE,
 * all, (int)size_bytes, MPI_BYTE, MPI_COMM_WORLD).
 *
 * A process that shows traces of a launcher which has not told how to find the other ranks (plain
 * srun) is refused, rather than becoming one of N jobs of one rank.
 *
 * A process may fork while it has a job, and goes on; the child has none. There all handles are
 * invalid (ORIEL_ERR_HANDLE), and oriel_init makes a job of its own where the launcher's variables
 * do not say that it is the parent's rank, which is taken.
 *
 * Errors: ORIEL_ERR_ARG: also an environment variable that cannot be read, with its name, value and
 * what is legal; ORIEL_ERR_DEVICE: no RDMA device, with what was looked for and the ways out;
 * ORIEL_ERR_BOOTSTRAP: also that libev, which is opened here, is missing, with the package;
 * ORIEL_ERR_MEMORY: locked-memory limit too low, with need, limit and remedy.
 * Threads: one thread at a time per job.
 * Source: MPI-4.1 11.2; E1
 * Example:
 *   struct oriel_bootstrap bootstrap = {
 *   	.struct_bytes = sizeof(bootstrap), .rank = rank, .size = size, .exchange = all_gather
 *   };
 *   struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &bootstrap };
 *
 *   if (oriel_init(with_mpi ? &options : NULL, &job))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_init(const struct oriel_options *options, oriel_job **job);

/**
 * oriel_finalize - leave the job
 *
 * Every rank calls it. Every window must have been freed, and every mem deregistered, before.
 * Waits until the work requests of this rank are done and every living rank that it has talked to
 * has come here; then closes connections, ends the service thread and releases everything. It is no
 * barrier: ranks that have not talked to each other do not wait for each other. *job becomes NULL,
 * also when an error is returned, except for ORIEL_ERR_SYNC, ORIEL_ERR_HANDLE and
 * ORIEL_ERR_TIMEOUT. Groups of the job are invalid afterwards.
 *
 * A rank that has come here has left: another one that waits for it nevertheless, since a call of
 * one of the two has failed before, gets ORIEL_ERR_PEER. After ORIEL_ERR_TIMEOUT oriel_finalize is
 * to be called again; nothing else but oriel_abort is of use.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_SYNC: windows or registered memory are left, with their
 * number; ORIEL_ERR_PEER: a rank died, as far as this one knows, or an operation that had been
 * copied failed and nothing has told so yet (P5); ORIEL_ERR_TIMEOUT: a rank did not come in time.
 * Threads: no other thread may be inside a call on the job.
 * Source: MPI-4.1 11.2; E1, P5
 */
int oriel_finalize(oriel_job **job);

/**
 * oriel_rank - this process's rank in the job
 *
 * Returns: the rank, 0 to size - 1, or a negative error.
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 7.4.1
 */
int oriel_rank(const oriel_job *job);

/**
 * oriel_size - the number of ranks in the job
 *
 * Returns: the number, at least 1, or a negative error. Ranks that died are counted.
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 7.4.1
 */
int oriel_size(const oriel_job *job);

/**
 * oriel_barrier - wait until every rank of the job has called it
 *
 * Collective over the job. Says nothing about operations on windows.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_PEER: a rank died; ORIEL_ERR_TIMEOUT: the barrier is lost,
 * since others may have passed it.
 * Source: MPI-4.1 6.3; E4, E6
 */
int oriel_barrier(oriel_job *job);

/**
 * oriel_abort - ask the launcher to end every rank of the job
 *
 * The launcher prints reason (may be NULL), sends every rank SIGTERM and later SIGKILL, and exits
 * with status (1 to 255; others become 1). The call itself returns at once; the process ends by the
 * launcher's signal, not in here. In a job that no launcher started it does nothing but return 0;
 * where the program has given a bootstrap, its abort is called.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_BOOTSTRAP: the launcher cannot be reached.
 * Source: MPI-4.1 9.3
 */
int oriel_abort(oriel_job *job, int status, const char *reason);

/**
 * oriel_version - the library's version as text
 *
 * Returns: a constant text such as "0.1.0". Never NULL.
 * Source: MPI-4.1 9.1
 */
const char *oriel_version(void);

/**
 * oriel_usage - how much memory the library holds, and for what
 *
 * Fills *usage. The figures are those of this rank at this moment; they grow with the peers it
 * talks to and the windows it has, not with the ranks of the job.
 *
 * Errors: ORIEL_ERR_HANDLE, ORIEL_ERR_ARG.
 */
int oriel_usage(oriel_job *job, struct oriel_usage *usage);

/**
 * oriel_group_world - the group of all ranks of the job, in order
 *
 * Local. *group is released with oriel_group_free.
 *
 * Errors: ORIEL_ERR_HANDLE, ORIEL_ERR_ARG, ORIEL_ERR_MEMORY.
 * Source: MPI-4.1 7.3.2
 */
int oriel_group_world(oriel_job *job, oriel_group **group);

/**
 * oriel_group_incl - the group of some members of another, in the order given
 *
 * Member i of *newgroup is member ranks[i] of group. count may be 0: the empty group. Local. Lists
 * that are ranges with a stride are stored as such, whatever their length.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: a negative count, a null pointer; ORIEL_ERR_RANK: out of
 * range or twice.
 * Source: MPI-4.1 7.3.2; W6, P9, E2
 * Example:
 *   int ranks[] = { left, right };
 *   rc = oriel_group_incl(world, 2, ranks, &neighbours);
 */
int oriel_group_incl(const oriel_group *group, int count, const int ranks[], oriel_group **newgroup);

/**
 * oriel_group_free - release a group handle
 *
 * *group becomes NULL. Windows and epochs made with the group keep what they need of it.
 *
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 7.3.3
 */
int oriel_group_free(oriel_group **group);

/**
 * oriel_group_rank - this process's rank in a group
 *
 * Returns: the rank in the group, ORIEL_RANK_NONE if the process is no member, or a negative error
 * (never -1).
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 7.3.1
 */
int oriel_group_rank(const oriel_group *group);

/**
 * oriel_group_size - the number of members of a group
 *
 * Returns: the number, 0 for the empty group, or a negative error.
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 7.3.1
 */
int oriel_group_size(const oriel_group *group);

/**
 * oriel_group_translate - ranks of one group as ranks of another
 *
 * out[i] becomes the rank in group to of the process that is ranks[i] in group from, or
 * ORIEL_RANK_NONE. Both arrays hold count elements and may be the same array.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: null pointers, a negative count, groups of different
 * jobs; ORIEL_ERR_RANK: a rank that is not in from.
 * Source: MPI-4.1 7.3.1
 */
int oriel_group_translate(const oriel_group *from, int count, const int ranks[], const oriel_group *to, int out[]);

/**
 * oriel_win_create - open memory of every member of a group to the other members
 *
 * Collective over group: every member calls it, in the same order relative to the other collective
 * calls it makes on this list of members. base, size_bytes, disp_unit_bytes and hints may all
 * differ from rank to rank. Any memory will do (heap, stack, static, mapped files that can be
 * registered, any alignment); memory that may only be read makes a window that may only be got
 * from. size_bytes 0 is legal with any base, NULL too. The same bytes may lie in several windows.
 * The memory stays the caller's, and must stay mapped until oriel_win_free has returned.
 * Page-aligned memory, best from oriel_win_allocate, is fastest. A device that pins memory (every
 * NIC) goes on using the pages that were there when the window was made: after madvise(2) with
 * MADV_DONTNEED or MADV_FREE, a new mapping over the old one, mremap(2), or a hole punched into a
 * mapped file, the rank sees other pages than its peers, and nobody is told.
 *
 * disp_unit_bytes (1 to 2^31 - 1) is what others' displacements into this rank's memory are
 * multiplied by.
 *
 * hints may be NULL; known keys are no_locks, same_size, same_disp_unit ("true" or "false"),
 * accumulate_ordering and accumulate_ops; others are ignored.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG; ORIEL_ERR_RANK: the caller is not a member;
 * ORIEL_ERR_MEMORY: registration failed, with need, limit and remedy; ORIEL_ERR_LIMIT;
 * ORIEL_ERR_PEER; ORIEL_ERR_TIMEOUT: a member did not come in time. Where it fails on one member
 * after the arguments were accepted, it fails on all, but for one case: a member whose time passes
 * at the very moment when the last one comes may be left out by others, for whom it succeeds. For
 * these, operations on that member, epochs that name it, fence and oriel_win_free give
 * ORIEL_ERR_PEER, and nothing else is concerned; free releases the window as after a death.
 * Threads: several threads may create windows at once on different lists of members (E4).
 * Source: MPI-4.1 13.2.1; W1-W6, W9
 * Example:
 *   static double field[1000];
 *   rc = oriel_win_create(field, sizeof(field), sizeof(double), NULL, world, &win);
 */
int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win);

/**
 * oriel_win_allocate - as oriel_win_create, with memory that the library allocates
 *
 * *base becomes zeroed memory, aligned to a page, shared and backed by a memory file so that a
 * device that shares memory can map it (for size_bytes 0: NULL). All of it is allocated at once. It
 * is released by oriel_win_free.
 *
 * Errors: those of oriel_win_create; ORIEL_ERR_MEMORY also where the machine, or a control group,
 * has not so much left, with need, limit and remedy.
 * Source: MPI-4.1 13.2.2; W4
 * Example:
 *   void *base;
 *   rc = oriel_win_allocate(8000, sizeof(double), NULL, world, &base, &win);
 */
int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win);

/**
 * oriel_win_free - close a window
 *
 * Collective over the window's group. The rank's epochs on the window must be closed; a fence epoch
 * without operations of the rank since its fence counts as closed. On return *win is NULL, no peer
 * can reach the memory any more, and the caller may unmap it. If a member has died it still
 * releases everything, sets *win to NULL, and returns ORIEL_ERR_PEER.
 *
 * There is always a way out: once this rank knows that a member has died, or has left the window,
 * open epochs are no hindrance. They are given up: operations held back are not done, those under
 * way come to their end, buffers are the caller's again. Other members that wait for this rank in
 * an epoch are told by ORIEL_ERR_PEER. Members that are inside an epoch granted to them have a
 * second to end it; who goes on to put to freed memory loses the connection.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_SYNC: an epoch is open, or another thread is closing one, the
 * window lives on; ORIEL_ERR_PEER: *win is NULL all the same; ORIEL_ERR_TIMEOUT: the window lives on
 * and the call can be repeated.
 * Threads: no other thread may be inside a call on the window.
 * Source: MPI-4.1 13.2.5; W7, P5
 */
int oriel_win_free(oriel_win **win);

/**
 * oriel_win_query - base, size, displacement unit, group and hints of a window
 *
 * Fills *info for the local part of the window.
 *
 * Errors: ORIEL_ERR_HANDLE, ORIEL_ERR_ARG.
 * Source: MPI-4.1 13.2.6, 13.2.7
 */
int oriel_win_query(const oriel_win *win, struct oriel_win_info *info);

/**
 * oriel_mem_register - register origin memory beforehand
 *
 * Operations whose origin buffer lies in [base, base + size_bytes) need no copy and no registration
 * of their own. Never necessary for correctness. The memory must stay mapped until
 * oriel_mem_deregister. Local.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: NULL or size 0; ORIEL_ERR_MEMORY: with need, limit and
 * remedy.
 * Source: D7
 */
int oriel_mem_register(oriel_job *job, void *base, size_t size_bytes, oriel_mem **mem);

/**
 * oriel_mem_deregister - undo oriel_mem_register
 *
 * No operation that uses the memory may be outstanding. *mem becomes NULL. Local.
 *
 * Errors: ORIEL_ERR_HANDLE.
 * Source: D7
 */
int oriel_mem_deregister(oriel_mem **mem);

/**
 * oriel_put - copy origin memory into a target's window
 *
 * Copies size_bytes bytes from origin to displacement target_disp, counted in the target's
 * displacement unit from the target's base, in the window of rank target_rank of the window's
 * group. Needs an access epoch that names the target. A size of
 * 0 checks epoch and rank and does nothing else. May be larger than the device's largest message.
 *
 * Completion: nonblocking. The origin buffer must not change before the call that completes the
 * epoch, or a flush. The first operation to a peer may wait for the connection and the window's
 * description; that depends on the peer's service thread only. Operations of one epoch are
 * unordered among themselves.
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: null origin; ORIEL_ERR_RANK; ORIEL_ERR_SYNC: no epoch,
 * or one that does not name the target; ORIEL_ERR_RANGE: before anything is sent; ORIEL_ERR_ACCESS;
 * ORIEL_ERR_PEER; ORIEL_ERR_MEMORY; ORIEL_ERR_TIMEOUT.
 * Source: MPI-4.1 13.3.1; D1-D8, W3
 * Example:
 *   if (oriel_win_start(win, neighbours, 0) || oriel_put(win, &value, sizeof(value), right, 10) ||
 *       oriel_win_complete(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_put(oriel_win *win, const void *origin, size_t size_bytes, int target_rank, size_t target_disp);

/**
 * oriel_get - copy from a target's window into origin memory
 *
 * The mirror of oriel_put: size_bytes bytes from the target's window to origin. The origin buffer
 * must not be read or written before the call that completes the epoch, or a flush.
 *
 * Errors: those of oriel_put but ORIEL_ERR_ACCESS.
 * Source: MPI-4.1 13.3.2; D1-D8, W3
 * Example:
 *   if (oriel_win_fence(win, 0) || oriel_get(win, &value, sizeof(value), right, 10) ||
 *       oriel_win_fence(win, 0))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_get(oriel_win *win, void *origin, size_t size_bytes, int target_rank, size_t target_disp);

/**
 * oriel_putv - put a list of pieces
 *
 * The bytes of the origin_count origin pieces, one after the other, are copied to the target_count
 * target pieces, one after the other. Both lists must hold the same number of bytes; pieces of size
 * 0 are legal. The lists themselves may be changed when the call returns. Either every piece is
 * accepted or none.
 *
 * Errors: those of oriel_put; ORIEL_ERR_ARG: sums that differ or overflow, a negative count, a null
 * list.
 * Source: MPI-4.1 13.3.1 (derived datatypes); D1-D8
 * Example:
 *   struct oriel_origin_piece from[] = { { out, 100 }, { out + 200, 100 } };
 *   struct oriel_target_piece to[] = { { 0, 150 }, { 400, 50 } };
 *   
 *   rc = oriel_putv(win, from, 2, right, to, 2);
 */
int oriel_putv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count);

/**
 * oriel_getv - get a list of pieces
 *
 * The mirror of oriel_putv.
 *
 * Errors: those of oriel_putv but ORIEL_ERR_ACCESS.
 * Source: MPI-4.1 13.3.2 (derived datatypes); D1-D8
 */
int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count);

/**
 * oriel_win_flush - complete the operations issued so far, at origin and target
 *
 * Legal inside any access epoch; target_rank is a target of the epoch or ORIEL_RANK_ALL. On return
 * the operations this rank issued to the target are complete at both sides; the epoch stays open.
 * In an epoch opened by start it waits for the target's post.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_RANK; ORIEL_ERR_SYNC; ORIEL_ERR_PEER: a target died or has
 * left the window; ORIEL_ERR_TIMEOUT: can be repeated.
 * Source: MPI-4.1 13.5.4, extended to every access epoch; P4
 */
int oriel_win_flush(oriel_win *win, int target_rank);

/**
 * oriel_win_flush_local - complete the operations issued so far, at the origin
 *
 * As oriel_win_flush, but says nothing about the target: put buffers may be reused, got data may be
 * read.
 *
 * Errors: those of oriel_win_flush.
 * Source: MPI-4.1 13.5.4, extended to every access epoch; P4
 * Example:
 *   if (oriel_get(win, &where, sizeof(where), right, 0) || oriel_win_flush_local(win, right) ||
 *       oriel_put(win, &value, sizeof(value), right, where))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_flush_local(oriel_win *win, int target_rank);

/**
 * oriel_win_post - open an exposure epoch: let the members of group reach the local memory
 *
 * group lists the origins, ranks of the job that are members of the window's group. Local: never
 * waits for another rank. An empty group makes it a call without effect, after which one wait or
 * test is legal. Assertions: ORIEL_MODE_NOCHECK, ORIEL_MODE_NOSTORE, ORIEL_MODE_NOPUT.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: assertions; ORIEL_ERR_RANK: a member of group is not in
 * the window's; ORIEL_ERR_SYNC: an exposure epoch or a fence epoch with operations is open;
 * ORIEL_ERR_PEER: an earlier operation failed (P5; an origin that is dead or has left the window is
 * told by wait); ORIEL_ERR_MEMORY.
 * Source: MPI-4.1 13.5.2; P1, P2, P6, P9-P14
 * Example:
 *   if (oriel_win_post(win, neighbours, 0) || oriel_win_wait(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_post(oriel_win *win, const oriel_group *group, int assertions);

/**
 * oriel_win_start - open an access epoch to the members of group
 *
 * group lists the targets. Does not block: operations issued before a target's post has arrived are
 * held back and go out at a later call on the window, at the latest in complete or flush. An empty
 * group makes it a call without effect, after which one complete is legal. Assertions:
 * ORIEL_MODE_NOCHECK, which the matching post must carry too.
 *
 * Errors: as oriel_win_post, for access epochs.
 * Source: MPI-4.1 13.5.2; P1-P4, P9-P14
 * Example:
 *   if (oriel_win_start(win, neighbours, 0) || oriel_put(win, &value, sizeof(value), left, 0) ||
 *       oriel_win_complete(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_start(oriel_win *win, const oriel_group *group, int assertions);

/**
 * oriel_win_complete - close the access epoch
 *
 * Waits for the post of every target of the epoch. On return every operation of the epoch is
 * complete at the origin: put buffers may be reused, got data may be read. Nothing is promised
 * about the target.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_SYNC: no access epoch; ORIEL_ERR_PEER: a target died, or has
 * left the window after an error; the epoch is closed, and complete for the other targets, unless
 * one of these has still not posted half a second later: then the epoch stays open, and the call is
 * to be repeated for the living ones, or the window freed; ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY: the
 * epoch stays open and the call can be repeated. An operation that was copied and fails later is
 * reported by a later call on the window (P5).
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.2; P3-P5, P11, P12, E5
 * Example:
 *   if (oriel_win_post(win, neighbours, 0) || oriel_win_start(win, neighbours, 0) ||
 *       oriel_put(win, &value, sizeof(value), left, 0) || oriel_win_complete(win) || oriel_win_wait(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_complete(oriel_win *win);

/**
 * oriel_win_wait - close the exposure epoch
 *
 * Waits until every origin of the group has called complete. All their operations are then complete
 * in local memory.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_SYNC: no exposure epoch; ORIEL_ERR_PEER: an origin died, or
 * left the window after an error, before its complete; the epoch is closed, though living origins
 * may still be inside theirs: a post that names one of them is ORIEL_ERR_SYNC until it has completed
 * or left; ORIEL_ERR_TIMEOUT: the epoch stays open and the call can be repeated.
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.2; P7, E5
 */
int oriel_win_wait(oriel_win *win);

/**
 * oriel_win_test - close the exposure epoch if that needs no waiting
 *
 * *flag becomes 1 if every origin has completed: the epoch is closed as by oriel_win_wait.
 * Otherwise *flag becomes 0 and nothing visible has changed. Called again and again it becomes true
 * without any other call. After true, a further test before the next post is ORIEL_ERR_SYNC.
 *
 * Errors: those of oriel_win_wait but ORIEL_ERR_TIMEOUT; ORIEL_ERR_ARG: null flag.
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.2; P8
 * Example:
 *   while ((rc = oriel_win_test(win, &flag)) == 0 && !flag)
 *   	compute();
 */
int oriel_win_test(oriel_win *win, int *flag);

/**
 * oriel_win_fence - close the fence epoch before, open the one after
 *
 * Collective over the window's group. Operations this rank issued since the fence before are
 * complete at origin and target; operations issued afterwards reach a target only when that target
 * has called the fence too. Assertions: ORIEL_MODE_NOSTORE, ORIEL_MODE_NOPUT, ORIEL_MODE_NOPRECEDE,
 * ORIEL_MODE_NOSUCCEED; the last two are given by all members or none.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG; ORIEL_ERR_SYNC: a post or start epoch is open;
 * ORIEL_ERR_PEER: a member died; ORIEL_ERR_TIMEOUT: repeat the call to go on with the same fence.
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.1; F1-F4
 * Example:
 *   if (oriel_win_fence(win, ORIEL_MODE_NOPRECEDE) || oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_fence(oriel_win *win, int assertions);

/**
 * oriel_strerror - what an error code means, as text
 *
 * Returns: a constant text, for unknown codes too. Never NULL.
 */
const char *oriel_strerror(int error);

/**
 * oriel_last_error - what went wrong in this thread's last failed call
 *
 * Returns: a text that names the call, rank, window, value and limit; "" if no call of this thread
 * has failed. It is the thread's own and is overwritten by its next failing call.
 * Source: E1
 */
const char *oriel_last_error(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
