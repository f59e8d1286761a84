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
 * block says so. oriel_last_error() then returns a text that begins with this process's rank,
 * names call, rank, window and value, and ends with the constant. No call prints on success, and
 * none ends the process.
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

/*
 * What a rank has issued up to some moment, which can be waited for: oriel_win_iflush. The object is
 * the program's, to be copied and dropped; what its members mean is the library's.
 */
typedef struct oriel_request {
	oriel_win *win;
	uint64_t window_serial;
	uint64_t number;
	uint64_t records;
	int target_rank;
	int scope;
} oriel_request;

/* Error codes. None of them is -1, so that they cannot be taken for ORIEL_RANK_NONE. */
enum oriel_error {
	ORIEL_OK = 0,
	ORIEL_ERR_ARG = -2,        /* an argument is wrong: a null pointer, a bad size, an unknown assertion bit */
	ORIEL_ERR_HANDLE = -3,     /* a job, group, window or memory handle is null, freed, or of another kind */
	ORIEL_ERR_RANK = -4,       /* a rank is out of range, or stands twice in a group */
	ORIEL_ERR_RANGE = -5,      /* an operation would touch a byte outside the target's window */
	ORIEL_ERR_ACCESS = -6,     /* a put to a window whose memory its owner may only read */
	ORIEL_ERR_SYNC = -7,       /* the call is not legal in the window's present epochs */
	ORIEL_ERR_PEER = -8,       /* a rank that the call needs has died, or its connection is lost */
	ORIEL_ERR_TIMEOUT = -9,    /* the time limit passed; the epoch is still open and the call can be repeated */
	ORIEL_ERR_MEMORY = -10,    /* no memory, or the device could not register it */
	ORIEL_ERR_LIMIT = -11,     /* a named bound of the library was reached */
	ORIEL_ERR_DEVICE = -12,    /* no usable RDMA device, or the device failed */
	ORIEL_ERR_BOOTSTRAP = -13, /* the launcher could not be understood, reached, or trusted; or libev is missing */
	ORIEL_ERR_OP = -14,        /* the operation is not defined for the type, or not legal in this call */
	ORIEL_ERR_ATTACH = -15,    /* memory is attached already, or is not attached */
	ORIEL_ERR_KIND = -16,      /* the call is not for this kind of window */
	ORIEL_ERR_SHARED = -17,    /* the members cannot share memory */
	ORIEL_ERR_ROUTE = -18      /* a rank that the call needs lives: there is no way to it, or it refuses connections */
};

/* Where a window's memory comes from. */
enum oriel_win_kind {
	ORIEL_WIN_CREATED = 1,   /* the program's: oriel_win_create */
	ORIEL_WIN_ALLOCATED = 2, /* the library's: oriel_win_allocate */
	ORIEL_WIN_SHARED = 3,    /* one piece that all members map: oriel_win_allocate_shared */
	ORIEL_WIN_DYNAMIC = 4    /* attached and detached while the window lives: oriel_win_create_dynamic */
};

/*
 * "Not a member": what oriel_group_rank and oriel_group_translate answer for a rank that is not in
 * the group.
 */
#define ORIEL_RANK_NONE (-1)
/* For oriel_win_flush, oriel_win_iflush and their local forms: every target of the epoch. */
#define ORIEL_RANK_ALL (-2)

/*
 * Assertions (P14, F4, L12): promises of the caller that may save work. 0 is always right.
 * ORIEL_MODE_NOCHECK with start and post: the matching call has been made, or will be before any
 * access; with lock and lock_all: nobody holds or asks for a lock that excludes this one.
 */
#define ORIEL_MODE_NOCHECK 0x01
#define ORIEL_MODE_NOSTORE 0x02   /* post, fence: no local stores to the window since the last synchronisation */
#define ORIEL_MODE_NOPUT 0x04     /* post, fence: no put will reach the local window until the epoch is closed */
#define ORIEL_MODE_NOPRECEDE 0x08 /* fence: closes no operations of any rank */
#define ORIEL_MODE_NOSUCCEED 0x10 /* fence: no operations follow, of any rank */

/*
 * What a program may choose when it joins a job. A field of 0 or NULL means: take the environment
 * variable named beside it, or the default; oriel_environment(7) tells more of each.
 */
struct oriel_options {
	size_t struct_bytes; /* sizeof(struct oriel_options), set by the program */
	const char *device;  /* ORIEL_DEVICE: "rxe0", "card", "soft", "card+soft": by what to talk; man oriel_environment */
	const char *addr;    /* ORIEL_ADDR: the local address whose device to use, "10.0.0.1" */
	int timeout_ms;      /* ORIEL_TIMEOUT (seconds): the longest any call waits for a peer; default: for ever */
	int watchdog_ms;     /* ORIEL_WATCHDOG (seconds): after that long say once on stderr who waits for whom;
	                             default: 30 s, -1: never */
	size_t max_message_bytes; /* ORIEL_MAX_MESSAGE (bytes): split requests above this; default: the port's largest */
	const struct oriel_bootstrap *bootstrap; /* the program's own means to find the other ranks; default: ask whoever
	                                            started the process (ORIEL_BOOT) */
	/*
	 * Called now and then by a thread that waits inside the library, once it would have given way to
	 * others, for what else the program must keep going: another library that has no thread for it.
	 * May return at any time; may not call the library but for oriel_progress. No lock of the library is
	 * held. NULL: nothing.
	 */
	void (*idle)(void *context);
	void *idle_context;
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
	char accumulate_ordering[64]; /* hint: "none", or of "rar,raw,war,waw" (unless given) in this order */
	char accumulate_ops[32];      /* hint accumulate_ops; "same_op_no_op" unless given */
	enum oriel_win_kind kind;
	int unified;                         /* always 1: a window has one copy, for loads, stores and operations */
	int alloc_shared_noncontig;          /* hint alloc_shared_noncontig: 1 if "true" was given */
	size_t accumulate_granularity_bytes; /* hint mpi_accumulate_granularity; 0 unless given */
	uint32_t signal_count;               /* hint signals, of this rank */
	int accumulate_uses_target;          /* 1: some accumulates run on threads of the target: oriel_epochs(7) says which; */
	                                     /* 0: none do, the window is this rank's alone */
	int free_refused;                    /* 1: an epoch is open, or being closed: oriel_win_free would be ORIEL_ERR_SYNC */
	int share;                           /* hint share: 1 if this rank's memory has been moved; of a dynamic window: if */
	                                     /* what is attached is to be */
	char name[64];                       /* hint name, or oriel_win_set_name; "" without */
	uint64_t number;                     /* names the window in messages, the same on all members; from 1 */
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
 * Types of the elements that accumulate and its family combine; each has the size of the C type. A
 * pair is a C struct { value; index; } with C's padding, which is neither read nor written.
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
	ORIEL_BOOL, /* one byte, 0 or not */
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
	ORIEL_FLOAT128, /* this and the next: where the library's compiler has __float128, Fortran's REAL*16 */
	ORIEL_FLOAT128_COMPLEX,
	ORIEL_INT128 /* where the compiler has __int128, Fortran's INTEGER*16 */
};

/* What they combine elements by: target = target op origin. */
enum oriel_op {
	ORIEL_SUM = 1, /* integers wrap */
	ORIEL_PROD,
	ORIEL_MIN,
	ORIEL_MAX,
	ORIEL_LAND, /* logical: the element becomes 0 or 1 */
	ORIEL_LOR,
	ORIEL_LXOR,
	ORIEL_BAND, /* bit by bit */
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
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_PEER: a rank died; ORIEL_ERR_ROUTE: two ranks cannot reach
 * each other; ORIEL_ERR_TIMEOUT: the barrier is lost, since others may have passed it.
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
 * oriel_progress - do what other ranks have asked this one to do
 *
 * Applies the accumulates that have come for this rank to apply (A22), keeps a device going that cannot
 * place what arrives by itself (softverbs, for memory that is not mapped), and returns. It waits for no other
 * rank's call, and only where many answers are under way for room to send one. No program needs it: every
 * call that waits does so too, and the service thread where none does. But that has to be woken first, and
 * may share its processor with a thread that polls something else; such a thread calls this in every turn.
 * Costs some nanoseconds where nothing has come.
 *
 * Threads: any, until oriel_finalize is called; from `idle` of struct oriel_options too.
 *
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 12.7.3 (progress); A22
 */
int oriel_progress(oriel_job *job);

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
 * oriel_group_tagged - the same members, told apart from other groups of these
 *
 * *newgroup has the members of group, in their order. Collective calls on groups of different tags, or
 * of one without a tag, never match each other: two communicators of an MPI, say, that have the same
 * members. All members give the same tag. A tag replaces that which group had; groups made of
 * *newgroup by oriel_group_incl have none. Local.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: newgroup is NULL; ORIEL_ERR_MEMORY.
 * Source: MPI-4.1 7.4.2; E4
 */
int oriel_group_tagged(const oriel_group *group, uint64_t tag, oriel_group **newgroup);

/**
 * oriel_group_shared - the members that can share memory with the caller
 *
 * Collective over group. *newgroup has them in the order they have in group, the caller among them:
 * ranks on one machine, of one user and in one container, whatever device they talk by. A shared window
 * (oriel_win_allocate_shared) may be made on it.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: newgroup is NULL; ORIEL_ERR_RANK: the caller is not a member;
 * ORIEL_ERR_MEMORY; ORIEL_ERR_PEER; ORIEL_ERR_TIMEOUT: the call is lost, since others may have passed it.
 * Source: MPI-4.1 7.4.2 (MPI_COMM_TYPE_SHARED); SW1
 * Example:
 *   if (oriel_group_shared(world, &neighbours) || oriel_group_size(neighbours) < size)
 *   	fprintf(stderr, "more than one machine\n");
 */
int oriel_group_shared(const oriel_group *group, oriel_group **newgroup);

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
 * hints may be NULL; known keys are no_locks, same_size, same_disp_unit, alloc_shared_noncontig ("true"
 * or "false"), accumulate_ordering ("none", or some of rar, raw, war, waw with commas between them),
 * accumulate_ops ("same_op" or "same_op_no_op"), mpi_accumulate_granularity (bytes; 0: the library's
 * choice), signals (0 to 65536), share and refuse ("true" or "false"), name (as for
 * oriel_win_set_name); others are ignored.
 * mpi_accumulate_granularity and alloc_shared_noncontig must be the same on all members.
 *
 * With share "true", or without it where ORIEL_SHARE is 1, the rank's memory is moved into shared
 * memory in place, so that the ranks of its machine reach it as they reach allocated memory, and back
 * when the window is freed; oriel_windows(7) tells which memory can be, and what is different meanwhile.
 * Other memory stays as it is, without an error; oriel_win_query tells.
 *
 * A member that has found that it cannot have the window, for want of something of its own, gives refuse
 * "true": the call fails on all members with ORIEL_ERR_MEMORY, and nobody waits for that one.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: also a known hint with a value that cannot be used, and,
 * on all members, hints that do not agree; ORIEL_ERR_KIND: on all members, if some make a window
 * of another kind in this collective call; ORIEL_ERR_RANK: the caller is not a member;
 * ORIEL_ERR_MEMORY: registration failed, with need, limit and remedy; ORIEL_ERR_LIMIT;
 * ORIEL_ERR_PEER; ORIEL_ERR_ROUTE: two members cannot reach each other; ORIEL_ERR_TIMEOUT: a member
 * did not come in time. Where it fails on one member after the arguments were accepted, it fails on
 * all, but for one case: a member whose time passes at the very moment when the last one comes may
 * be left out by others, for whom it succeeds. For these, operations on that member, epochs that
 * name it, fence and oriel_win_free give ORIEL_ERR_PEER, and nothing else is concerned; free
 * releases the window as after a death.
 * Threads: several threads may create windows at once on different lists of members (E4).
 * Source: MPI-4.1 13.2.1; W1-W6, W9, W10, I1, A16, A18, A19
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
 * device that shares memory can map it (for size_bytes 0: NULL). It costs no page before it is
 * touched, but where ranks of the group reach it by a card, which pins it, and where vm.overcommit_memory
 * is 2. It is released by oriel_win_free; the last few pieces the library may keep, for later
 * windows, until oriel_finalize: with their pages up to 1 MiB, and up to 64 MiB without any.
 *
 * Errors: those of oriel_win_create; ORIEL_ERR_MEMORY also where it is more than the machine has, or a
 * control group or the process may have, with need, limit and remedy.
 * Source: MPI-4.1 13.2.2; W4, W11
 * Example:
 *   void *base;
 *   rc = oriel_win_allocate(8000, sizeof(double), NULL, world, &base, &win);
 */
int oriel_win_allocate(size_t size_bytes, size_t disp_unit_bytes, const struct oriel_hint hints[], oriel_group *group,
                       void **base, oriel_win **win);

/**
 * oriel_win_allocate_shared - a window of one memory that all members map
 *
 * Collective over group, whose members can share memory (oriel_group_shared). The members' parts lie
 * one after the other in rank order, without a byte between them, at each member; *base becomes the
 * caller's own part (NULL if no member has a byte). With the hint alloc_shared_noncontig "true", the
 * same on all members, each part begins on a page of its own. The memory is zeroed. Others' parts are
 * found with oriel_win_shared_query. Loads, stores and operations may be mixed as at the target itself;
 * they are ordered by the calls that open and close epochs. All parts stay mapped until oriel_win_free,
 * also those of members that have died.
 *
 * Errors: those of oriel_win_allocate; ORIEL_ERR_SHARED: two members cannot share memory, with their
 * ranks; told on all.
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
 * oriel_win_create_dynamic - a window whose memory comes and goes
 *
 * Collective over group. The window begins without memory; each member attaches some with
 * oriel_win_attach, at any time, and others reach it by its address: the displacement of an operation is
 * the address at the target, the unit 1. How ranks learn of addresses is their own affair.
 *
 * Errors: those of oriel_win_create.
 * Source: MPI-4.1 13.2.4; DW1, DW2
 * Example:
 *   if (oriel_win_create_dynamic(NULL, world, &win) || oriel_win_attach(win, out, 4000))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_create_dynamic(const struct oriel_hint hints[], oriel_group *group, oriel_win **win);

/**
 * oriel_win_attach - open memory to the members of a dynamic window
 *
 * Any memory will do, as for oriel_win_create. When it returns others can reach [base, base + size_bytes);
 * they must not try before. Regions of one window must not overlap, but may touch: an operation may
 * reach across the seam. The same memory may be attached to several windows. size_bytes 0 is legal with
 * any base, and opens nothing. Local; sends nothing. The memory must stay mapped until oriel_win_detach
 * or oriel_win_free has returned.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG; ORIEL_ERR_KIND: the window is no dynamic one;
 * ORIEL_ERR_ATTACH: some of it is attached to this window already; ORIEL_ERR_LIMIT: 65536 regions are;
 * ORIEL_ERR_MEMORY: registration failed, with need, limit and remedy.
 * Source: MPI-4.1 13.2.4; DW1-DW4, DW6-DW8
 */
int oriel_win_attach(oriel_win *win, void *base, size_t size_bytes);

/**
 * oriel_win_detach - close attached memory again
 *
 * base is that of an attached region. On return no peer can reach the memory any more, and it may be
 * unmapped; a later operation there is ORIEL_ERR_RANGE at its origin. Waits until every rank that has
 * operated on this rank's regions has heard of it, which the service thread of a rank does that
 * computes: up to some milliseconds, and no longer than the death of such a rank. Regions that are left
 * are detached by oriel_win_free.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_KIND; ORIEL_ERR_ATTACH: no attached region begins at base;
 * ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY: the region is not reached by new operations, but the memory must
 * stay; the call can be repeated.
 * Source: MPI-4.1 13.2.4; DW4-DW6, DW8
 */
int oriel_win_detach(oriel_win *win, const void *base);

/**
 * oriel_win_shared_query - where a member's memory lies in the caller's own
 *
 * *base, *size_bytes and *disp_unit_bytes become address, size and displacement unit of the memory of
 * rank, for loads and stores; of the caller itself exactly as oriel_win_query tells them. With
 * ORIEL_RANK_NONE: of the lowest rank with a size above 0. On windows of other kinds the caller's own
 * memory can be asked for always, another rank's where it can be mapped (that of oriel_win_allocate or
 * oriel_alloc, of a rank that this one shares memory with); the first question to a rank may wait for
 * the connection and the window's description. What cannot be mapped has size 0 and base NULL, and is
 * no error. The answer for a rank does not change while the window lives. Inside lock_all the call
 * takes the lock of a member that can be mapped.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: a null pointer; ORIEL_ERR_RANK; and, on windows that are not
 * shared and inside lock_all, ORIEL_ERR_PEER, ORIEL_ERR_TIMEOUT, ORIEL_ERR_MEMORY.
 * Source: MPI-4.1 13.2.3; SW3, SW4, SW6, L7
 */
int oriel_win_shared_query(oriel_win *win, int rank, void **base, size_t *size_bytes, size_t *disp_unit_bytes);

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
 * oriel_win_query - base, size, displacement unit, group, kind and hints of a window
 *
 * Fills *info for the local part of the window. Of every known hint it tells the value in force, given
 * or not.
 *
 * Errors: ORIEL_ERR_HANDLE, ORIEL_ERR_ARG.
 * Source: MPI-4.1 13.2.6, 13.2.7; I2, MM1
 */
int oriel_win_query(const oriel_win *win, struct oriel_win_info *info);

/**
 * oriel_win_set_hints - change hints of a window that lives
 *
 * Collective over the window's group; each member may give another list, or NULL. accumulate_ordering
 * and accumulate_ops are changed; the other known hints belong to the creation, and are ignored like
 * those that are not known. Operations issued before keep what was in force.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: a member gave a known hint a value that cannot be used; told
 * on all, and nothing has changed; ORIEL_ERR_PEER; ORIEL_ERR_TIMEOUT: the call is lost, since others
 * may have passed it.
 * Threads: one thread at a time per window.
 * Source: MPI-4.1 13.2.7; I1, I2
 */
int oriel_win_set_hints(oriel_win *win, const struct oriel_hint hints[]);

/**
 * oriel_win_set_name - name a window in messages
 *
 * Messages then say "window 3 (field)" instead of "window 3". name has at most 63 printable ASCII
 * characters, and is copied; "" or NULL takes the name away. Local: other members may have another
 * name, or none. The hint name of oriel_win_create does the same from the start.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: the name is longer, or has other characters.
 * Threads: no other thread may be inside a call on the window.
 * Source: MPI-4.1 7.8; E1
 * Example:
 *   rc = oriel_win_set_name(win, "field");
 */
int oriel_win_set_name(oriel_win *win, const char *name);

/**
 * oriel_win_set_user - keep a pointer of the program's with a window
 *
 * For layers above that have an object of their own for each window. The library does not look at it.
 * Local.
 *
 * Errors: ORIEL_ERR_HANDLE.
 * Source: I3
 */
int oriel_win_set_user(oriel_win *win, void *user);

/**
 * oriel_win_user - the pointer that oriel_win_set_user has kept
 *
 * Returns: the pointer; NULL before the first oriel_win_set_user, and for a handle that is no window's.
 * Source: I3
 */
void *oriel_win_user(const oriel_win *win);

/**
 * oriel_mem_register - register origin memory beforehand
 *
 * Operations whose origin buffer lies in [base, base + size_bytes) need no copy and no registration
 * of their own. Never necessary for correctness, and seldom for speed: where the system lets it, the library
 * keeps the registrations that operations have made (oriel_windows(7)). The memory must stay mapped until
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
 * oriel_alloc - memory that is good for windows and as origin
 *
 * size_bytes bytes, zeroed and aligned to a page. It lies in a memory file, so that ranks which share
 * memory with this one map a window that is made of it by oriel_win_create, as they do with one of
 * oriel_win_allocate; and it is registered, so that operations use it as origin without a copy, and a target
 * that waits can map it and copy a part of what is large itself. It costs no page before it is touched, as with
 * oriel_win_allocate. Released with oriel_free. Local.
 *
 * Returns: the memory, or NULL: oriel_last_error tells why (a wrong job, size 0, no memory).
 * Source: MPI-4.1 10.1 (MPI_Alloc_mem); W4, W11, D7
 */
void *oriel_alloc(oriel_job *job, size_t size_bytes);

/**
 * oriel_free - release memory of oriel_alloc
 *
 * memory is what oriel_alloc returned, or NULL, which does nothing. No window may be made of it any
 * more, and no operation that uses it may be outstanding. What is left at oriel_finalize makes that
 * ORIEL_ERR_SYNC, like registered memory. Local.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: memory is not of oriel_alloc.
 * Source: MPI-4.1 10.1 (MPI_Free_mem)
 */
int oriel_free(oriel_job *job, void *memory);

/**
 * oriel_put - copy origin memory into a target's window
 *
 * Copies size_bytes bytes from origin to displacement target_disp, counted in the target's
 * displacement unit from the target's base, in the window of rank target_rank of the window's
 * group. Needs an access epoch that names the target. A size of
 * 0 checks epoch and rank and does nothing else. May be larger than the device's largest message.
 *
 * Completion: nonblocking. The origin buffer must not change before the call that completes the
 * epoch, or a flush; afterwards the memory may be unmapped, discarded or mapped anew (oriel_windows(7) has
 * what that costs). The first operation to a peer may wait for the connection and the window's
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
 * oriel_accumulate - combine origin elements into a target's window
 *
 * For each of count elements of the type: target = target op origin. They lie one behind the other
 * at origin, and at displacement target_disp of the window of rank target_rank. Needs an access epoch
 * that names the target. count 0 checks epoch and rank and does nothing else.
 *
 * Each element is changed atomically (A9): concurrent operations of the family (accumulate,
 * get_accumulate, fetch_and_op, compare_and_swap and the vector forms) of the same type on it, from
 * any ranks and whatever the operations, have the outcome of some order; two elements of one call may
 * be seen apart. Nothing is atomic with put, get, loads and stores, except that a load of an aligned
 * element of at most 8 bytes sees it before or after an update. Elements need no alignment. Those
 * of at most 8 bytes without padding, and ORIEL_DOUBLE_COMPLEX, are cheapest where they are aligned to their
 * size. Where memory is mapped these are changed page by page in plain code, a vector of them about as
 * fast as it is copied: a process that is stopped (SIGSTOP, a debugger) in the middle of a page keeps others
 * from the elements there until it goes on, or has ended. Up to seven integers of 8 bytes are changed by atomic
 * instructions, which are fastest where many draw from one counter, and which nobody who is stopped keeps others
 * from. A vector of 8 or more that changes such integers makes an end of that, in all pages (4 KiB) of the target
 * whose addresses are the same as those of its own modulo 128 KiB, until the target makes a window of memory that
 * peers cannot map.
 *
 * Windows of one rank that overlap in memory count as one, if mpi_accumulate_granularity is the same
 * (A13), with two exceptions: windows that two ranks have made on the same memory, as over another's
 * part of a shared one; and integers of 8 bytes that are in a dynamic or shared window and also in one
 * of another kind, where a card is atomic with itself only (IBV_ATOMIC_HCA). Update such elements
 * through one of the windows only, or with a barrier between; against the second, ORIEL_ATOMICS=cpu.
 *
 * Completion: as oriel_put. Operations of the family from this rank to bytes of a target that overlap
 * take effect in the order of the calls on one window, whatever their types (A15), unless the hint
 * accumulate_ordering gives that up: one that goes another way than those before it waits for them.
 *
 * Errors: those of oriel_put, but after ORIEL_ERR_TIMEOUT in a fence epoch some elements may have been
 * combined, where the target is to do it and does not get on; ORIEL_ERR_OP: the type does not have the
 * operation, or it is ORIEL_NO_OP.
 * Source: MPI-4.1 13.3.4, 13.7; A1-A17
 * Example:
 *   static const double forces[3] = { 0.5, 1.25, -2.0 };
 *
 *   if (oriel_win_fence(win, 0) || oriel_accumulate(win, forces, 3, ORIEL_DOUBLE, ORIEL_SUM, right, 0) ||
 *       oriel_win_fence(win, 0))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_accumulate(oriel_win *win, const void *origin, size_t count, enum oriel_type type, enum oriel_op op,
                     int target_rank, size_t target_disp);

/**
 * oriel_get_accumulate - the same, and give the target's elements from before
 *
 * result becomes what each element of the target was immediately before. With ORIEL_NO_OP it is an
 * atomic read, and origin may be NULL; with ORIEL_REPLACE an exchange. result must not overlap
 * origin, and is valid after the call that completes the epoch, or a flush.
 *
 * Errors: those of oriel_accumulate; ORIEL_ERR_ARG: result is NULL or overlaps origin.
 * Source: MPI-4.1 13.3.4; A1-A17
 */
int oriel_get_accumulate(oriel_win *win, const void *origin, void *result, size_t count, enum oriel_type type,
                         enum oriel_op op, int target_rank, size_t target_disp);

/**
 * oriel_fetch_and_op - oriel_get_accumulate of one element, whose operand is read at once
 *
 * *origin may change when the call has returned; *result is valid after the call that completes the
 * epoch, or a flush.
 *
 * Errors: those of oriel_get_accumulate.
 * Source: MPI-4.1 13.3.4; A1-A17
 * Example:
 *   static const int64_t one = 1;
 *   int64_t ticket;
 *
 *   if (oriel_fetch_and_op(win, &one, &ticket, ORIEL_INT64, ORIEL_SUM, right, 0) || oriel_win_flush(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_fetch_and_op(oriel_win *win, const void *origin, void *result, enum oriel_type type, enum oriel_op op,
                       int target_rank, size_t target_disp);

/**
 * oriel_compare_and_swap - replace an element if it has a certain value
 *
 * *result becomes what the target's element was; if its bytes were those of *compare, it is now
 * *origin. For integers and ORIEL_BOOL. *origin and *compare may change when the call has returned;
 * *result is valid after the call that completes the epoch, or a flush, and must overlap neither.
 *
 * Errors: those of oriel_get_accumulate; ORIEL_ERR_OP: elements of the type cannot be compared.
 * Source: MPI-4.1 13.3.4; A1-A17
 * Example:
 *   static const int32_t nobody = -1;
 *   int32_t before;
 *
 *   if (oriel_compare_and_swap(win, &rank, &nobody, &before, ORIEL_INT32, right, 0) || oriel_win_flush(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_compare_and_swap(oriel_win *win, const void *origin, const void *compare, void *result, enum oriel_type type,
                           int target_rank, size_t target_disp);

/**
 * oriel_accumulatev - accumulate a list of pieces
 *
 * As oriel_putv, with elements: the size of each piece is a multiple of that of the type.
 *
 * Errors: those of oriel_accumulate and oriel_putv; ORIEL_ERR_ARG also for a piece that does not hold
 * whole elements.
 * Source: MPI-4.1 13.3.4 (derived datatypes); A1-A17
 */
int oriel_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count, enum oriel_type type,
                      enum oriel_op op, int target_rank, const struct oriel_target_piece target[], int target_count);

/**
 * oriel_get_accumulatev - get_accumulate a list of pieces
 *
 * The pieces of result, one after the other, become what the target's elements were; all three lists
 * hold the same number of bytes. With ORIEL_NO_OP the origin list is not looked at: it may be NULL, of
 * 0 pieces.
 *
 * Errors: those of oriel_get_accumulate and oriel_accumulatev; overlaps are not looked for.
 * Source: MPI-4.1 13.3.4 (derived datatypes); A1-A17
 */
int oriel_get_accumulatev(oriel_win *win, const struct oriel_origin_piece origin[], int origin_count,
                          const struct oriel_origin_piece result[], int result_count, enum oriel_type type,
                          enum oriel_op op, int target_rank, const struct oriel_target_piece target[],
                          int target_count);

/**
 * oriel_type_bytes - the size of an element
 *
 * Returns: the size of the C type, or 0 for a number that is no type, and for the types of 128-bit
 * numbers where the library's compiler has none.
 * Source: A3
 */
size_t oriel_type_bytes(enum oriel_type type);

/**
 * oriel_op_legal - whether an operation is defined for a type
 *
 * Integers have sum, prod, min, max and the logical and bitwise operations; bool the logical ones;
 * floating numbers sum, prod, min, max; complex ones sum and prod; pairs minloc and maxloc. Replace
 * and no_op are for all types; accumulate does not take no_op.
 *
 * Returns: 1 or 0.
 * Source: MPI-4.1 6.9.2; A4
 */
int oriel_op_legal(enum oriel_op op, enum oriel_type type);

/**
 * oriel_win_flush - complete the operations issued so far, at origin and target
 *
 * Legal inside any access epoch; target_rank is a target of the epoch or ORIEL_RANK_ALL. On return
 * the operations this rank issued to the target are complete at both sides; the epoch stays open.
 * In an epoch opened by start it waits for the target's post. With nothing outstanding it sends
 * nothing.
 *
 * An operation that has failed after its own call had returned, since its target refuses it or the
 * region that it is for has been detached, has changed nothing. It is told once, by the next call that
 * completes operations on the window: a flush, the end of an epoch, oriel_request_wait, oriel_win_free,
 * whose own work is done all the same.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_RANK; ORIEL_ERR_SYNC; ORIEL_ERR_PEER: a target died or has
 * left the window; ORIEL_ERR_TIMEOUT: can be repeated; ORIEL_ERR_RANGE, ORIEL_ERR_ACCESS: an operation
 * has failed since.
 * Source: MPI-4.1 13.5.4, extended to every access epoch; P4, A23
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
 * oriel_win_iflush - a flush that does not wait: make a request
 *
 * *request stands for what this rank has issued to target_rank on this window up to now: it is
 * complete when that is complete at origin and target. Legal inside any access epoch; target_rank is a
 * target of the epoch or, inside lock_all, ORIEL_RANK_ALL, which may wait for some operations that are
 * issued later, too.
 *
 * A request holds nothing of the library's: it can be copied, dropped, waited for twice, and by any
 * thread. The epoch may be closed meanwhile, which completes it; oriel_win_complete and oriel_win_fence
 * complete only the origin's side, and the target's follows without a call of the target's. What it covers
 * leaves at once, as far as the target's lock is held or its post is here.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: request is NULL; ORIEL_ERR_RANK; ORIEL_ERR_SYNC: no access
 * epoch is open or it does not name the target; ORIEL_RANK_ALL without lock_all; ORIEL_ERR_PEER: an
 * earlier operation failed (P5); ORIEL_ERR_MEMORY: only with ORIEL_RANK_ALL, or in a fence epoch.
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
 * oriel_win_iflush_local - the same, for the origin's side only
 *
 * The request says nothing about the target: once it is complete, put buffers may be reused, and got
 * and fetched data is there. An operation followed by this call is MPI's Rput, Rget, Raccumulate or
 * Rget_accumulate.
 *
 * Errors: those of oriel_win_iflush.
 * Source: MPI-4.1 13.3.5, extended to every access epoch; P4, R1-R6
 * Example:
 *   oriel_request request;
 *
 *   if (oriel_get(win, &where, sizeof(where), right, 0) || oriel_win_iflush_local(win, right, &request))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 *   compute();
 *   if (oriel_request_wait(&request) || oriel_put(win, &value, sizeof(value), right, where))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_iflush_local(oriel_win *win, int target_rank, oriel_request *request);

/**
 * oriel_request_wait - wait until a request is complete
 *
 * Needs no epoch. A request that is complete already returns at once; it stays complete. In an epoch opened
 * by start it waits for the target's post.
 *
 * Errors: ORIEL_ERR_ARG: request is NULL; ORIEL_ERR_HANDLE: its window has been freed; ORIEL_ERR_PEER: a
 * target died or has left the window before the request was complete: it is over, and memory that its
 * operations used is the program's again, its contents undefined. With ORIEL_RANK_ALL that is told
 * once the other targets' operations are complete, or half a second later. ORIEL_ERR_TIMEOUT,
 * ORIEL_ERR_MEMORY, ORIEL_ERR_RANGE (a dynamic window's memory was detached before an operation that waited for
 * the lock or the post could go there): can be repeated.
 * Threads: a request is waited for or tested by one thread at a time; different ones by any, in any order.
 * Source: MPI-4.1 13.3.5; R3-R7
 */
int oriel_request_wait(oriel_request *request);

/**
 * oriel_request_test - whether a request is complete
 *
 * *flag becomes 1 if it is, otherwise 0. Called again and again it becomes true without any other
 * call.
 *
 * Errors: those of oriel_request_wait but ORIEL_ERR_TIMEOUT; ORIEL_ERR_ARG: null flag. With
 * ORIEL_ERR_PEER *flag is 1: the request is over. With ORIEL_RANK_ALL that is told once the other targets'
 * operations are complete.
 * Threads: as oriel_request_wait.
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
 * complete at the origin on return, and at their target before its fence returns; operations issued
 * afterwards reach a target only when that target has called the fence too. Assertions:
 * ORIEL_MODE_NOSTORE, ORIEL_MODE_NOPUT, ORIEL_MODE_NOPRECEDE, ORIEL_MODE_NOSUCCEED; the last two are
 * given by all members or none.
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

/* How a lock is held: beside other shared ones, or alone. */
enum oriel_lock_type { ORIEL_LOCK_SHARED = 1, ORIEL_LOCK_EXCLUSIVE = 2 };

/**
 * oriel_win_lock - lock the window of one member, and open an access epoch to it
 *
 * Returns when the lock is held. While it is held exclusively no other rank holds a lock on that
 * member's window; shared locks are held together. The target calls nothing for it. Several members
 * may be locked at once, in any order and either way; a rank may lock itself, which protects its
 * loads and stores of its window memory too. Locks of different windows have nothing to do with each
 * other, even where they share memory.
 *
 * Exclusive locks are granted in the order in which they were asked for; a shared one waits for the
 * one exclusive holder that is in when it is asked for, an exclusive one for the shared holders
 * present and the requests before it; where it waits for holders while a rank that has other locks of
 * the window waits behind it, that rank goes first. A rank that waits for one lock while it holds
 * another exclusively can deadlock with others that do the same, as with mutexes.
 *
 * assertions: 0, or ORIEL_MODE_NOCHECK, by which the caller promises that nobody holds or will ask
 * for a lock that excludes this one: nothing is sent for it.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: type or assertions; ORIEL_ERR_RANK; ORIEL_ERR_SYNC: the
 * member is locked already, or being locked by another thread; lock_all, an access epoch of start or
 * a fence epoch with operations is open; the window was made with the hint no_locks; ORIEL_ERR_PEER:
 * the target died or has left the window; ORIEL_ERR_DEVICE: exclusive, by a device without atomics;
 * ORIEL_ERR_TIMEOUT: the lock is not held; a repeated call goes on at its place in the queue, and
 * without one the place is given up by itself.
 * Threads: one thread opens and closes the epoch of a target; operations and flushes of all threads
 * may use it.
 * Source: MPI-4.1 13.5.3; L1-L6, L9-L12, L21-L25
 * Example:
 *   if (oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, right, 0) || oriel_put(win, &value, sizeof(value), right, 0) ||
 *       oriel_win_unlock(win, right))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_win_lock(oriel_win *win, enum oriel_lock_type type, int target_rank, int assertions);

/**
 * oriel_win_unlock - close the access epoch to one member, and give its lock back
 *
 * On return the operations of the epoch are complete at the origin and the target, and whoever is
 * granted the lock afterwards sees them.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_RANK; ORIEL_ERR_SYNC: the member is not locked by
 * oriel_win_lock; ORIEL_ERR_PEER: the target died or has left the window, the epoch is closed all the
 * same; ORIEL_ERR_TIMEOUT: the epoch is still open and the call can be repeated.
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.3; L4, L8, L20
 */
int oriel_win_unlock(oriel_win *win, int target_rank);

/**
 * oriel_win_lock_all - open an access epoch to all members, with a shared lock on each
 *
 * Not collective. The lock of a member is taken with the first operation or oriel_win_shared_query to
 * it, that of the caller itself at once: the call sends nothing, and its cost does not grow with the
 * group. In a shared window (oriel_win_allocate_shared), whose parts are loaded and stored without
 * operations, those of all members are taken at once. Since locks are taken one by one, ranks that
 * hold an exclusive lock and ask for another one can deadlock with it, as with mutexes; ranks that ask
 * for one lock at a time do not. Assertions as for oriel_win_lock.
 *
 * Errors: those of oriel_win_lock but ORIEL_ERR_RANK; ORIEL_ERR_SYNC also: a member is locked.
 * Threads: one thread opens and closes the epoch; operations and flushes of all threads may use it.
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
 * On return the operations of the epoch are complete at the origin and all targets.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_SYNC: no lock_all is open; ORIEL_ERR_PEER: a target died or has
 * left the window, the epoch is closed all the same; ORIEL_ERR_TIMEOUT: it is still open and the call
 * can be repeated.
 * Threads: one thread closes an epoch.
 * Source: MPI-4.1 13.5.3; L4, L7, L8
 */
int oriel_win_unlock_all(oriel_win *win);

/**
 * oriel_win_lock_orphaned - whether a rank died holding the lock that is now held
 *
 * When a holder dies its lock is released, within seconds, and others are granted it; what the dead
 * rank was writing is undefined. Each grant says so by this call until one holder of an exclusive lock
 * has unlocked. Under lock_all it tells of members that operations have been issued to. With
 * ORIEL_MODE_NOCHECK nothing is known.
 *
 * Returns: 1 or 0, or a negative error.
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_RANK; ORIEL_ERR_SYNC: the member is not locked.
 * Source: L21, L22
 * Example:
 *   if (oriel_win_lock(win, ORIEL_LOCK_EXCLUSIVE, right, 0) == 0 && oriel_win_lock_orphaned(win, right) == 1)
 *   	compute();
 */
int oriel_win_lock_orphaned(oriel_win *win, int target_rank);

/**
 * oriel_win_sync - order the caller's loads and stores of window memory with everybody else's
 *
 * A full memory barrier between what the calling thread has loaded and stored before and after, as
 * other threads, processes and the device see it. Legal at any time; waits for nobody. A rank that
 * loops over it and a load of its own window sees what others put there.
 *
 * Errors: ORIEL_ERR_HANDLE.
 * Source: MPI-4.1 13.5.4, 13.7; L16, L17
 * Example:
 *   while (*(volatile char *)out == 0)
 *   	oriel_win_sync(win);
 */
int oriel_win_sync(oriel_win *win);

/* How oriel_signal changes a signal. */
enum oriel_signal_op {
	ORIEL_SIGNAL_SET = 1, /* what has been ADDed stays beside it */
	ORIEL_SIGNAL_ADD = 2
};

/**
 * oriel_signal - tell a target that what was issued to it has arrived
 *
 * Changes a signal of the target, a number of 64 bits that starts at 0: ORIEL_SIGNAL_SET writes
 * value, ORIEL_SIGNAL_ADD adds it. A signal's value is that of the last SET plus all ADDs. The target
 * has as many signals in the window as its hint `signals` says; they are no window memory.
 *
 * Takes effect once everything this rank issued to that target on this window before is complete
 * there: puts are placed and visible to who sees the signal, gets have been read, accumulates are
 * applied (for those that the target applies the call may have to wait). Put followed by
 * signal leaves as one post. Needs an access epoch that names the target. ADDs are never lost,
 * whoever else adds; SETs of one origin arrive in order, and a later one may hide an earlier one; of
 * two origins that SET one signal at once, either may win. An ADD of 0 is none.
 *
 * An ADD through a card that has no atomics, or is not to use them (ORIEL_ATOMICS is cpu), is carried
 * out by the target: by a thread of it that waits or tests in Oriel, else by its service thread. A SET
 * never is, but one behind such an ADD may wait for it, as behind accumulates.
 *
 * Completion: nonblocking, as oriel_put; flush and the end of the epoch complete it at the target.
 * Errors: those of oriel_put but ORIEL_ERR_ACCESS; ORIEL_ERR_ARG: op; ORIEL_ERR_RANGE: the target has
 * no such signal, nothing is sent.
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
 * Waits until one of the signals first to first + count - 1 has been changed since it was last
 * taken, also to the value that it had, and takes it: *signal becomes its number, *value its value.
 * What its origin had issued before is visible to the caller's loads afterwards. Needs no epoch.
 * Where several have changed they are taken in turn. Nothing is to be reset.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: null signal or value, count 0; ORIEL_ERR_RANGE: this rank
 * has no such signals; ORIEL_ERR_PEER: no signal, and a member of the window has died since the last
 * call that told so (it is not known for whom the caller waits: it may wait again);
 * ORIEL_ERR_TIMEOUT: can be repeated.
 * Threads: several may wait; a change is taken by one of them.
 * Source: N3, N6, N7; E6
 * Example:
 *   if (oriel_signal_wait(win, 0, 2, &which, &step))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal_wait(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value);

/**
 * oriel_signal_test - take a signal of this rank if that needs no waiting
 *
 * *flag becomes 1 if one has changed, as oriel_signal_wait says, and it is taken; otherwise 0, and
 * nothing is. Called again and again it becomes true without any other call.
 *
 * Errors: those of oriel_signal_wait but ORIEL_ERR_TIMEOUT; ORIEL_ERR_ARG: null flag.
 * Threads: as oriel_signal_wait.
 * Source: N3, N7
 */
int oriel_signal_test(oriel_win *win, uint32_t first, uint32_t count, uint32_t *signal, uint64_t *value, int *flag);

/**
 * oriel_signal_until - wait until a signal of this rank has reached a value
 *
 * Waits until the signal's value is value or has gone past it: the difference modulo 2^64 is not
 * negative as a signed number. For counting the ADDs of many origins. Takes nothing: a later
 * oriel_signal_wait still finds the change. Otherwise as oriel_signal_wait.
 *
 * Errors: those of oriel_signal_wait.
 * Source: N4, N7; E6
 * Example:
 *   if (oriel_signal_until(win, 3, total))
 *   	fprintf(stderr, "%s\n", oriel_last_error());
 */
int oriel_signal_until(oriel_win *win, uint32_t signal, uint64_t value);

/**
 * oriel_signal_read - the present value of a signal of this rank
 *
 * Takes nothing and waits for nobody. What the origins of that value had issued before is visible to
 * the caller's loads afterwards. Never a mixture of two values.
 *
 * Errors: ORIEL_ERR_HANDLE; ORIEL_ERR_ARG: null value; ORIEL_ERR_RANGE: this rank has no such signal.
 * Source: N4, N6
 */
int oriel_signal_read(const oriel_win *win, uint32_t signal, uint64_t *value);

/**
 * oriel_strerror - what an error code means, as text
 *
 * Returns: a constant text, for unknown codes too: the name of the constant, a colon, and what it
 * means. Never NULL.
 */
const char *oriel_strerror(int error);

/**
 * oriel_last_error - what went wrong in this thread's last failed call
 *
 * Returns: a text that names the call, rank, window, value and limit; "" if no call of this thread
 * has failed. It begins with the caller's rank, "[rank 3] ", or before that is known with the
 * process, "[pid 4711] ", and ends with the constant, " (ORIEL_ERR_SYNC)". It is the thread's own
 * and is overwritten by its next failing call.
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
