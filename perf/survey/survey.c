// SPDX-License-Identifier: BSD-2-Clause
/*
 * survey - what a one-sided call and its flush take, for many kinds of calls
 *
 * usage: survey WORDS MILLISECONDS <CELLS, with two ranks
 *   WORDS         a file of 4096 bytes that both ranks can map
 *   MILLISECONDS  how long each cell is measured
 *   CELLS         a line each: call, shape, window, bytes, target
 *
 * Prints for each cell its line, and the median of its times in microseconds, or "waits". Rank 0 is
 * the origin, in an epoch of MPI_Win_lock_all. What the target does meanwhile: "call", it waits in
 * MPI_Barrier; "polling", it calls MPI_Iprobe; "computing", it calls nothing; "putting", it is an
 * origin, too. A cell waits if its first operation does not end before the target stops computing.
 *
 * The calls "readv" and "writev" are process_vm_readv and process_vm_writev of the same pieces;
 * "ping" wakes a thread of the target, which sleeps in read(2) of an eventfd, and waits for its
 * answer; "put_fence" is a put of both ranks, and MPI_Win_fence. The origin writes the data of the
 * shape "written" before each call.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "bench/stats.h"
#include "survey/shapes.h"

enum {
	ORIGIN = 0,
	TARGET = 1,
	MOST_BYTES = 1 << 20,
	WINDOW_BYTES = SHAPE_SPAN * MOST_BYTES + 128,
	COMPUTING_MS = 40, /* how long a target that calls nothing waits for the origin */
	FIRST = 3,         /* operations before those that are timed */
	MOST_TIMES = 20000,
	FENCES = 500, /* of a cell, since both ranks call as many */
	LINE = 128,
	WORD = 20,
};

enum window_kind { ALLOCATED, CREATED, DYNAMIC, WINDOWS };
static const char *const window_names[WINDOWS] = { "allocated", "created", "dynamic" };

struct window {
	MPI_Win win;
	char *memory;
	MPI_Aint target; /* displacement of the target's memory */
};

/*
 * Mapped by both ranks, since MPI must not be called meanwhile. The origin writes ended, the target
 * the others.
 */
struct words {
	_Atomic int ended; /* number of the cell that the origin has measured */
	_Atomic int late;  /* number of the cell for which the target has stopped computing */
	_Atomic int pid;
	_Atomic int event;    /* the eventfd of the target's thread that sleeps */
	_Atomic int answered; /* pings */
	char *_Atomic memory; /* of the created window */
};

struct cell {
	char call[WORD], shape[WORD], window[WORD], target[WORD];
	int bytes, number;
};

/* What an operation uses. */
struct operation {
	const struct cell *cell;
	struct shape shape;
	struct window *window;
	void *local, *result;
	struct iovec *here, *there;
	int pieces;
	pid_t pid;
	int event; /* the eventfd, as the origin has it; -1: none */
};

static struct words *words;
static struct window windows[WINDOWS];
static double *local, *result;
static struct iovec *here, *there;
static double *times;
static int rank;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void stop(const char *why)
{
	fprintf(stderr, "survey: %s\n", why);
	MPI_Abort(MPI_COMM_WORLD, 2);
}

/* ---- windows ---- */

static void open_window(enum window_kind kind, struct window *window)
{
	MPI_Aint mine = 0;

	if (kind == ALLOCATED) {
		MPI_Win_allocate(WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window->memory, &window->win);
	} else {
		window->memory = malloc(WINDOW_BYTES);
		if (kind == CREATED) {
			MPI_Win_create(window->memory, WINDOW_BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window->win);
		} else {
			MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window->win);
			MPI_Win_attach(window->win, window->memory, WINDOW_BYTES);
			MPI_Get_address(window->memory, &mine);
		}
	}
	memset(window->memory, 0, WINDOW_BYTES);
	window->target = mine;
	MPI_Bcast(&window->target, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
	MPI_Win_lock_all(0, window->win);
}

static void close_window(enum window_kind kind, struct window *window)
{
	MPI_Win_unlock_all(window->win);
	MPI_Barrier(MPI_COMM_WORLD);
	if (kind == DYNAMIC)
		MPI_Win_detach(window->win, window->memory);
	MPI_Win_free(&window->win);
	if (kind != ALLOCATED)
		free(window->memory);
}

/* ---- operations ---- */

static bool is(const struct operation *op, const char *call)
{
	return strcmp(op->cell->call, call) == 0;
}

static MPI_Request request_of(const struct operation *op)
{
	int n = op->shape.count;
	MPI_Datatype type = op->shape.type;
	MPI_Win win = op->window->win;
	MPI_Aint at = op->window->target + op->shape.skew;
	MPI_Request request = MPI_REQUEST_NULL;

	if (is(op, "rput"))
		MPI_Rput(op->local, n, type, TARGET, at, n, type, win, &request);
	else if (is(op, "rget"))
		MPI_Rget(op->local, n, type, TARGET, at, n, type, win, &request);
	else if (is(op, "raccumulate"))
		MPI_Raccumulate(op->local, n, type, TARGET, at, n, type, op->shape.op, win, &request);
	else
		MPI_Rget_accumulate(op->local, n, type, op->result, n, type, TARGET, at, n, type, op->shape.op, win, &request);
	return request;
}

static void begin_operation(const struct operation *op)
{
	long compared = 0; /* Open MPI 4.1 may write to it */
	int n = op->shape.count;
	MPI_Datatype type = op->shape.type;
	MPI_Win win = op->window->win;
	MPI_Aint at = op->window->target + op->shape.skew;
	MPI_Request request;

	if (is(op, "put")) {
		MPI_Put(op->local, n, type, TARGET, at, n, type, win);
	} else if (is(op, "get")) {
		MPI_Get(op->local, n, type, TARGET, at, n, type, win);
	} else if (is(op, "accumulate")) {
		MPI_Accumulate(op->local, n, type, TARGET, at, n, type, op->shape.op, win);
	} else if (is(op, "get_accumulate")) {
		MPI_Get_accumulate(op->local, n, type, op->result, n, type, TARGET, at, n, type, op->shape.op, win);
	} else if (is(op, "fetch_and_op")) {
		MPI_Fetch_and_op(op->local, op->result, MPI_LONG, TARGET, at, MPI_SUM, win);
	} else if (is(op, "compare_and_swap")) {
		MPI_Compare_and_swap(op->local, &compared, op->result, MPI_LONG, TARGET, at, win);
	} else {
		request = request_of(op);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* Returns the index of the first piece behind one call's. */
static int vm_pieces(const struct operation *op, int from)
{
	int most = (int)sysconf(_SC_IOV_MAX), left = op->pieces - from, count = left < most ? left : most;
	ssize_t moved = is(op, "readv") ? process_vm_readv(op->pid, op->here + from, (unsigned long)count, op->there + from,
	                                                   (unsigned long)count, 0)
	                                : process_vm_writev(op->pid, op->here + from, (unsigned long)count,
	                                                    op->there + from, (unsigned long)count, 0);

	if (moved < 0)
		stop("process_vm_readv or process_vm_writev is not allowed");
	return from + count;
}

static bool is_vm(const struct operation *op)
{
	return is(op, "readv") || is(op, "writev");
}

static void ping(const struct operation *op)
{
	int answered = atomic_load(&words->answered);

	if (eventfd_write(op->event, 1) != 0)
		stop("the eventfd of the target cannot be written");
	while (atomic_load(&words->answered) == answered)
		continue;
}

static void put_and_fence(const struct operation *op)
{
	int n = op->shape.count, peer = ORIGIN + TARGET - rank;

	MPI_Put(op->local, n, op->shape.type, peer, op->window->target, n, op->shape.type, op->window->win);
	MPI_Win_fence(0, op->window->win);
}

static void operate(const struct operation *op)
{
	if (is_vm(op)) {
		for (int at = 0; at < op->pieces;)
			at = vm_pieces(op, at);
	} else if (is(op, "ping")) {
		ping(op);
	} else if (is(op, "put_fence")) {
		put_and_fence(op);
	} else {
		begin_operation(op);
		MPI_Win_flush(TARGET, op->window->win);
	}
}

/* Returns how long an operation takes, in us. */
static double time_one(const struct operation *op)
{
	double begun;

	if (strcmp(op->cell->shape, "written") == 0)
		memset(op->local, 0, (size_t)op->cell->bytes);
	begun = now_us();
	operate(op);
	return now_us() - begun;
}

/* ---- a cell ---- */

/*
 * Returns the median time of an operation in us; negative: the first one waited for the target's
 * next call.
 */
static double time_operation(const struct operation *op, double milliseconds)
{
	struct stats stats;
	double end;
	int count = 0;

	operate(op);
	if (atomic_load(&words->late) == op->cell->number)
		return -1;
	for (int i = 1; i < FIRST; i++)
		operate(op);
	end = now_us() + milliseconds * 1e3;
	while (count < MOST_TIMES && (count == 0 || now_us() < end))
		times[count++] = time_one(op);
	stats_compute(times, (size_t)count, &stats);
	return stats.typical;
}

static void print_time(const struct cell *cell, double us)
{
	printf("%s %s %s %d %s ", cell->call, cell->shape, cell->window, cell->bytes, cell->target);
	if (us < 0)
		puts("waits");
	else
		printf("%.3f\n", us);
}

/* Opens the eventfd of the target. */
static int open_event(pid_t pid)
{
	int process = (int)syscall(SYS_pidfd_open, pid, 0), fd;

	if (process < 0)
		stop("pidfd_open is not allowed");
	fd = (int)syscall(SYS_pidfd_getfd, process, atomic_load(&words->event), 0);
	if (fd < 0)
		stop("pidfd_getfd is not allowed");
	close(process);
	return fd;
}

static void be_origin(struct operation *op, double milliseconds)
{
	double us;

	if (is(op, "ping"))
		op->event = open_event(op->pid);
	us = time_operation(op, milliseconds);
	atomic_store(&words->ended, op->cell->number);
	print_time(op->cell, us);
	if (op->event >= 0)
		close(op->event);
}

/* Both ranks put and call MPI_Win_fence. */
static void be_both(const struct operation *op)
{
	MPI_Win win = op->window->win;
	struct stats stats;

	MPI_Win_unlock_all(win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < FENCES; i++)
		times[i] = time_one(op);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock_all(0, win);
	stats_compute(times, FENCES, &stats);
	if (rank == ORIGIN)
		print_time(op->cell, stats.typical);
}

static void be_target(const struct cell *cell)
{
	double end = now_us() + COMPUTING_MS * 1e3;
	int flag;

	while (strcmp(cell->target, "polling") == 0 && atomic_load(&words->ended) != cell->number)
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	while (strcmp(cell->target, "computing") == 0 && atomic_load(&words->ended) != cell->number) {
		if (now_us() > end) {
			atomic_store(&words->late, cell->number);
			return;
		}
	}
}

/* Answers pings until the origin has measured the cell. */
static void *answer_pings(void *context)
{
	const struct cell *cell = context;
	eventfd_t count;

	while (eventfd_read(atomic_load(&words->event), &count) == 0 && atomic_load(&words->ended) != cell->number)
		atomic_fetch_add(&words->answered, 1);
	return NULL;
}

static void be_pinged(struct cell *cell)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, answer_pings, cell) != 0)
		stop("no thread can be started");
	be_target(cell);
	while (atomic_load(&words->ended) != cell->number)
		sched_yield(); /* it is late */
	eventfd_write(atomic_load(&words->event), 1);
	pthread_join(thread, NULL);
	close(atomic_load(&words->event));
}

static void do_cell(struct operation *op, struct cell *cell, double milliseconds)
{
	if (is(op, "put_fence"))
		be_both(op);
	else if (rank == ORIGIN)
		be_origin(op, milliseconds);
	else if (is(op, "ping"))
		be_pinged(cell);
	else
		be_target(cell);
}

static void measure(struct cell *cell, double milliseconds)
{
	int doubles = cell->bytes / (int)sizeof(double);
	struct operation op = {
		.cell = cell,
		.shape = shape_make(cell->shape, cell->bytes),
		.local = local,
		.result = result,
		.here = here,
		.there = there,
		.pid = atomic_load(&words->pid),
		.event = -1,
	};

	for (int kind = 0; kind < WINDOWS; kind++) {
		if (strcmp(window_names[kind], cell->window) == 0)
			op.window = &windows[kind];
	}
	if (op.shape.count == 0 || !op.window || cell->bytes < (int)sizeof(double) || cell->bytes > MOST_BYTES)
		stop("a cell that is none");
	op.pieces = shape_pieces(cell->shape, doubles, local, here);
	shape_pieces(cell->shape, doubles, atomic_load(&words->memory), there);
	if (rank == TARGET && is(&op, "ping"))
		atomic_store(&words->event, eventfd(0, EFD_CLOEXEC));
	MPI_Barrier(MPI_COMM_WORLD);
	do_cell(&op, cell, milliseconds);
	MPI_Barrier(MPI_COMM_WORLD);
	shape_free(&op.shape);
}

/* Reads a cell on rank 0, for both ranks. Returns false behind the last one. */
static bool next_cell(struct cell *cell)
{
	static int number;
	char line[LINE];

	memset(cell, 0, sizeof(*cell));
	if (rank == ORIGIN && fgets(line, sizeof(line), stdin) &&
	    sscanf(line, "%19s %19s %19s %d %19s", cell->call, cell->shape, cell->window, &cell->bytes, cell->target) == 5)
		cell->number = ++number;
	MPI_Bcast(cell, sizeof(*cell), MPI_BYTE, ORIGIN, MPI_COMM_WORLD);
	return cell->number > 0;
}

static void map_words(const char *name)
{
	int fd = open(name, O_RDWR);

	if (fd < 0)
		stop("the file of words cannot be opened");
	words = mmap(NULL, sizeof(*words), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		stop("the file of words cannot be mapped");
	close(fd);
}

static void allocate(void)
{
	local = calloc(1, WINDOW_BYTES);
	result = calloc(1, WINDOW_BYTES);
	here = calloc(MOST_BYTES / sizeof(double), sizeof(*here));
	there = calloc(MOST_BYTES / sizeof(double), sizeof(*there));
	times = calloc(MOST_TIMES, sizeof(*times));
	if (!local || !result || !here || !there || !times)
		stop("no memory");
}

int main(int argc, char **argv)
{
	struct cell cell;
	int ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 3 || ranks != 2)
		stop("usage: survey WORDS MILLISECONDS <CELLS, with two ranks");
	map_words(argv[1]);
	allocate();
	for (int kind = 0; kind < WINDOWS; kind++)
		open_window(kind, &windows[kind]);
	if (rank == TARGET) {
		atomic_store(&words->pid, getpid());
		atomic_store(&words->memory, windows[CREATED].memory);
	}
	MPI_Barrier(MPI_COMM_WORLD); /* the first cell reads these words */
	while (next_cell(&cell))
		measure(&cell, strtod(argv[2], NULL));
	for (int kind = 0; kind < WINDOWS; kind++)
		close_window(kind, &windows[kind]);
	return MPI_Finalize();
}
