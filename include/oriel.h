/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oriel.h - one-sided communication on InfiniBand verbs
 *
 * This header is the reference: the man pages of section 3 are made from its blocks. oriel(7) and
 * oriel_epochs(7), in include/man, explain how the calls belong together.
 *
 * A block has a title, a description, and the sections that apply, in this order:
 *
 *   Arguments   the shape, unit and owner of each argument
 *   Completion  whether other ranks take part, and when the call's effect is complete
 *   Returns     the value, unless it is 0 or a negative error
 *   Errors      each error, its cause, and the state that it leaves
 *   Threads     limits for threads, if there are any
 *   MPI         the MPI call that the call corresponds to
 *   Source      sections of MPI-4.1, and rules of tests/rules.md
 *   Example     a piece of C
 *
 * A local call waits for no other rank. A collective call is made by every member of the group or
 * every rank of the job. Memory that an argument points to stays the caller's, and the library uses
 * it during the call only, unless the block says otherwise.
 *
 * A call that returns int returns 0 on success, or another value that is not negative if the block
 * says so, and a negative ORIEL_ERR_* on failure. A failed call changes nothing unless the block
 * says otherwise. oriel_last_error() then returns a text that begins with this process's rank,
 * names call, rank, window and value, and ends with the constant. No call prints on success, and
 * no call ends the process.
 *
 * Several threads may make calls at once, unless the block says otherwise (E4).
 *
 * A call that needs a new connection returns ORIEL_ERR_LIMIT or ORIEL_ERR_MEMORY if this process or
 * the other rank has no descriptors or memory left for it; the text has limit and remedy. No rank
 * counts as dead for that reason: the call can be repeated once something has been released, as
 * after ORIEL_ERR_TIMEOUT.
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

/* A job: this process as one rank of several. */
typedef struct oriel_job oriel_job;
/* An ordered list of ranks. */
typedef struct oriel_group oriel_group;
/* Memory of every member of a group that the other members may read and write. */
typedef struct oriel_win oriel_win;
/* Local memory that has been registered with the device in advance. */
typedef struct oriel_mem oriel_mem;

/*
 * A request of oriel_win_iflush: everything that this rank had issued up to some moment. The object
 * is the program's, which may copy and drop it. Its members are private to the library.
 */
typedef struct oriel_request {
	oriel_win *win;
	uint64_t window_serial;
	uint64_t number;
	uint64_t am_number;
	int target_rank;
	int scope;
} oriel_request;

/* Error codes. None of them is -1, so that they cannot be taken for ORIEL_RANK_NONE. */
enum oriel_error {
	ORIEL_OK = 0,
	ORIEL_ERR_ARG = -2,        /* a wrong argument: a null pointer, a size, an unknown assertion */
	ORIEL_ERR_HANDLE = -3,     /* a handle is null, freed, or of another kind */
	ORIEL_ERR_RANK = -4,       /* a rank is out of range, or is in a group twice */
	ORIEL_ERR_RANGE = -5,      /* an operation would touch a byte outside the target's window */
	ORIEL_ERR_ACCESS = -6,     /* a put to read-only window memory */
	ORIEL_ERR_SYNC = -7,       /* the call is not legal in the window's present epochs */
	ORIEL_ERR_PEER = -8,       /* a rank that the call needs has died, or its connection is lost */
	ORIEL_ERR_TIMEOUT = -9,    /* time limit: the epoch is still open, the call can be repeated */
	ORIEL_ERR_MEMORY = -10,    /* no memory, or the device could not register it */
	ORIEL_ERR_LIMIT = -11,     /* a bound of the library was reached; the text names it */
	ORIEL_ERR_DEVICE = -12,    /* no usable RDMA device, or the device failed */
	ORIEL_ERR_BOOTSTRAP = -13, /* launcher not understood, reached, trusted; or no libev */
	ORIEL_ERR_OP = -14,        /* the operation is not defined for the type, or not legal here */
	ORIEL_ERR_ATTACH = -15,    /* memory is attached already, or is not attached */
	ORIEL_ERR_KIND = -16,      /* the call is not for this kind of window */
	ORIEL_ERR_SHARED = -17,    /* the members cannot share memory */
	ORIEL_ERR_ROUTE = -18      /* a needed rank lives: there is no way to it, or it refuses */
};

/* Where a window's memory comes from. */
enum oriel_win_kind {
	ORIEL_WIN_CREATED = 1,   /* the program: oriel_win_create */
	ORIEL_WIN_ALLOCATED = 2, /* the library: oriel_win_allocate */
	ORIEL_WIN_SHARED = 3,    /* one memory that all members map: oriel_win_allocate_shared */
	ORIEL_WIN_DYNAMIC = 4    /* attached and detached later: oriel_win_create_dynamic */
};

/* "Not a member": a result of oriel_group_rank and oriel_group_translate. */
#define ORIEL_RANK_NONE (-1)
/* For oriel_win_flush, oriel_win_iflush and their local forms: every target of the epoch. */
#define ORIEL_RANK_ALL (-2)

/*
 * Assertions (P14, F4, L12): promises of the caller that can save work. 0 is always right.
 * ORIEL_MODE_NOCHECK in start and post: the matching call has been made, or will be before any
 * access. In lock and lock_all: no rank holds or asks for a lock that excludes this one.
 */
#define ORIEL_MODE_NOCHECK 0x01
#define ORIEL_MODE_NOSTORE 0x02   /* post, fence: no local stores since the last synchronisation */
#define ORIEL_MODE_NOPUT 0x04     /* post, fence: no put comes until the epoch is closed */
#define ORIEL_MODE_NOPRECEDE 0x08 /* fence: it closes no operations of any rank */
#define ORIEL_MODE_NOSUCCEED 0x10 /* fence: no operations of any rank follow */

/*
 * Choices of a program that joins a job. For a field of 0 or NULL the library takes the environment
 * variable named beside it, or the default; oriel_environment(7) explains each.
 */
struct oriel_options {
	size_t struct_bytes; /* sizeof(struct oriel_options), set by the program */
	/* ORIEL_DEVICE: the transport: "rxe0", "card", "soft", "card+soft" */
	const char *device;
	/* ORIEL_ADDR: the local address whose device is used: "10.0.0.1" */
	const char *addr;
	/* ORIEL_TIMEOUT (seconds): the longest that a call waits for a peer; default: no limit */
	int timeout_ms;
	/*
	 * ORIEL_WATCHDOG (seconds): after that time a waiting rank reports once, on stderr, for which
	 * ranks it waits; default: 30 s; -1: never
	 */
	int watchdog_ms;
	/* ORIEL_MAX_MESSAGE (bytes): larger requests are split; default: the port's largest */
	size_t max_message_bytes;
	/*
	 * The program's own means to find the other ranks; default: the launcher that started the
	 * process (ORIEL_BOOT)
	 */
	const struct oriel_bootstrap *bootstrap;
	/*
	 * Makes progress for other parts of the program, such as a library that has no thread of its
	 * own. A thread that waits inside the library calls it now and then, from the moment at which
	 * it would otherwise yield. It may return at any time, and may call only oriel_progress of the
	 * library. No lock of the library is held. NULL: nothing is called.
	 */
	void (*idle)(void *context);
	void *idle_context;
	/*
	 * For a library in front of this one: returns the name under which the watchdog's line and
	 * oriel-top show a call of this library, such as "MPI_Win_wait" for "oriel_win_wait". The text
	 * must stay. Threads that wait call it, several at once. NULL: the call's own name.
	 */
	const char *(*call_name)(const char *call);
};

/*
 * How ranks find each other if the program already passes bytes between them, by MPI or by its own
 * sockets. Each rank has one value of at most 255 bytes that the others need. The program provides
 * exchange, which is simpler, or put and get, whose memory does not grow with the ranks. All
 * functions get context and return 0 on success. Any other number is an error; the library's call
 * reports it (ORIEL_ERR_BOOTSTRAP). The functions must not call the library.
 *
 * oriel_init copies the struct; memory that context leads to must live until oriel_finalize has
 * returned. The program must deliver each value under the right rank, and must let no other party
 * read or replace it: a process that knows a rank's value can connect to that rank.
 */
struct oriel_bootstrap {
	size_t struct_bytes; /* sizeof(struct oriel_bootstrap), set by the program */
	int rank;            /* of this process, 0 to size - 1, each once */
	int size;            /* ranks in the job, the same everywhere */
	/* Ranks on this machine; 0: not known: exchange finds it out, otherwise 1 is assumed */
	int local_size;
	void *context; /* for the functions */
	/*
	 * Collective over the job, as MPI_Allgather: the size_bytes bytes at mine of rank i become the
	 * bytes from i * size_bytes on at all, on every rank. The thread that calls oriel_init calls it
	 * twice. A rank whose oriel_init fails in between takes part in the second one, too.
	 */
	int (*exchange)(void *context, const void *mine, size_t size_bytes, void *all);
	/* Publishes this rank's value. The thread that calls oriel_init calls it once. */
	int (*put)(void *context, const void *value, size_t size_bytes);
	/*
	 * Gets the value of another rank. *size_bytes is the room at value, 255 bytes, and becomes the
	 * size. Must not wait: returns 1 if the rank has not put its value yet, and the library asks
	 * again; a negative number if it never will. Threads of the library call it, one at a time,
	 * from oriel_init until oriel_finalize returns.
	 */
	int (*get)(void *context, int rank, void *value, size_t *size_bytes);
	/*
	 * Ends every rank of the job, for oriel_abort. A thread of the library calls it. NULL:
	 * oriel_abort does nothing.
	 */
	int (*abort)(void *context, int status, const char *reason);
};

/* A hint for window creation; a list of them ends with a null key. */
struct oriel_hint {
	const char *key;
	const char *value;
};

/* The local part of a window: a result of oriel_win_query. */
struct oriel_win_info {
	size_t struct_bytes; /* sizeof(struct oriel_win_info), set by the program before the call */
	void *base;          /* first byte, exactly as given or allocated */
	size_t size_bytes;
	size_t disp_unit_bytes;
	oriel_group *group;           /* the window's: lives as long as it, must not be freed */
	int no_locks;                 /* hint no_locks: 1 if "true" was given */
	int same_size;                /* hint same_size */
	int same_disp_unit;           /* hint same_disp_unit */
	char accumulate_ordering[64]; /* "none", or of "rar,raw,war,waw" (default), in this order */
	char accumulate_ops[32];      /* hint accumulate_ops; "same_op_no_op" unless given */
	enum oriel_win_kind kind;
	int unified;                         /* always 1: one copy, for loads, stores and operations */
	int alloc_shared_noncontig;          /* hint alloc_shared_noncontig: 1 if "true" was given */
	size_t accumulate_granularity_bytes; /* hint mpi_accumulate_granularity; 0 unless given */
	uint32_t signal_count;               /* hint signals, of this rank */
	/*
	 * 1: threads of the target carry out some accumulates; oriel_epochs(7) lists which. 0: none,
	 * since the window is this rank's alone.
	 */
	int accumulate_uses_target;
	/* 1: an epoch is open, or being closed: oriel_win_free would return ORIEL_ERR_SYNC */
	int free_refused;
	/*
	 * Hint share: 1 if this rank's memory has been moved; in a dynamic window, if attached memory
	 * is to be moved
	 */
	int share;
	char name[64];   /* hint name, or oriel_win_set_name; "" if there is none */
	uint64_t number; /* names the window in messages, from 1, the same on all members */
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

/*
 * Types of the elements of accumulate operations; each has the size of the C type. A pair is a C
 * struct { value; index; } with C's padding, which is neither read nor written.
 */
enum oriel_type {
	ORIEL_INT8 = 1,
	ORIEL_INT16,
	ORIEL_INT32,
	ORIEL_INT64,
	ORIEL_UINT8,
	ORIEL_UINT16,
	ORIEL_UINT32,
	ORIEL_UINT64,
	ORIEL_BOOL, /* one byte: false if it is 0 */
	ORIEL_FLOAT,
	ORIEL_DOUBLE,
	ORIEL_LONG_DOUBLE,
	ORIEL_FLOAT_COMPLEX,
	ORIEL_DOUBLE_COMPLEX,
	ORIEL_LONG_DOUBLE_COMPLEX,
	ORIEL_FLOAT_INT,
	ORIEL_DOUBLE_INT,
	ORIEL_LONG_INT,
	ORIEL_INT_INT,
	ORIEL_SHORT_INT,
	ORIEL_LONG_DOUBLE_INT,
	ORIEL_FLOAT_FLOAT, /* this and the next: Fortran's pairs */
	ORIEL_DOUBLE_DOUBLE,
	ORIEL_FLOAT128, /* this and the next: Fortran's REAL*16, if the compiler has __float128 */
	ORIEL_FLOAT128_COMPLEX,
	ORIEL_INT128 /* Fortran's INTEGER*16, if the library's compiler has __int128 */
};

/* How accumulate operations combine elements: target = target op origin. */
enum oriel_op {
	ORIEL_SUM = 1, /* integers wrap */
	ORIEL_PROD,
	ORIEL_MIN,
	ORIEL_MAX,
	ORIEL_LAND, /* logical: the element becomes 0 or 1 */
	ORIEL_LOR,
	ORIEL_LXOR,
	ORIEL_BAND, /* bitwise */
	ORIEL_BOR,
	ORIEL_BXOR,
	ORIEL_MINLOC, /* pairs: the smaller value with its index; of equal values the smaller index */
	ORIEL_MAXLOC,
	ORIEL_REPLACE, /* target = origin */
	ORIEL_NO_OP    /* target stays: an atomic read */
};

/* Memory that the library holds, in bytes; see oriel_usage. */
struct oriel_usage {
	size_t struct_bytes;     /* sizeof(struct oriel_usage), set by the program before the call */
	size_t ranks;            /* ranks in the job */
	size_t peers;            /* ranks that this one is or was connected to */
	size_t windows;          /* windows that are open */
	size_t links;            /* (window, peer) pairs in use */
	size_t base_bytes;       /* fixed part: device, directory root, service thread's tables */
	size_t peer_bytes;       /* per-peer state, without the device's part of a queue pair */
	size_t window_bytes;     /* per-window state */
	size_t link_bytes;       /* per-(window, peer) state */
	size_t registered_bytes; /* slabs: neighbour areas, flag words, directory, copy rings */
};

/**
 * oriel_init - join the job that this process was started in
 *
 * Finds how the process was started: by Open MPI's mpirun, mpiexec.hydra, srun with --mpi=pmix or
 * --mpi=pmi2, or oriel-run; otherwise it makes a job of one rank. Selects an RDMA device, or
 * softverbs if there is none, starts the service thread, and makes this rank reachable.
 *
 * A program that can already pass bytes between its ranks sets options->bootstrap. The ranks then
 * have the program's numbers, whatever started them. For MPI (the example), all_gather calls
 * MPI_Allgather(mine, (int)size_bytes, MPI_BYTE, all, (int)size_bytes, MPI_BYTE, MPI_COMM_WORLD).
 *
 * A process that shows traces of a launcher, but does not learn from it how to find the other ranks
 * (plain srun), is refused. Otherwise it would become one of N jobs of one rank.
 *
 * A process may fork while it has a job. The parent keeps the job; the child has none. All handles
 * are invalid in the child (ORIEL_ERR_HANDLE). There oriel_init makes a job of its own, unless the
 * launcher's variables give it the parent's rank, which is taken.
 *
 * Arguments:
 *   options  choices of the program, used as struct oriel_options says; or NULL: the environment
 *            and defaults
 *   job      becomes the job's handle, which oriel_finalize releases
 * Completion: Local: waits for no other rank and connects to none. Connections are made on first
 * use. Collective over the job if options->bootstrap has exchange.
 * Errors:
 *   ORIEL_ERR_ARG        a wrong argument, or an environment variable that cannot be read; the text
 *                        has its name, its value and the legal values
 *   ORIEL_ERR_DEVICE     no usable RDMA device; the text has what was looked for, and remedies
 *   ORIEL_ERR_BOOTSTRAP  the launcher could not be understood, reached or trusted; or libev, which
 *                        is opened here, is missing: the text names the package
 *   ORIEL_ERR_MEMORY     the limit of locked memory is too low; the text has need, limit and remedy
 * Threads: One thread at a time per job.
 * MPI: MPI_Init, MPI_Init_thread
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
 * Waits until the work requests of this rank are complete and until every living rank that is or
 * was connected to it has called oriel_finalize. Then closes connections, ends the service thread
 * and releases everything. It is no barrier: ranks that were never connected do not wait for each
 * other.
 *
 * Every window must have been freed before, and every oriel_mem deregistered. Groups of the job are
 * invalid afterwards.
 *
 * A rank that calls oriel_finalize has left. If another rank waits for it nevertheless, because a
 * call of one of the two has failed before, that rank gets ORIEL_ERR_PEER.
 *
 * Arguments:
 *   job  the job; *job becomes NULL, also after an error, except for ORIEL_ERR_SYNC,
 *        ORIEL_ERR_HANDLE and ORIEL_ERR_TIMEOUT
 * Completion: Every rank of the job calls it.
 * Errors:
 *   ORIEL_ERR_HANDLE   job or *job is no job
 *   ORIEL_ERR_SYNC     windows or registered memory are left; the text has their number
 *   ORIEL_ERR_PEER     a rank has died, as far as this one knows; or an operation that had been
 *                      copied failed, and no call has reported that yet (P5)
 *   ORIEL_ERR_TIMEOUT  a rank did not call it in time; call it again: apart from oriel_abort, no
 *                      other call is of use
 * Threads: No other thread may be inside a call on the job.
 * MPI: MPI_Finalize
 * Source: MPI-4.1 11.2; E1, P5
 * Example:
 *   if (oriel_finalize(&job))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_finalize(oriel_job **job);

/**
 * oriel_rank - this process's rank in the job
 *
 * Arguments:
 *   job  the job
 * Completion: Local.
 * Returns: the rank, 0 to size - 1, or a negative error.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 * MPI: MPI_Comm_rank
 * Source: MPI-4.1 7.4.1
 * Example:
 *   rank = oriel_rank(job);
 */
int oriel_rank(const oriel_job *job);

/**
 * oriel_size - the number of ranks in the job
 *
 * Arguments:
 *   job  the job
 * Completion: Local.
 * Returns: the number, at least 1, or a negative error. Ranks that have died are counted.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 * MPI: MPI_Comm_size
 * Source: MPI-4.1 7.4.1
 * Example:
 *   size = oriel_size(job);
 */
int oriel_size(const oriel_job *job);

/**
 * oriel_barrier - wait until every rank of the job has called it
 *
 * Completes no operations on windows and orders none.
 *
 * Arguments:
 *   job  the job
 * Completion: Collective over the job.
 * Errors:
 *   ORIEL_ERR_HANDLE   job is no job
 *   ORIEL_ERR_PEER     a rank has died
 *   ORIEL_ERR_ROUTE    two ranks cannot reach each other
 *   ORIEL_ERR_TIMEOUT  the barrier is lost: it cannot be repeated, since other ranks may have
 *                      passed it
 * MPI: MPI_Barrier
 * Source: MPI-4.1 6.3; E4, E6
 * Example:
 *   if (oriel_barrier(job))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_barrier(oriel_job *job);

/**
 * oriel_abort - ask the launcher to end every rank of the job
 *
 * The launcher prints reason, sends SIGTERM and later SIGKILL to every rank, and exits with status.
 * The process ends by the launcher's signal, not inside this call. If the program gave a bootstrap,
 * its abort is called instead. In a job that no launcher started, the call returns 0 and does
 * nothing else.
 *
 * Arguments:
 *   job     the job
 *   status  exit status of the launcher, 1 to 255; other values become 1
 *   reason  text that the launcher prints, or NULL
 * Completion: Local: returns at once.
 * Errors:
 *   ORIEL_ERR_HANDLE     job is no job
 *   ORIEL_ERR_BOOTSTRAP  the launcher cannot be reached
 * MPI: MPI_Abort
 * Source: MPI-4.1 9.3
 * Example:
 *   oriel_abort(job, 2, "the input is damaged");
 */
int oriel_abort(oriel_job *job, int status, const char *reason);

/**
 * oriel_version - the library's version as text
 *
 * Completion: Local.
 * Returns: a constant text such as "0.1.0", never NULL.
 * Source: MPI-4.1 9.1
 * Example:
 *   printf("Oriel %s\n", oriel_version());
 */
const char *oriel_version(void);

/**
 * oriel_progress - carry out what other ranks have requested from this one
 *
 * Applies accumulates that are addressed to this rank (A22), and advances a device that cannot
 * place incoming data without the processor: softverbs, for memory that is not mapped. It costs
 * some nanoseconds if there is nothing to do. With more ranks than processors on the machine, each
 * eighth call of a thread yields the processor (sched_yield).
 *
 * No program needs it for correctness. Every call that waits makes the same progress, and if no
 * thread waits the service thread does. But the service thread has to be woken up first, and may
 * share its processor with a thread that polls for something else. Such a thread calls
 * oriel_progress in each iteration.
 *
 * Arguments:
 *   job  the job
 * Completion: Local: waits for no call of another rank. Blocks only if many answers are
 * outstanding, until there is room to send another one.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 * Threads: Any, until oriel_finalize is called; also from idle of struct oriel_options.
 * Source: MPI-4.1 12.7.3 (progress); A22
 * Example:
 *   while (*(volatile char *)out == 0)
 *   	oriel_progress(job);
 */
int oriel_progress(oriel_job *job);

/**
 * oriel_usage - how much memory the library holds, by purpose
 *
 * The figures are those of this rank at this moment. They grow with the peers that the rank talks
 * to and with its windows, not with the ranks of the job.
 *
 * Arguments:
 *   job    the job
 *   usage  filled in; the caller sets struct_bytes before the call
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 *   ORIEL_ERR_ARG     usage is NULL, or its struct_bytes is wrong
 * Example:
 *   struct oriel_usage usage = { .struct_bytes = sizeof(usage) };
 *
 *   if (oriel_usage(job, &usage) == 0)
 *   	printf("%zu bytes are registered\n", usage.registered_bytes);
 */
int oriel_usage(oriel_job *job, struct oriel_usage *usage);

/**
 * oriel_group_world - the group of all ranks of the job, in order
 *
 * Arguments:
 *   job    the job
 *   group  becomes the group, which oriel_group_free releases
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 *   ORIEL_ERR_ARG     group is NULL
 *   ORIEL_ERR_MEMORY  no memory
 * MPI: MPI_Comm_group
 * Source: MPI-4.1 7.3.2
 * Example:
 *   oriel_group *all;
 *
 *   if (oriel_group_world(job, &all) || oriel_group_free(&all))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_group_world(oriel_job *job, oriel_group **group);

/**
 * oriel_group_incl - the group of some members of another group, in the order given
 *
 * Member i of *newgroup is member ranks[i] of group. Lists that are ranges with a stride are stored
 * as ranges, whatever their length.
 *
 * Arguments:
 *   group     the group that ranks refers to
 *   count     number of elements of ranks; 0: the empty group
 *   ranks     count ranks in group, no rank twice
 *   newgroup  becomes the new group, which oriel_group_free releases
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  group is no group
 *   ORIEL_ERR_ARG     count is negative, or a pointer is NULL
 *   ORIEL_ERR_RANK    a rank is out of range, or stands in ranks twice
 * MPI: MPI_Group_incl
 * Source: MPI-4.1 7.3.2; W6, P9, E2
 * Example:
 *   int ranks[] = { left, right };
 *   rc = oriel_group_incl(world, 2, ranks, &neighbours);
 */
int oriel_group_incl(const oriel_group *group, int count, const int ranks[], oriel_group **newgroup);

/**
 * oriel_group_tagged - a group with the same members and a tag, for separate collective calls
 *
 * *newgroup has the members of group, in their order. Collective calls on groups with different
 * tags never match each other, and neither do those on a group with a tag and one without. Use it,
 * for example, for two MPI communicators with the same members. The tag replaces a tag of group.
 * Groups that oriel_group_incl makes of *newgroup have no tag.
 *
 * Arguments:
 *   group     the group to copy
 *   tag       any number, the same at all members
 *   newgroup  becomes the new group, which oriel_group_free releases
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  group is no group
 *   ORIEL_ERR_ARG     newgroup is NULL
 *   ORIEL_ERR_MEMORY  no memory
 * MPI: MPI_Comm_dup
 * Source: MPI-4.1 7.4.2; E4
 * Example:
 *   oriel_group *again;
 *
 *   if (oriel_group_tagged(world, 1, &again))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_group_tagged(const oriel_group *group, uint64_t tag, oriel_group **newgroup);

/**
 * oriel_group_shared - the members of a group that can share memory with the caller
 *
 * They are the ranks on the same machine, of the same user and in the same container, whatever
 * device they use. The caller is one of them. oriel_win_allocate_shared accepts the group.
 *
 * Arguments:
 *   group     the group to look in
 *   newgroup  becomes the group of those members, in their order in group; oriel_group_free
 *             releases it
 * Completion: Collective over group.
 * Errors:
 *   ORIEL_ERR_HANDLE   group is no group
 *   ORIEL_ERR_ARG      newgroup is NULL
 *   ORIEL_ERR_RANK     the caller is not a member of group
 *   ORIEL_ERR_MEMORY   no memory
 *   ORIEL_ERR_PEER     a member has died
 *   ORIEL_ERR_ROUTE    two members cannot reach each other
 *   ORIEL_ERR_TIMEOUT  the call is lost: it cannot be repeated, since other members may have passed
 *                      it
 * MPI: MPI_Comm_split_type
 * Source: MPI-4.1 7.4.2 (MPI_COMM_TYPE_SHARED); SW1
 * Example:
 *   if (oriel_group_shared(world, &neighbours) || oriel_group_size(neighbours) < size)
 *   	fprintf(stderr, "more than one machine\n");
 */
int oriel_group_shared(const oriel_group *group, oriel_group **newgroup);

/**
 * oriel_group_free - release a group
 *
 * Windows and epochs that were made with the group keep what they need of it.
 *
 * Arguments:
 *   group  the group; *group becomes NULL
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  group or *group is no group
 * MPI: MPI_Group_free
 * Source: MPI-4.1 7.3.3
 * Example:
 *   if (oriel_group_free(&neighbours))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_group_free(oriel_group **group);

/**
 * oriel_group_rank - this process's rank in a group
 *
 * Arguments:
 *   group  the group
 * Completion: Local.
 * Returns: the rank in the group, ORIEL_RANK_NONE if the process is no member, or a negative error
 * (never -1).
 * Errors:
 *   ORIEL_ERR_HANDLE  group is no group
 * MPI: MPI_Group_rank
 * Source: MPI-4.1 7.3.1
 * Example:
 *   if (oriel_group_rank(neighbours) == ORIEL_RANK_NONE)
 *   	printf("not a neighbour\n");
 */
int oriel_group_rank(const oriel_group *group);

/**
 * oriel_group_size - the number of members of a group
 *
 * Arguments:
 *   group  the group
 * Completion: Local.
 * Returns: the number, 0 for the empty group, or a negative error.
 * Errors:
 *   ORIEL_ERR_HANDLE  group is no group
 * MPI: MPI_Group_size
 * Source: MPI-4.1 7.3.1
 * Example:
 *   size = oriel_group_size(world);
 */
int oriel_group_size(const oriel_group *group);

/**
 * oriel_group_translate - translate ranks of one group to ranks of another group
 *
 * out[i] becomes the rank in group to of the process that has rank ranks[i] in group from, or
 * ORIEL_RANK_NONE if that process is no member of to.
 *
 * Arguments:
 *   from   the group that ranks refers to
 *   count  number of elements of ranks and of out
 *   ranks  count ranks in from
 *   to     the group that out refers to
 *   out    count elements, filled in; may be the same array as ranks
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  from or to is no group
 *   ORIEL_ERR_ARG     a pointer is NULL, count is negative, or the groups belong to different jobs
 *   ORIEL_ERR_RANK    a rank is not in from
 * MPI: MPI_Group_translate_ranks
 * Source: MPI-4.1 7.3.1
 * Example:
 *   int first = 0, in_world;
 *
 *   if (oriel_group_translate(neighbours, 1, &first, world, &in_world) == 0)
 *   	printf("the first neighbour is rank %d\n", in_world);
 */
int oriel_group_translate(const oriel_group *from, int count, const int ranks[], const oriel_group *to, int out[]);

/**
 * oriel_win_create - open memory of every member of a group to the other members
 *
 * Any memory can be used: heap, stack, static memory, and mapped files that can be registered, with
 * any alignment. Page-aligned memory is fastest, best from oriel_win_allocate. Read-only memory
 * makes a window that supports gets only. The same bytes may lie in several windows. All arguments
 * except group may differ from rank to rank.
 *
 * The memory must stay mapped until oriel_win_free has returned. A device that pins memory (every
 * network card) keeps using the pages that were there when the window was made. After madvise(2)
 * with MADV_DONTNEED or MADV_FREE, a new mapping over the old one, mremap(2), or a hole punched
 * into a mapped file, this rank sees other pages than its peers, and no error reports it.
 *
 * Known hints are these; others are ignored. oriel_windows(7) explains them.
 *
 *   no_locks                     "true" or "false"
 *   same_size                    "true" or "false"
 *   same_disp_unit               "true" or "false"
 *   alloc_shared_noncontig       "true" or "false", the same on all members
 *   accumulate_ordering          "none", or some of rar, raw, war, waw, separated by commas
 *   accumulate_ops               "same_op" or "same_op_no_op"
 *   mpi_accumulate_granularity   bytes, the same on all members; 0: the library's choice
 *   signals                      0 to 65536
 *   share                        "true" or "false", see below
 *   refuse                       "true" or "false", see below
 *   name                         as for oriel_win_set_name
 *
 * With share "true", the rank's memory is moved into shared memory in place, so that ranks of its
 * machine reach it in the same way as allocated memory. It is moved back when the window is freed.
 * Without the hint, ORIEL_SHARE=1 has the same effect. oriel_windows(7) lists the memory that can
 * be moved, and what is different meanwhile. Other memory stays as it is, without an error;
 * oriel_win_query reports whether the memory was moved.
 *
 * A member that lacks a resource and cannot take part passes refuse "true". The creation then fails
 * on all members with ORIEL_ERR_MEMORY, and no member waits for that one.
 *
 * Arguments:
 *   base             first byte of the caller's memory, which stays the caller's; with size_bytes 0
 *                    it may be anything, also NULL
 *   size_bytes       size of the caller's memory in bytes; may be 0
 *   disp_unit_bytes  1 to 2^31 - 1: the factor of other ranks' displacements into this rank's
 *                    memory, in bytes
 *   hints            list that ends with a null key; or NULL
 *   group            the members
 *   win              becomes the window's handle, which oriel_win_free releases
 * Completion: Collective over group. Every member makes its collective calls on this list of
 * members in the same order.
 * Errors:
 *   ORIEL_ERR_HANDLE   group is no group
 *   ORIEL_ERR_ARG      a wrong argument, or a known hint with a value that cannot be used; on all
 *                      members, hints that do not agree
 *   ORIEL_ERR_KIND     some members make a window of another kind in this collective call; on all
 *                      members
 *   ORIEL_ERR_RANK     the caller is not a member
 *   ORIEL_ERR_MEMORY   the memory could not be registered; the text has need, limit and remedy
 *   ORIEL_ERR_LIMIT    a bound of the library was reached
 *   ORIEL_ERR_PEER     a member has died
 *   ORIEL_ERR_ROUTE    two members cannot reach each other
 *   ORIEL_ERR_TIMEOUT  a member did not make the call in time
 * After the arguments were accepted, creation succeeds or fails on all members, with one exception:
 * if the time limit passes on one member just as the last member arrives, creation can succeed on
 * others. There, operations on that member, epochs that name it, fence and oriel_win_free return
 * ORIEL_ERR_PEER; everything else works, and oriel_win_free releases the window as after a death.
 * Threads: Several threads may create windows at once, on different lists of members (E4).
 * MPI: MPI_Win_create
 * Source: MPI-4.1 13.2.1; W1-W6, W9, W10, I1, A16, A18, A19
 * Example:
 *   static double field[1000];
 *   rc = oriel_win_create(field, sizeof(field), sizeof(double), NULL, world, &win);
 */
int oriel_win_create(void *base, size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                     oriel_group *group, oriel_win **win);

/**
 * oriel_win_allocate - create a window of memory that the library allocates
 *
 * Differs from oriel_win_create in the memory only. That is zeroed, aligned to a page, and backed
 * by a memory file, so that a device that shares memory can map it.
 *
 * The memory takes no page before the page is touched, with two exceptions: ranks of the group
 * reach it via a card, which pins it; or vm.overcommit_memory is 2. oriel_win_free releases the
 * memory. The library may keep the last few pieces for later windows until oriel_finalize: up to 1
 * MiB with their pages, and up to 64 MiB without pages.
 *
 * Arguments:
 *   size_bytes       size of the caller's memory in bytes; may be 0
 *   disp_unit_bytes  as for oriel_win_create
 *   hints            as for oriel_win_create
 *   group            the members
 *   base             becomes the first byte of the memory, NULL for size_bytes 0; the memory
 *                    belongs to the window
 *   win              becomes the window's handle, which oriel_win_free releases
 * Completion: Collective over group, as oriel_win_create.
 * Errors: Those of oriel_win_create, and:
 *   ORIEL_ERR_MEMORY  also if the memory exceeds what the machine has, or what a control group or
 *                     the process may have; the text has need, limit and remedy
 * MPI: MPI_Win_allocate
 * Source: MPI-4.1 13.2.2; W4, W11
 * Example:
 *   void *base;
 *   rc = oriel_win_allocate(8000, sizeof(double), NULL, world, &base, &win);
 */
int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win);

/**
 * oriel_win_allocate_shared - create a window of one memory that all members map
 *
 * The members' parts follow each other in rank order, without gaps, in the address space of each
 * member. With the hint alloc_shared_noncontig "true", the same on all members, each part begins on
 * a page of its own. The memory is zeroed. oriel_win_shared_query returns the address of another
 * member's part.
 *
 * Loads, stores and operations may be mixed as at the target itself. The calls that open and close
 * epochs order them. All parts stay mapped until oriel_win_free, also those of members that have
 * died.
 *
 * Arguments:
 *   size_bytes       size of the caller's part in bytes; may be 0
 *   disp_unit_bytes  as for oriel_win_create
 *   hints            as for oriel_win_create
 *   group            the members, which can share memory: see oriel_group_shared
 *   base             becomes the first byte of the caller's part, NULL if no member has a byte; the
 *                    memory belongs to the window
 *   win              becomes the window's handle, which oriel_win_free releases
 * Completion: Collective over group, as oriel_win_create.
 * Errors: Those of oriel_win_allocate, and:
 *   ORIEL_ERR_SHARED  two members cannot share memory; on all members, with the ranks of the two
 * MPI: MPI_Win_allocate_shared
 * Source: MPI-4.1 13.2.3; SW1-SW3, SW5, SW6
 * Example:
 *   void *mine, *theirs;
 *   size_t bytes, unit;
 *
 *   if (oriel_win_allocate_shared(8000, sizeof(double), NULL, neighbours, &mine, &win) ||
 *       oriel_win_shared_query(win, right, &theirs, &bytes, &unit))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_allocate_shared(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[],
                              oriel_group *group, void **base, oriel_win **win);

/**
 * oriel_win_create_dynamic - create a window to which memory is attached later
 *
 * The window begins without memory. Each member attaches memory with oriel_win_attach at any time.
 * Other members reach it by its address: the displacement of an operation is the address at the
 * target, and the unit is 1. The program passes addresses between ranks.
 *
 * Arguments:
 *   hints  as for oriel_win_create
 *   group  the members
 *   win    becomes the window's handle, which oriel_win_free releases
 * Completion: Collective over group, as oriel_win_create.
 * Errors: Those of oriel_win_create.
 * MPI: MPI_Win_create_dynamic
 * Source: MPI-4.1 13.2.4; DW1, DW2
 * Example:
 *   if (oriel_win_create_dynamic(NULL, world, &win) || oriel_win_attach(win, out, 4000))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win);

/**
 * oriel_win_attach - open memory to the members of a dynamic window
 *
 * Any memory can be used, as for oriel_win_create. Other members can reach [base, base +
 * size_bytes) when the call has returned, and must not try before. Regions of one window must not
 * overlap, but may touch: an operation may then cross the boundary. The same memory may be attached
 * to several windows.
 *
 * Arguments:
 *   win         dynamic window
 *   base        first byte; the memory stays the caller's, and must stay mapped until
 *               oriel_win_detach or oriel_win_free has returned
 *   size_bytes  size in bytes; 0 is legal with any base, and opens nothing
 * Completion: Local: sends nothing.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_ARG     base is NULL and size_bytes is not 0, or the region exceeds the address space
 *   ORIEL_ERR_KIND    win is not a dynamic window
 *   ORIEL_ERR_ATTACH  some of the memory is attached to this window already
 *   ORIEL_ERR_LIMIT   65536 regions are attached
 *   ORIEL_ERR_MEMORY  the memory could not be registered; the text has need, limit and remedy
 * MPI: MPI_Win_attach
 * Source: MPI-4.1 13.2.4; DW1-DW4, DW6-DW8
 * Example:
 *   if (oriel_win_attach(win, out, 4000))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes);

/**
 * oriel_win_detach - close memory that was attached to a dynamic window
 *
 * On return no peer can reach the memory any more, and it may be unmapped. A later operation there
 * returns ORIEL_ERR_RANGE at its origin. oriel_win_free detaches the regions that are left.
 *
 * Arguments:
 *   win   dynamic window
 *   base  first byte of an attached region
 * Completion: Waits until every rank that has operated on this rank's regions has acknowledged the
 * detach. The service thread of a rank that computes does so: that takes up to some milliseconds.
 * If such a rank dies, the wait ends with its death.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_KIND     win is not a dynamic window
 *   ORIEL_ERR_ATTACH   no attached region begins at base
 *   ORIEL_ERR_TIMEOUT  new operations do not reach the region, but the memory must stay; the call
 *                      can be repeated
 *   ORIEL_ERR_MEMORY   as ORIEL_ERR_TIMEOUT
 * MPI: MPI_Win_detach
 * Source: MPI-4.1 13.2.4; DW4-DW6, DW8
 * Example:
 *   if (oriel_win_detach(win, out))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_detach(oriel_win *win, const void *base);

/**
 * oriel_win_shared_query - address of a member's memory in the caller's address space
 *
 * For the caller itself the answer equals that of oriel_win_query. Memory that cannot be mapped has
 * size 0 and base NULL, without an error. The answer for a rank does not change while the window
 * lives.
 *
 * In a window of another kind than a shared one, the caller's own memory is always available.
 * Another rank's memory is available if it can be mapped: memory of oriel_win_allocate or
 * oriel_alloc, of a rank that shares memory with this one.
 *
 * Inside lock_all the call takes the lock of a member whose memory can be mapped.
 *
 * Arguments:
 *   win              window of any kind
 *   rank             rank in the window's group; ORIEL_RANK_NONE: the lowest rank with a size above
 *                    0
 *   base             becomes the address, for loads and stores; the memory belongs to the window
 *   size_bytes       becomes the size in bytes
 *   disp_unit_bytes  becomes the displacement unit in bytes
 * Completion: Local for shared windows. In other windows, the first query of a rank may wait for
 * the connection and the window's description.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      a pointer is NULL
 *   ORIEL_ERR_RANK     rank is not in the window's group
 *   ORIEL_ERR_PEER     the rank has died; only in windows that are not shared, and inside lock_all
 *   ORIEL_ERR_ROUTE    the rank cannot be reached; in the same cases
 *   ORIEL_ERR_TIMEOUT  the time limit passed; in the same cases
 *   ORIEL_ERR_MEMORY   no memory; in the same cases
 * MPI: MPI_Win_shared_query
 * Source: MPI-4.1 13.2.3; SW3, SW4, SW6, L7
 * Example:
 *   void *theirs;
 *   size_t bytes, unit;
 *
 *   if (oriel_win_shared_query(win, right, &theirs, &bytes, &unit) == 0 && bytes > 0)
 *   	value = *(double *)theirs;
 */
int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes);

/**
 * oriel_win_free - close a window
 *
 * The rank's epochs on the window must be closed. A fence epoch counts as closed if this rank has
 * issued no operations since its fence. On return no peer can reach the memory any more, and the
 * caller may unmap memory of its own.
 *
 * Once this rank knows that a member has died or has left the window, open epochs are no obstacle.
 * They are abandoned: deferred operations are not issued, outstanding ones complete, and buffers
 * are the caller's again. Members that wait for this rank in an epoch get ORIEL_ERR_PEER. Members
 * inside an epoch that was granted to them have one second to end it; a member that continues to
 * put to freed memory loses the connection.
 *
 * Arguments:
 *   win  the window; *win becomes NULL, except after ORIEL_ERR_HANDLE, ORIEL_ERR_SYNC and
 *        ORIEL_ERR_TIMEOUT
 * Completion: Collective over the window's group.
 * Errors:
 *   ORIEL_ERR_HANDLE   win or *win is no window
 *   ORIEL_ERR_SYNC     an epoch is open, or another thread is closing one; the window lives on
 *   ORIEL_ERR_PEER     a member has died; everything is released, and *win is NULL
 *   ORIEL_ERR_ROUTE    a member cannot be reached; as ORIEL_ERR_PEER
 *   ORIEL_ERR_TIMEOUT  the window lives on, and the call can be repeated
 * Threads: No other thread may be inside a call on the window.
 * MPI: MPI_Win_free
 * Source: MPI-4.1 13.2.5; W7, P5
 * Example:
 *   if (oriel_win_free(&win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_free(oriel_win **win);

/**
 * oriel_win_query - base, size, displacement unit, group, kind and hints of a window
 *
 * Reports the value in force of every known hint, given or not.
 *
 * Arguments:
 *   win   the window
 *   info  filled in for the caller's part of the window; the caller sets struct_bytes before the
 *         call. info->group stays the window's
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_ARG     info is NULL, or its struct_bytes is wrong
 * MPI: MPI_Win_get_attr, MPI_Win_get_group, MPI_Win_get_info, MPI_Win_get_name
 * Source: MPI-4.1 13.2.6, 13.2.7; I2, MM1
 * Example:
 *   struct oriel_win_info info = { .struct_bytes = sizeof(info) };
 *
 *   if (oriel_win_query(win, &info) == 0)
 *   	printf("%zu bytes at %p\n", info.size_bytes, info.base);
 */
int oriel_win_query(const oriel_win *win, struct oriel_win_info *info);

/**
 * oriel_win_set_hints - change hints of an existing window
 *
 * Changes accumulate_ordering and accumulate_ops. The other known hints apply to creation only;
 * they are ignored, as unknown hints are. Operations that were issued before keep the hints that
 * were in force.
 *
 * Arguments:
 *   win    the window
 *   hints  list that ends with a null key, or NULL; members may give different lists
 * Completion: Collective over the window's group.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      a member gave a known hint a value that cannot be used; on all members, and
 *                      nothing has changed
 *   ORIEL_ERR_PEER     a member has died
 *   ORIEL_ERR_ROUTE    two members cannot reach each other
 *   ORIEL_ERR_TIMEOUT  the call is lost: it cannot be repeated, since other members may have passed
 *                      it
 * Threads: One thread at a time per window.
 * MPI: MPI_Win_set_info
 * Source: MPI-4.1 13.2.7; I1, I2
 * Example:
 *   static const struct oriel_hint none[] = { { "accumulate_ordering", "none" }, { NULL, NULL } };
 *
 *   rc = oriel_win_set_hints(win, none);
 */
int oriel_win_set_hints(oriel_win *win, const struct oriel_hint hints[]);

/**
 * oriel_win_set_name - name a window in messages
 *
 * Messages then name "window 3 (field)" instead of "window 3". The hint name of oriel_win_create
 * has the same effect from the start.
 *
 * Arguments:
 *   win   the window
 *   name  at most 63 printable ASCII characters, copied; other members may give another name, or
 *         none. "" or NULL removes the name
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_ARG     the name is longer, or has other characters
 * Threads: No other thread may be inside a call on the window.
 * MPI: MPI_Win_set_name
 * Source: MPI-4.1 7.8; E1
 * Example:
 *   rc = oriel_win_set_name(win, "field");
 */
int oriel_win_set_name(oriel_win *win, const char *name);

/**
 * oriel_win_set_user - store a pointer of the program's with a window
 *
 * For layers above that have an object of their own for each window. The library does not use the
 * pointer.
 *
 * Arguments:
 *   win   the window
 *   user  any pointer; what it leads to stays the caller's
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 * MPI: MPI_Win_set_attr
 * Source: I3
 * Example:
 *   rc = oriel_win_set_user(win, out);
 */
int oriel_win_set_user(oriel_win *win, void *user);

/**
 * oriel_win_user - the pointer that oriel_win_set_user has stored
 *
 * Arguments:
 *   win  the window
 * Completion: Local.
 * Returns: the pointer; NULL before the first oriel_win_set_user, and for a handle that is no
 * window's.
 * MPI: MPI_Win_get_attr
 * Source: I3
 * Example:
 *   char *mine = oriel_win_user(win);
 *
 *   if (mine)
 *   	*mine = 0;
 */
void *oriel_win_user(const oriel_win *win);

/**
 * oriel_mem_register - register origin memory in advance
 *
 * Operations whose origin buffer lies in [base, base + size_bytes) need no copy and no registration
 * of their own. That is never needed for correctness, and rarely for speed: where the system allows
 * it, the library keeps the registrations that operations have made (oriel_windows(7)).
 *
 * Arguments:
 *   job         the job
 *   base        first byte; the memory stays the caller's, and must stay mapped until
 *               oriel_mem_deregister
 *   size_bytes  size in bytes, at least 1
 *   mem         becomes the registration's handle, which oriel_mem_deregister releases
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 *   ORIEL_ERR_ARG     a pointer is NULL, or size_bytes is 0
 *   ORIEL_ERR_MEMORY  the memory could not be registered; the text has need, limit and remedy
 * Source: D7
 * Example:
 *   oriel_mem *mem;
 *
 *   if (oriel_mem_register(job, out, 800, &mem))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_mem_register(oriel_job *job, void *base, size_t size_bytes, oriel_mem **mem);

/**
 * oriel_mem_deregister - release a registration of origin memory
 *
 * No operation that uses the memory may be outstanding.
 *
 * Arguments:
 *   mem  the registration; *mem becomes NULL
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  mem or *mem is no registration
 * Source: D7
 * Example:
 *   oriel_mem *mem;
 *
 *   if (oriel_mem_register(job, out, 800, &mem) || oriel_mem_deregister(&mem))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_mem_deregister(oriel_mem **mem);

/**
 * oriel_alloc - allocate memory that suits windows and origin buffers
 *
 * The memory is zeroed and aligned to a page. It lies in a memory file, so that ranks which share
 * memory with this one can map a window that oriel_win_create makes of it, as one of
 * oriel_win_allocate. It is registered, so that operations use it as origin without a copy; a
 * target that waits can map it and copy a part of a large transfer itself. It takes no page before
 * the page is touched, as for oriel_win_allocate.
 *
 * Arguments:
 *   job         the job
 *   size_bytes  size in bytes, at least 1
 * Completion: Local.
 * Returns: the memory, which oriel_free releases; or NULL: oriel_last_error has the reason (a wrong
 * job, size 0, no memory).
 * MPI: MPI_Alloc_mem
 * Source: MPI-4.1 10.1 (MPI_Alloc_mem); W4, W11, D7
 * Example:
 *   double *mine = oriel_alloc(job, 1000 * sizeof(double));
 *
 *   if (!mine)
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
void *oriel_alloc(oriel_job *job, size_t size_bytes);

/**
 * oriel_free - release memory of oriel_alloc
 *
 * No window may be left that was made of the memory, and no operation that uses it may be
 * outstanding. If memory is left at oriel_finalize, that returns ORIEL_ERR_SYNC, as for registered
 * memory.
 *
 * Arguments:
 *   job     the job
 *   memory  what oriel_alloc returned; or NULL, which does nothing
 * Completion: Local.
 * Errors:
 *   ORIEL_ERR_HANDLE  job is no job
 *   ORIEL_ERR_ARG     memory is not of oriel_alloc
 * MPI: MPI_Free_mem
 * Source: MPI-4.1 10.1 (MPI_Free_mem)
 * Example:
 *   if (oriel_free(job, out))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_free(oriel_job *job, void *memory);

/**
 * oriel_put - copy origin memory into a target's window
 *
 * Needs an access epoch that names the target. A put may be larger than the device's largest
 * message. Operations of one epoch are not ordered among themselves.
 *
 * Arguments:
 *   win          the window
 *   origin       size_bytes bytes, which are only read
 *   size_bytes   size in bytes; 0 checks epoch and rank and does nothing else
 *   target_rank  the target, a rank in the window's group
 *   target_disp  where the bytes go: displacement from the target's base, in the target's
 *                displacement unit
 * Completion: Nonblocking. The origin buffer must not change before a flush or the call that closes
 * the epoch. Afterwards the memory may be unmapped, discarded or mapped anew; oriel_windows(7) has
 * the cost of that. The first operation to a peer may wait for the connection and the window's
 * description, which depends on the peer's service thread only.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      origin is NULL, and size_bytes is not 0
 *   ORIEL_ERR_RANK     target_rank is not in the window's group
 *   ORIEL_ERR_SYNC     no access epoch is open, or it does not name the target
 *   ORIEL_ERR_RANGE    the target's window does not have all of the bytes; nothing has been sent
 *   ORIEL_ERR_ACCESS   the target's memory is read-only
 *   ORIEL_ERR_PEER     the target has died, or its connection is lost
 *   ORIEL_ERR_ROUTE    the target lives, and there is no way to it
 *   ORIEL_ERR_MEMORY   no memory, or the origin could not be registered
 *   ORIEL_ERR_TIMEOUT  the time limit passed; the epoch is still open, and the call can be repeated
 * MPI: MPI_Put
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
 * Needs an access epoch that names the target. A get may be larger than the device's largest
 * message. Operations of one epoch are not ordered among themselves.
 *
 * Arguments:
 *   win          the window
 *   origin       size_bytes bytes, which become those of the target
 *   size_bytes   size in bytes; 0 checks epoch and rank and does nothing else
 *   target_rank  the target, a rank in the window's group
 *   target_disp  where the bytes are: displacement from the target's base, in the target's
 *                displacement unit
 * Completion: Nonblocking, as oriel_put. The origin buffer must not be read or written before a
 * flush or the call that closes the epoch.
 * Errors: Those of oriel_put, except ORIEL_ERR_ACCESS.
 * MPI: MPI_Get
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
 * The bytes of the origin pieces, in the order of the list, are copied to the target pieces in the
 * order of theirs. Either every piece is accepted or none.
 *
 * Arguments:
 *   win           the window
 *   origin        origin_count pieces of origin memory; pieces of size 0 are legal
 *   origin_count  number of origin pieces
 *   target_rank   the target, a rank in the window's group
 *   target        target_count pieces of the target's window, with as many bytes in all as the
 *                 origin pieces
 *   target_count  number of target pieces
 * Completion: As oriel_put. The lists themselves may change when the call has returned.
 * Errors: Those of oriel_put, and:
 *   ORIEL_ERR_ARG  the sums of sizes differ or overflow, a count is negative, or a list is NULL
 * MPI: MPI_Put, with derived datatypes
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
 * The bytes of the target pieces, in the order of the list, are copied to the origin pieces in the
 * order of theirs. Either every piece is accepted or none.
 *
 * Arguments:
 *   win           the window
 *   origin        origin_count pieces of origin memory, which become the target's bytes; pieces of
 *                 size 0 are legal
 *   origin_count  number of origin pieces
 *   target_rank   the target, a rank in the window's group
 *   target        target_count pieces of the target's window, with as many bytes in all as the
 *                 origin pieces
 *   target_count  number of target pieces
 * Completion: As oriel_get. The lists themselves may change when the call has returned.
 * Errors: Those of oriel_putv, except ORIEL_ERR_ACCESS.
 * MPI: MPI_Get, with derived datatypes
 * Source: MPI-4.1 13.3.2 (derived datatypes); D1-D8
 * Example:
 *   struct oriel_origin_piece to[] = { { out, 100 }, { out + 200, 100 } };
 *   struct oriel_target_piece from[] = { { 0, 150 }, { 400, 50 } };
 *
 *   rc = oriel_getv(win, to, 2, right, from, 2);
 */
int oriel_getv(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, int target_rank,
               const struct oriel_target_piece target[], int target_count);

/**
 * oriel_accumulate - combine origin elements into a target's window
 *
 * For each of count elements: target = target op origin. Elements are contiguous on both sides.
 * Needs an access epoch that names the target.
 *
 * Each element is updated atomically (A9). The accumulate operations are accumulate,
 * get_accumulate, fetch_and_op, compare_and_swap and the vector forms. Concurrent accumulate
 * operations of the same type on one element, from any ranks, behave as if executed one after
 * another, whatever the operations. Two elements of one call may be observed separately.
 * Accumulates are not atomic with put, get, loads and stores, with one exception: a load of an
 * aligned element of at most 8 bytes sees the value before or after an update.
 *
 * Elements need no alignment. Elements of at most 8 bytes without padding, and
 * ORIEL_DOUBLE_COMPLEX, are cheapest if they are aligned to their size. In mapped memory these are
 * updated by plain code under a lock, page by page; a vector takes about as long as a copy. If a
 * process is stopped (SIGSTOP, a debugger) in the middle of a page, others cannot update elements
 * there until it continues or ends. Up to seven integers of 8 bytes are updated by atomic
 * instructions instead, which are fastest if many ranks increment one counter; a stopped process
 * does not block these. Once a vector of 8 or more has changed such integers, updates in its pages,
 * and in the pages of the target that share a lock with them, use that lock, until the target makes
 * a window of memory that peers cannot map.
 *
 * Windows of one rank that overlap in memory count as one if their mpi_accumulate_granularity is
 * the same (A13), with two exceptions: windows that two ranks have made of the same memory, for
 * example of another rank's part of a shared window; and integers of 8 bytes that lie in a dynamic
 * or shared window and also in a window of another kind, if a card is atomic with itself only
 * (IBV_ATOMIC_HCA). Update such elements through one of the windows only, or with a barrier in
 * between. ORIEL_ATOMICS=cpu removes the second exception.
 *
 * Arguments:
 *   win          the window
 *   origin       count elements, which are only read
 *   count        number of elements; 0 checks epoch and rank and does nothing else
 *   type         type of the elements, which determines their size (oriel_type_bytes)
 *   op           how elements are combined; not ORIEL_NO_OP
 *   target_rank  the target, a rank in the window's group
 *   target_disp  displacement of the first element, in the target's displacement unit
 * Completion: Nonblocking, as oriel_put. Accumulate operations from this rank to overlapping bytes
 * of one target take effect in the order of the calls on one window, whatever their types (A15),
 * unless the hint accumulate_ordering relaxes that. An operation that takes another route than
 * those before it waits for them.
 * Errors: Those of oriel_put, and:
 *   ORIEL_ERR_TIMEOUT  in a fence epoch, some elements may have been combined if the target has to
 *                      apply the operation and does not make progress
 *   ORIEL_ERR_OP       the operation is not defined for the type, or is ORIEL_NO_OP
 * MPI: MPI_Accumulate
 * Source: MPI-4.1 13.3.4, 13.7; A1-A17
 * Example:
 *   static const double forces[3] = { 0.5, 1.25, -2.0 };
 *
 *   if (oriel_win_fence(win, 0) ||
 *       oriel_accumulate(win, forces, 3, ORIEL_DOUBLE, ORIEL_SUM, right, 0) ||
 *       oriel_win_fence(win, 0))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp);

/**
 * oriel_get_accumulate - accumulate and return the target's previous values
 *
 * Differs from oriel_accumulate in that the value of each element of the target immediately before
 * its update is returned. With ORIEL_NO_OP it is an atomic read, with ORIEL_REPLACE an atomic
 * exchange.
 *
 * Arguments:
 *   win          the window
 *   origin       count elements, which are only read; may be NULL with ORIEL_NO_OP
 *   result       count elements, which become the previous values; must not overlap origin
 *   count        number of elements; 0 checks epoch and rank and does nothing else
 *   type         type of the elements
 *   op           how elements are combined
 *   target_rank  the target, a rank in the window's group
 *   target_disp  displacement of the first element, in the target's displacement unit
 * Completion: As oriel_accumulate. result is valid after a flush or the call that closes the epoch.
 * Errors: Those of oriel_accumulate, and:
 *   ORIEL_ERR_ARG  result is NULL or overlaps origin
 * MPI: MPI_Get_accumulate
 * Source: MPI-4.1 13.3.4; A1-A17
 * Example:
 *   static double before[3];
 *   static const double forces[3] = { 0.5, 1.25, -2.0 };
 *
 *   rc = oriel_get_accumulate(win, forces, before, 3, ORIEL_DOUBLE, ORIEL_SUM, right, 0);
 */
int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp);

/**
 * oriel_fetch_and_op - combine one element and return its previous value
 *
 * Equals oriel_get_accumulate of one element, except that the origin is read before the call
 * returns.
 *
 * Arguments:
 *   win          the window
 *   origin       one element; may change when the call has returned
 *   result       one element, which becomes the previous value
 *   type         type of the element
 *   op           how the elements are combined
 *   target_rank  the target, a rank in the window's group
 *   target_disp  displacement of the element, in the target's displacement unit
 * Completion: As oriel_accumulate. *result is valid after a flush or the call that closes the
 * epoch.
 * Errors: Those of oriel_get_accumulate.
 * MPI: MPI_Fetch_and_op
 * Source: MPI-4.1 13.3.4; A1-A17
 * Example:
 *   static const int64_t one = 1;
 *   int64_t ticket;
 *
 *   if (oriel_fetch_and_op(win, &one, &ticket, ORIEL_INT64, ORIEL_SUM, right, 0) ||
 *       oriel_win_flush(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp);

/**
 * oriel_compare_and_swap - replace an element if it has a certain value
 *
 * If the bytes of the target's element equal those of *compare, it becomes *origin. For integers
 * and ORIEL_BOOL.
 *
 * Arguments:
 *   win          the window
 *   origin       one element, the new value; may change when the call has returned
 *   compare      one element, the expected value; may change when the call has returned
 *   result       one element, which becomes the previous value; must overlap neither origin nor
 *                compare
 *   type         type of the elements
 *   target_rank  the target, a rank in the window's group
 *   target_disp  displacement of the element, in the target's displacement unit
 * Completion: As oriel_accumulate. *result is valid after a flush or the call that closes the
 * epoch.
 * Errors: Those of oriel_get_accumulate, and:
 *   ORIEL_ERR_ARG  compare is NULL
 *   ORIEL_ERR_OP   elements of the type cannot be compared
 * MPI: MPI_Compare_and_swap
 * Source: MPI-4.1 13.3.4; A1-A17
 * Example:
 *   static const int32_t nobody = -1;
 *   int32_t before;
 *
 *   if (oriel_compare_and_swap(win, &rank, &nobody, &before, ORIEL_INT32, right, 0) ||
 *       oriel_win_flush(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp);

/**
 * oriel_accumulatev - accumulate a list of pieces
 *
 * Differs from oriel_accumulate as oriel_putv differs from oriel_put. The size of each piece is a
 * multiple of the size of the type.
 *
 * Arguments:
 *   win           the window
 *   origin        origin_count pieces of origin memory
 *   origin_count  number of origin pieces
 *   type          type of the elements
 *   op            how elements are combined; not ORIEL_NO_OP
 *   target_rank   the target, a rank in the window's group
 *   target        target_count pieces of the target's window, with as many bytes in all as the
 *                 origin pieces
 *   target_count  number of target pieces
 * Completion: As oriel_accumulate. The lists themselves may change when the call has returned.
 * Errors: Those of oriel_accumulate and oriel_putv, and:
 *   ORIEL_ERR_ARG  a piece does not hold whole elements
 * MPI: MPI_Accumulate, with derived datatypes
 * Source: MPI-4.1 13.3.4 (derived datatypes); A1-A17
 * Example:
 *   static double forces[4];
 *   struct oriel_origin_piece from[] = { { forces, sizeof(forces) } };
 *   struct oriel_target_piece to[] = { { 0, 2 * sizeof(double) }, { 10, 2 * sizeof(double) } };
 *
 *   rc = oriel_accumulatev(win, from, 1, ORIEL_DOUBLE, ORIEL_SUM, right, to, 2);
 */
int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count);

/**
 * oriel_get_accumulatev - accumulate a list of pieces and return the target's previous values
 *
 * Differs from oriel_get_accumulate as oriel_putv differs from oriel_put. All three lists hold the
 * same number of bytes. Overlaps between the lists are not detected.
 *
 * Arguments:
 *   win           the window
 *   origin        origin_count pieces of origin memory; not used with ORIEL_NO_OP, when it may be
 *                 NULL
 *   origin_count  number of origin pieces; may be 0 with ORIEL_NO_OP
 *   result        result_count pieces of memory, which become the previous values
 *   result_count  number of result pieces
 *   type          type of the elements
 *   op            how elements are combined
 *   target_rank   the target, a rank in the window's group
 *   target        target_count pieces of the target's window
 *   target_count  number of target pieces
 * Completion: As oriel_get_accumulate. The lists themselves may change when the call has returned.
 * Errors: Those of oriel_get_accumulate and oriel_accumulatev.
 * MPI: MPI_Get_accumulate, with derived datatypes
 * Source: MPI-4.1 13.3.4 (derived datatypes); A1-A17
 * Example:
 *   static double before[4];
 *   struct oriel_origin_piece result[] = { { before, sizeof(before) } };
 *   struct oriel_target_piece from[] = { { 0, 2 * sizeof(double) }, { 10, 2 * sizeof(double) } };
 *
 *   rc = oriel_get_accumulatev(win, NULL, 0, result, 1, ORIEL_DOUBLE, ORIEL_NO_OP, right, from, 2);
 */
int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[],
                          int target_count);

/**
 * oriel_type_bytes - the size of an element of accumulates
 *
 * Arguments:
 *   type  type of the element
 * Completion: Local.
 * Returns: the size of the C type in bytes; or 0 for a number that is no type, and for types of
 * 128-bit numbers that the library's compiler does not have.
 * Source: A3
 * Example:
 *   total = 100 * oriel_type_bytes(ORIEL_DOUBLE);
 */
size_t oriel_type_bytes(enum oriel_type type);

/**
 * oriel_op_legal - whether an operation is defined for a type
 *
 * Integers have sum, prod, min, max and the logical and bitwise operations. ORIEL_BOOL has the
 * logical ones. Floating-point numbers have sum, prod, min and max, complex numbers sum and prod,
 * pairs minloc and maxloc. All types have replace and no_op, but accumulate does not accept no_op.
 *
 * Arguments:
 *   op    the operation
 *   type  type of the elements
 * Completion: Local.
 * Returns: 1 if it is, otherwise 0.
 * Source: MPI-4.1 6.9.2; A4
 * Example:
 *   if (!oriel_op_legal(ORIEL_MINLOC, ORIEL_DOUBLE_INT))
 *   	printf("no minloc\n");
 */
int oriel_op_legal(enum oriel_op op, enum oriel_type type);

/**
 * oriel_win_flush - complete the operations issued so far, at origin and target
 *
 * Legal inside any access epoch, which stays open. Sends nothing if nothing is outstanding. In an
 * epoch of oriel_win_start it waits for the target's post.
 *
 * An operation can fail after its own call has returned: its target refuses it, or its region has
 * been detached. It has then changed nothing. The next call that completes operations on the window
 * reports it, once: a flush, the end of an epoch, oriel_request_wait or oriel_win_free. That call
 * does its own work all the same.
 *
 * Arguments:
 *   win          the window
 *   target_rank  a target of the epoch; or ORIEL_RANK_ALL: every target
 * Completion: Waits. On return the operations that this rank has issued to the target are complete
 * at both sides.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_RANK     target_rank is not in the window's group
 *   ORIEL_ERR_SYNC     no access epoch is open, or it does not name the target
 *   ORIEL_ERR_PEER     a target has died or has left the window
 *   ORIEL_ERR_ROUTE    a target cannot be reached
 *   ORIEL_ERR_TIMEOUT  the time limit passed; the call can be repeated
 *   ORIEL_ERR_RANGE    an earlier operation has failed, see above
 *   ORIEL_ERR_ACCESS   an earlier operation has failed, see above
 * MPI: MPI_Win_flush, MPI_Win_flush_all
 * Source: MPI-4.1 13.5.4, extended to every access epoch; P4, A23
 * Example:
 *   if (oriel_put(win, &value, sizeof(value), right, 0) || oriel_win_flush(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_flush(oriel_win *win, int target_rank);

/**
 * oriel_win_flush_local - complete the operations issued so far, at the origin
 *
 * Differs from oriel_win_flush in that nothing is known about the target.
 *
 * Arguments:
 *   win          the window
 *   target_rank  a target of the epoch; or ORIEL_RANK_ALL: every target
 * Completion: Waits. On return, buffers of puts may be reused, and data of gets may be read.
 * Errors: Those of oriel_win_flush.
 * MPI: MPI_Win_flush_local, MPI_Win_flush_local_all
 * Source: MPI-4.1 13.5.4, extended to every access epoch; P4
 * Example:
 *   if (oriel_get(win, &where, sizeof(where), right, 0) || oriel_win_flush_local(win, right) ||
 *       oriel_put(win, &value, sizeof(value), right, where))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_flush_local(oriel_win *win, int target_rank);

/**
 * oriel_win_iflush - start a nonblocking flush
 *
 * Legal inside any access epoch. *request stands for everything that this rank has issued to
 * target_rank on this window so far, and is complete when that is complete at origin and target.
 *
 * A request holds no resources of the library. The program may copy it, drop it, or wait for it
 * twice, by any thread. The epoch may be closed meanwhile, which completes the request.
 * oriel_win_complete and oriel_win_fence complete the origin's side only; the target's side follows
 * without a call of the target. The operations leave immediately if the target's lock is held or
 * its post has arrived.
 *
 * Arguments:
 *   win          the window
 *   target_rank  a target of the epoch; or, inside lock_all, ORIEL_RANK_ALL: every target, and
 *                possibly some operations that are issued later
 *   request      becomes the request; the object is the caller's
 * Completion: Nonblocking; see oriel_request_wait and oriel_request_test.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_ARG     request is NULL
 *   ORIEL_ERR_RANK    target_rank is not in the window's group
 *   ORIEL_ERR_SYNC    no access epoch is open, or it does not name the target; or ORIEL_RANK_ALL
 *                     without lock_all
 *   ORIEL_ERR_PEER    an earlier operation failed (P5)
 *   ORIEL_ERR_MEMORY  no memory; only with ORIEL_RANK_ALL, or in a fence epoch
 * Source: MPI-4.1 13.3.5, extended to every access epoch; P4, R1, R2, R5, R6
 * Example:
 *   oriel_request request;
 *
 *   if (oriel_win_lock_all(win, 0) || oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_iflush(win, right, &request))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 *   compute();
 *   if (oriel_request_wait(&request) || oriel_win_unlock_all(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_iflush(oriel_win *win, int target_rank, oriel_request *request);

/**
 * oriel_win_iflush_local - start a nonblocking local flush
 *
 * Differs from oriel_win_iflush in that the request covers the origin's side only. Once it is
 * complete, buffers of puts may be reused, and data of gets and fetches is there. An operation
 * followed by this call corresponds to MPI's Rput, Rget, Raccumulate or Rget_accumulate.
 *
 * Arguments:
 *   win          the window
 *   target_rank  as for oriel_win_iflush
 *   request      becomes the request; the object is the caller's
 * Completion: Nonblocking; see oriel_request_wait and oriel_request_test.
 * Errors: Those of oriel_win_iflush.
 * MPI: MPI_Rput, MPI_Rget, MPI_Raccumulate, MPI_Rget_accumulate: the operation, then this call
 * Source: MPI-4.1 13.3.5, extended to every access epoch; P4, R1-R6
 * Example:
 *   oriel_request request;
 *
 *   if (oriel_get(win, &where, sizeof(where), right, 0) ||
 *       oriel_win_iflush_local(win, right, &request))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 *   compute();
 *   if (oriel_request_wait(&request) || oriel_put(win, &value, sizeof(value), right, where))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_iflush_local(oriel_win *win, int target_rank, oriel_request *request);

/**
 * oriel_request_wait - wait until a request is complete
 *
 * Needs no epoch. Returns immediately if the request is complete already; it stays complete. In an
 * epoch of oriel_win_start it waits for the target's post.
 *
 * Arguments:
 *   request  the request
 * Completion: Waits.
 * Errors:
 *   ORIEL_ERR_ARG      request is NULL
 *   ORIEL_ERR_HANDLE   its window has been freed
 *   ORIEL_ERR_PEER     a target died or left the window before the request was complete. The
 *                      request is over; memory that its operations used is the program's again,
 *                      with undefined contents. With ORIEL_RANK_ALL this is reported once the other
 *                      targets' operations are complete, or half a second later
 *   ORIEL_ERR_ROUTE    as ORIEL_ERR_PEER, for a target that cannot be reached
 *   ORIEL_ERR_TIMEOUT  the time limit passed; the call can be repeated
 *   ORIEL_ERR_MEMORY   no memory; the call can be repeated
 *   ORIEL_ERR_RANGE    memory of a dynamic window was detached before an operation that waited for
 *                      the lock or the post could be issued; the call can be repeated
 * Threads: One thread at a time waits for a request or tests it. Different requests may be waited
 * for by any threads, in any order.
 * MPI: MPI_Wait
 * Source: MPI-4.1 13.3.5; R3-R7
 * Example:
 *   oriel_request request;
 *
 *   if (oriel_win_iflush_local(win, right, &request) || oriel_request_wait(&request))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_request_wait(oriel_request *request);

/**
 * oriel_request_test - whether a request is complete
 *
 * Repeated tests make progress: the result becomes true without any other call.
 *
 * Arguments:
 *   request  the request
 *   flag     becomes 1 if the request is complete, otherwise 0
 * Completion: Nonblocking.
 * Errors: Those of oriel_request_wait, except ORIEL_ERR_TIMEOUT, and:
 *   ORIEL_ERR_ARG   flag is NULL
 *   ORIEL_ERR_PEER  *flag is 1: the request is over. With ORIEL_RANK_ALL this is reported once the
 *                   other targets' operations are complete
 * Threads: As oriel_request_wait.
 * MPI: MPI_Test
 * Source: MPI-4.1 13.3.5; R3-R7
 * Example:
 *   oriel_request request;
 *
 *   if (oriel_win_iflush(win, right, &request))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 *   while ((rc = oriel_request_test(&request, &flag)) == 0 && !flag)
 *   	compute();
 */
int oriel_request_test(oriel_request *request, int *flag);

/**
 * oriel_win_post - open an exposure epoch: let a group of origins access the local memory
 *
 * Arguments:
 *   win         the window
 *   group       the origins, processes that are members of the window's group. With an empty group
 *               the call has no effect, and one wait or test is legal after it
 *   assertions  0, or some of ORIEL_MODE_NOCHECK, ORIEL_MODE_NOSTORE and ORIEL_MODE_NOPUT
 * Completion: Local: never waits for another rank.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window, or group is no group
 *   ORIEL_ERR_ARG     an assertion is not legal in this call
 *   ORIEL_ERR_RANK    a member of group is not in the window's group
 *   ORIEL_ERR_SYNC    an exposure epoch is open, or a fence epoch with operations
 *   ORIEL_ERR_PEER    an earlier operation failed (P5). An origin that has died or has left the
 *                     window is reported by wait
 *   ORIEL_ERR_MEMORY  no memory
 * MPI: MPI_Win_post
 * Source: MPI-4.1 13.5.2; P1, P2, P6, P9-P14
 * Example:
 *   if (oriel_win_post(win, neighbours, 0) || oriel_win_wait(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_post(oriel_win *win, const oriel_group *group, int assertions);

/**
 * oriel_win_start - open an access epoch to a group of targets
 *
 * Operations issued before a target's post has arrived are deferred. They leave during a later call
 * on the window, at the latest complete or flush.
 *
 * Arguments:
 *   win         the window
 *   group       the targets, processes that are members of the window's group. With an empty group
 *               the call has no effect, and one complete is legal after it
 *   assertions  0, or ORIEL_MODE_NOCHECK, which the matching post must have, too
 * Completion: Local: never waits for another rank.
 * Errors: Those of oriel_win_post, for access epochs.
 * MPI: MPI_Win_start
 * Source: MPI-4.1 13.5.2; P1-P4, P9-P14
 * Example:
 *   if (oriel_win_start(win, neighbours, 0) || oriel_put(win, &value, sizeof(value), left, 0) ||
 *       oriel_win_complete(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_start(oriel_win *win, const oriel_group *group, int assertions);

/**
 * oriel_win_complete - close the access epoch of oriel_win_start
 *
 * Waits for the post of every target of the epoch. An operation that was copied and fails later is
 * reported by a later call on the window (P5).
 *
 * Arguments:
 *   win  the window
 * Completion: Waits. On return every operation of the epoch is complete at the origin: buffers of
 * puts may be reused, and data of gets may be read. Nothing is known about the target.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_SYNC     no access epoch is open
 *   ORIEL_ERR_PEER     a target died, or left the window after an error. The epoch is closed, and
 *                      complete for the other targets, with one exception: if one of these has
 *                      still not posted half a second later, the epoch stays open; repeat the call
 *                      for the living targets, or free the window
 *   ORIEL_ERR_ROUTE    as ORIEL_ERR_PEER, for a target that cannot be reached
 *   ORIEL_ERR_TIMEOUT  the epoch stays open, and the call can be repeated
 *   ORIEL_ERR_MEMORY   as ORIEL_ERR_TIMEOUT
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_complete
 * Source: MPI-4.1 13.5.2; P3-P5, P11, P12, E5
 * Example:
 *   if (oriel_win_post(win, neighbours, 0) || oriel_win_start(win, neighbours, 0) ||
 *       oriel_put(win, &value, sizeof(value), left, 0) || oriel_win_complete(win) ||
 *       oriel_win_wait(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_complete(oriel_win *win);

/**
 * oriel_win_wait - close the exposure epoch
 *
 * Waits until every origin of the group has called oriel_win_complete.
 *
 * Arguments:
 *   win  the window
 * Completion: Waits. On return all operations of the origins are complete in local memory.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_SYNC     no exposure epoch is open
 *   ORIEL_ERR_PEER     an origin died, or left the window after an error, before its complete. The
 *                      epoch is closed, though living origins may still be inside theirs: a post
 *                      that names one of them returns ORIEL_ERR_SYNC until that origin has
 *                      completed or left
 *   ORIEL_ERR_ROUTE    as ORIEL_ERR_PEER, for an origin that cannot be reached
 *   ORIEL_ERR_TIMEOUT  the epoch stays open, and the call can be repeated
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_wait
 * Source: MPI-4.1 13.5.2; P7, E5
 * Example:
 *   if (oriel_win_post(win, neighbours, 0) || oriel_win_wait(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_wait(oriel_win *win);

/**
 * oriel_win_test - close the exposure epoch if that needs no waiting
 *
 * If the result is false, nothing visible has changed. Repeated tests make progress: the result
 * becomes true without any other call. After true, a further test before the next post returns
 * ORIEL_ERR_SYNC.
 *
 * Arguments:
 *   win   the window
 *   flag  becomes 1 if every origin has completed and the epoch is closed, as by oriel_win_wait;
 *         otherwise 0
 * Completion: Nonblocking.
 * Errors: Those of oriel_win_wait, except ORIEL_ERR_TIMEOUT, and:
 *   ORIEL_ERR_ARG  flag is NULL
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_test
 * Source: MPI-4.1 13.5.2; P8
 * Example:
 *   while ((rc = oriel_win_test(win, &flag)) == 0 && !flag)
 *   	compute();
 */
int oriel_win_test(oriel_win *win, int *flag);

/**
 * oriel_win_fence - close the previous fence epoch and open the next one
 *
 * Operations that are issued after the fence reach a target only when that target has called the
 * fence, too.
 *
 * Arguments:
 *   win         the window
 *   assertions  0, or some of ORIEL_MODE_NOSTORE, ORIEL_MODE_NOPUT, ORIEL_MODE_NOPRECEDE and
 *               ORIEL_MODE_NOSUCCEED; all members or none give the last two
 * Completion: Collective over the window's group. The operations that this rank has issued since
 * the previous fence are complete at the origin on return, and at their target before its fence
 * returns.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      an assertion is not legal in this call
 *   ORIEL_ERR_SYNC     an epoch of post or start is open
 *   ORIEL_ERR_PEER     a member has died
 *   ORIEL_ERR_ROUTE    a member cannot be reached
 *   ORIEL_ERR_TIMEOUT  the time limit passed; repeat the call to continue the same fence
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_fence
 * Source: MPI-4.1 13.5.1; F1-F4
 * Example:
 *   if (oriel_win_fence(win, ORIEL_MODE_NOPRECEDE) ||
 *       oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_fence(win, ORIEL_MODE_NOSUCCEED))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_fence(oriel_win *win, int assertions);

/* The two kinds of lock: with other shared ones, or alone. */
enum oriel_lock_type { ORIEL_LOCK_SHARED = 1, ORIEL_LOCK_EXCLUSIVE = 2 };

/**
 * oriel_win_lock - lock the window of one member, and open an access epoch to it
 *
 * While a rank holds an exclusive lock, no other rank holds a lock on that member's window. Several
 * ranks can hold shared locks. The target makes no call. A rank may lock several members at once,
 * in any order and of either type. It may lock itself, which protects its own loads and stores of
 * its window memory, too. Locks of different windows are independent of each other, even if the
 * windows share memory.
 *
 * Exclusive locks are granted first come, first served. A shared request waits for at most one
 * exclusive holder, the one present when it is made. An exclusive request waits for the shared
 * holders present and for the requests before it. To avoid deadlocks, if a request waits for
 * holders while a rank that has other locks of the window waits behind it, that rank goes first.
 * Ranks that wait for a lock while they hold another one exclusively can deadlock, as with mutexes.
 *
 * Arguments:
 *   win          the window
 *   type         ORIEL_LOCK_SHARED or ORIEL_LOCK_EXCLUSIVE
 *   target_rank  the member to lock, a rank in the window's group
 *   assertions   0; or ORIEL_MODE_NOCHECK: no rank holds or will ask for a lock that excludes this
 *                one, so nothing is sent for it
 * Completion: Waits. The lock is held on return.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      a wrong type or assertion
 *   ORIEL_ERR_RANK     target_rank is not in the window's group
 *   ORIEL_ERR_SYNC     the member is locked already, or another thread is locking it; lock_all, an
 *                      access epoch of start, or a fence epoch with operations is open; or the
 *                      window has the hint no_locks
 *   ORIEL_ERR_PEER     the target has died or has left the window
 *   ORIEL_ERR_ROUTE    the target cannot be reached
 *   ORIEL_ERR_DEVICE   an exclusive lock via a device without atomics
 *   ORIEL_ERR_TIMEOUT  the lock is not held. A repeated call keeps its place in the queue;
 *                      otherwise the place is given up automatically
 * Threads: One thread opens and closes the epoch of a target. Operations and flushes of all threads
 * may use it.
 * MPI: MPI_Win_lock
 * Source: MPI-4.1 13.5.3; L1-L6, L9-L12, L21-L25
 * Example:
 *   if (oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, right, 0) ||
 *       oriel_put(win, &value, sizeof(value), right, 0) || oriel_win_unlock(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions);

/**
 * oriel_win_unlock - close the access epoch to one member, and release its lock
 *
 * Arguments:
 *   win          the window
 *   target_rank  a member that oriel_win_lock has locked
 * Completion: Waits. On return the operations of the epoch are complete at origin and target; a
 * rank that gets the lock afterwards sees them.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_RANK     target_rank is not in the window's group
 *   ORIEL_ERR_SYNC     the member is not locked by oriel_win_lock
 *   ORIEL_ERR_PEER     the target has died or has left the window; the epoch is closed
 *   ORIEL_ERR_ROUTE    the target cannot be reached; the epoch is closed
 *   ORIEL_ERR_TIMEOUT  the epoch is still open, and the call can be repeated
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_unlock
 * Source: MPI-4.1 13.5.3; L4, L8, L20
 * Example:
 *   if (oriel_win_lock(win, ORIEL_LOCK_SHARED, right, 0) ||
 *       oriel_get(win, &value, sizeof(value), right, 0) || oriel_win_unlock(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_unlock(oriel_win *win, int target_rank);

/**
 * oriel_win_lock_all - open an access epoch to all members, with a shared lock on each
 *
 * The lock of a member is taken with the first operation or oriel_win_shared_query to it, and that
 * of the caller itself by this call. In a shared window (oriel_win_allocate_shared), whose parts
 * are loaded and stored without operations, this call takes those of all members.
 *
 * Since locks are taken one by one, the call can deadlock with ranks that hold an exclusive lock
 * and ask for another one, as with mutexes. It cannot deadlock with ranks that ask for one lock at
 * a time.
 *
 * Arguments:
 *   win         the window
 *   assertions  0, or ORIEL_MODE_NOCHECK, as for oriel_win_lock
 * Completion: Not collective. Sends nothing by itself, and its cost does not grow with the group.
 * Errors: Those of oriel_win_lock, except ORIEL_ERR_RANK, and:
 *   ORIEL_ERR_SYNC  also if a member is locked
 * Threads: One thread opens and closes the epoch. Operations and flushes of all threads may use it.
 * MPI: MPI_Win_lock_all
 * Source: MPI-4.1 13.5.3; L7-L9, L12
 * Example:
 *   if (oriel_win_lock_all(win, 0) || oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_flush(win, right) || oriel_win_unlock_all(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_lock_all(oriel_win *win, int assertions);

/**
 * oriel_win_unlock_all - close the access epoch to all members
 *
 * Arguments:
 *   win  the window
 * Completion: Waits. On return the operations of the epoch are complete at the origin and at all
 * targets.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_SYNC     no epoch of lock_all is open
 *   ORIEL_ERR_PEER     a target has died or has left the window; the epoch is closed
 *   ORIEL_ERR_ROUTE    a target cannot be reached; the epoch is closed
 *   ORIEL_ERR_TIMEOUT  the epoch is still open, and the call can be repeated
 * Threads: One thread closes an epoch.
 * MPI: MPI_Win_unlock_all
 * Source: MPI-4.1 13.5.3; L4, L7, L8
 * Example:
 *   if (oriel_win_lock_all(win, 0) || oriel_get(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_unlock_all(win))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_unlock_all(oriel_win *win);

/**
 * oriel_win_lock_orphaned - whether a rank died holding the lock that is now held
 *
 * When a holder dies, its lock is released within seconds and granted to others. Data that the dead
 * rank was writing is undefined. Each grant reports that by this call, until one holder of an
 * exclusive lock has unlocked. Under lock_all it covers members to which operations have been
 * issued. With ORIEL_MODE_NOCHECK nothing is known.
 *
 * Arguments:
 *   win          the window
 *   target_rank  a member that this rank has locked
 * Completion: Local.
 * Returns: 1 if a rank died, otherwise 0; or a negative error.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_RANK    target_rank is not in the window's group
 *   ORIEL_ERR_SYNC    the member is not locked
 * Source: L21, L22
 * Example:
 *   if (oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, right, 0) == 0 &&
 *       oriel_win_lock_orphaned(win, right) == 1)
 *   	compute();
 */
int oriel_win_lock_orphaned(oriel_win *win, int target_rank);

/**
 * oriel_win_sync - order the caller's loads and stores of window memory with those of others
 *
 * A full memory barrier between the calling thread's loads and stores before and after it, as other
 * threads, processes and the device see them. Legal at any time. A rank that repeats it and a load
 * of its own window sees what others put there.
 *
 * Arguments:
 *   win  the window
 * Completion: Local: waits for no other rank.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 * MPI: MPI_Win_sync
 * Source: MPI-4.1 13.5.4, 13.7; L16, L17
 * Example:
 *   while (*(volatile char *)out == 0)
 *   	oriel_win_sync(win);
 */
int oriel_win_sync(oriel_win *win);

/* How oriel_signal changes a signal. */
enum oriel_signal_op {
	ORIEL_SIGNAL_SET = 1, /* earlier ADDs stay beside it */
	ORIEL_SIGNAL_ADD = 2
};

/**
 * oriel_signal - notify a target that earlier operations to it have arrived
 *
 * A signal is a number of 64 bits at the target that starts at 0. ORIEL_SIGNAL_SET writes value,
 * ORIEL_SIGNAL_ADD adds it. A signal's value is that of the last SET plus all ADDs. The hint
 * signals of the target determines how many it has in the window; they are no window memory.
 *
 * The signal takes effect once everything that this rank has issued to that target on this window
 * before is complete there. Puts are then placed and visible to a thread that sees the signal, gets
 * have been read, and accumulates are applied. The call may have to wait for accumulates that the
 * target applies. A put and a signal behind it leave in one post to the device. Needs an access
 * epoch that names the target.
 *
 * ADDs are never lost, whatever other ranks add. SETs of one origin arrive in order, and a later
 * one may hide an earlier one. If two origins SET a signal at the same time, either may win. An ADD
 * of 0 does not count as a change.
 *
 * The target carries out an ADD via a card that has no atomics, or whose atomics are not used
 * (ORIEL_ATOMICS is cpu): a thread that waits or tests in Oriel, otherwise the service thread. It
 * never carries out a SET, but a SET behind such an ADD may wait for it, as it may wait for
 * accumulates.
 *
 * Arguments:
 *   win          the window
 *   target_rank  the target, a rank in the window's group
 *   signal       number of the signal, from 0
 *   value        what is written or added
 *   op           ORIEL_SIGNAL_SET or ORIEL_SIGNAL_ADD
 * Completion: Nonblocking, as oriel_put. A flush and the end of the epoch complete it at the
 * target.
 * Errors: Those of oriel_put, except ORIEL_ERR_ACCESS, and:
 *   ORIEL_ERR_ARG    a wrong op
 *   ORIEL_ERR_RANGE  the target has no such signal; nothing has been sent
 * Source: N1, N2, N5, N7
 * Example:
 *   if (oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_signal(win, right, 0, step, ORIEL_SIGNAL_SET))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal(oriel_win *win, int target_rank, uint32_t signal, uint64_t value, enum oriel_signal_op op);

/**
 * oriel_signal_wait - wait for a signal of this rank, and take it
 *
 * Waits until one of count signals has changed since it was last taken, also if its value is the
 * same as before, and takes it. The caller's loads afterwards see what the signal's origin had
 * issued before it. If several signals have changed, they are taken in turn. A signal needs no
 * reset. Needs no epoch.
 *
 * Arguments:
 *   win     the window
 *   first   number of the first signal to wait for
 *   count   how many signals from first on, at least 1
 *   signal  becomes the number of the signal that was taken
 *   value   becomes its value
 * Completion: Waits.
 * Errors:
 *   ORIEL_ERR_HANDLE   win is no window
 *   ORIEL_ERR_ARG      signal or value is NULL, or count is 0
 *   ORIEL_ERR_RANGE    this rank has no such signals
 *   ORIEL_ERR_PEER     no signal has changed, and a member of the window has died since the last
 *                      call that reported a death. A wait does not name a sender: call it again to
 *                      wait for the remaining members
 *   ORIEL_ERR_ROUTE    as ORIEL_ERR_PEER, for a member that cannot be reached
 *   ORIEL_ERR_TIMEOUT  the time limit passed; the call can be repeated
 * Threads: Several may wait; one of them takes a change.
 * Source: N3, N6, N7; E6
 * Example:
 *   if (oriel_signal_wait(win, 0, 2, &which, &step))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal_wait(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value);

/**
 * oriel_signal_test - take a signal of this rank if that needs no waiting
 *
 * Repeated tests make progress: the result becomes true without any other call.
 *
 * Arguments:
 *   win     the window
 *   first   number of the first signal to test
 *   count   how many signals from first on, at least 1
 *   signal  becomes the number of the signal that was taken
 *   value   becomes its value
 *   flag    becomes 1 if a signal has changed and was taken, as by oriel_signal_wait; otherwise 0
 * Completion: Nonblocking.
 * Errors: Those of oriel_signal_wait, except ORIEL_ERR_TIMEOUT, and:
 *   ORIEL_ERR_ARG  flag is NULL
 * Threads: As oriel_signal_wait.
 * Source: N3, N7
 * Example:
 *   while ((rc = oriel_signal_test(win, 0, 2, &which, &step, &flag)) == 0 && !flag)
 *   	compute();
 */
int oriel_signal_test(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value, int *flag);

/**
 * oriel_signal_until - wait until a signal of this rank has reached a value
 *
 * Waits until the signal's value is value or has passed it: their difference modulo 2^64 is not
 * negative as a signed number. Use it to count the ADDs of many origins. Takes nothing: a later
 * oriel_signal_wait still finds the change. Otherwise as oriel_signal_wait.
 *
 * Arguments:
 *   win     the window
 *   signal  number of the signal
 *   value   the value to reach
 * Completion: Waits.
 * Errors: Those of oriel_signal_wait.
 * Source: N4, N7; E6
 * Example:
 *   if (oriel_signal_until(win, 3, total))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal_until(oriel_win *win, uint32_t signal, uint64_t value);

/**
 * oriel_signal_read - the present value of a signal of this rank
 *
 * Takes nothing. The caller's loads afterwards see what the origins of that value had issued before
 * it. The value is never a mixture of two.
 *
 * Arguments:
 *   win     the window
 *   signal  number of the signal
 *   value   becomes the value
 * Completion: Local: waits for no other rank.
 * Errors:
 *   ORIEL_ERR_HANDLE  win is no window
 *   ORIEL_ERR_ARG     value is NULL
 *   ORIEL_ERR_RANGE   this rank has no such signal
 * Source: N4, N6
 * Example:
 *   if (oriel_signal_read(win, 3, &total))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal_read(const oriel_win *win, uint32_t signal, uint64_t *value);

/**
 * oriel_strerror - the meaning of an error code, as text
 *
 * Arguments:
 *   error  an ORIEL_ERR_* code, or any other number
 * Completion: Local.
 * Returns: a constant text, also for unknown codes: the name of the constant, a colon, and its
 * meaning. Never NULL.
 * MPI: MPI_Error_string
 * Example:
 *   fprintf(stderr, "%s\n", oriel_strerror(rc));
 */
const char *oriel_strerror(int error);

/**
 * oriel_last_error - the text of this thread's last failed call
 *
 * Completion: Local.
 * Returns: a text that names call, rank, window, value and limit; "" if no call of this thread has
 * failed. It begins with the caller's rank, "[rank 3] ", or with the process, "[pid 4711] ", before
 * the rank is known. It ends with the constant, " (ORIEL_ERR_SYNC)". The text belongs to the
 * thread; the thread's next failing call overwrites it.
 * Source: E1
 * Example:
 *   if (oriel_barrier(job))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
const char *oriel_last_error(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
