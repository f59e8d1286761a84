// SPDX-License-Identifier: BSD-2-Clause
/*
 * beside.c - MPI and Oriel in one process: joined and left in either order, used in turns
 *
 * usage: beside mpi|oriel mpi|oriel|exit [own]
 *        beside apart
 *
 * The first word says which of the two is initialised first, the second which is finalized first;
 * "exit" leaves both to handlers of atexit. With "own" Oriel's ranks find each other by
 * MPI_Allgather, and not by the launcher. "apart": Oriel has come and gone, and a child too, before
 * MPI comes. Each is used as soon as it is there, while the other is there too, and after the other
 * has gone: rings of messages by MPI, rings of puts by Oriel. Threads of the program use both at
 * once, and children are forked, one that ends with all handlers of exit and one that runs another
 * program. "<through>" is said by the handler that runs last, when nothing of either is left.
 */
#include <mpi.h>
#include <oriel.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define CELLS 1024 /* ints of a message or put: more than either sends inline */

static struct {
	bool mpi, oriel; /* is initialised, and not finalized */
	MPI_Comm comm;
	oriel_job *job;
	oriel_group *world;
	oriel_win *win;
	int *window; /* CELLS ints */
} now;

static pid_t program; /* this process, and not a child that inherits its handlers */
static bool by_mpi;   /* "own" */
static bool is_through;
static volatile sig_atomic_t children_ended;

/* Launchers end all ranks when the first fails, and lose what they have not yet read. */
static void fail(const char *format, ...)
{
	struct timespec until_read = { .tv_nsec = 300000000 };
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	dprintf(STDERR_FILENO, "not ok: %s\n", text);
	nanosleep(&until_read, NULL);
	_exit(1);
}

static void check(int rc, const char *call)
{
	if (rc)
		fail("%s: %s", call, oriel_last_error());
}

static void check_mpi(int rc, const char *call)
{
	if (rc != MPI_SUCCESS)
		fail("%s gives %d", call, rc);
}

/* What rank sends in a round. */
static int value_of(int rank, int round, int cell)
{
	return rank * 1000003 + round * 1009 + cell;
}

static void check_cells(const int *cells, int rank, int round, const char *way)
{
	for (int i = 0; i < CELLS; i++) {
		if (cells[i] != value_of(rank, round, i))
			fail("cell %d by %s is %d instead of rank %d's %d in round %d", i, way, cells[i], rank,
			     value_of(rank, round, i), round);
	}
}

static void fill_cells(int *cells, int rank, int round)
{
	for (int i = 0; i < CELLS; i++)
		cells[i] = value_of(rank, round, i);
}

static void mpi_round(int round)
{
	int out[CELLS], in[CELLS], rank, size;

	MPI_Comm_rank(now.comm, &rank);
	MPI_Comm_size(now.comm, &size);
	fill_cells(out, rank, round);
	check_mpi(MPI_Sendrecv(out, CELLS, MPI_INT, (rank + 1) % size, 7, in, CELLS, MPI_INT, (rank + size - 1) % size, 7,
	                       now.comm, MPI_STATUS_IGNORE),
	          "MPI_Sendrecv");
	check_cells(in, (rank + size - 1) % size, round, "message");
	check_mpi(MPI_Barrier(now.comm), "MPI_Barrier");
}

static void oriel_round(int round)
{
	int out[CELLS], rank = oriel_rank(now.job), size = oriel_size(now.job);

	fill_cells(out, rank, round);
	check(oriel_win_fence(now.win, 0), "oriel_win_fence");
	check(oriel_put(now.win, out, sizeof(out), (rank + 1) % size, 0), "oriel_put");
	check(oriel_win_fence(now.win, 0), "oriel_win_fence");
	check_cells(now.window, (rank + size - 1) % size, round, "put");
}

static void *mpi_rounds(void *arg)
{
	(void)arg;
	for (int round = 0; round < ROUNDS; round++)
		mpi_round(round);
	return NULL;
}

static void oriel_rounds(void)
{
	for (int round = 0; round < ROUNDS; round++)
		oriel_round(round);
}

/* With both there: in turns by one thread, then at once by two. */
static void use(void)
{
	pthread_t thread;

	if (now.mpi)
		mpi_rounds(NULL);
	if (now.oriel)
		oriel_rounds();
	if (!now.mpi || !now.oriel)
		return;
	if (pthread_create(&thread, NULL, mpi_rounds, NULL) != 0)
		fail("pthread_create");
	oriel_rounds();
	pthread_join(thread, NULL);
}

static void on_child(int signal)
{
	(void)signal;
	children_ended++;
}

/* The child's work is its fork handlers and, where it runs no other program, its handlers of exit. */
static void fork_one(bool runs_another)
{
	int status = 0, before = children_ended;
	pid_t child = fork();

	if (child == 0) {
		if (!runs_another)
			exit(0);
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("fork or waitpid");
	if (status)
		fail("a child that %s ended with status %d", runs_another ? "runs another program" : "ends by exit", status);
	if (children_ended == before)
		fail("the program's handler of SIGCHLD has not been called");
}

static void check_handler(int signal, void (*handler)(int))
{
	struct sigaction action;

	sigaction(signal, NULL, &action);
	if (action.sa_handler != handler)
		fail("the handler of signal %d is no longer the program's", signal);
}

static void enter_mpi(void)
{
	int provided, rank, size;

	check_mpi(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
	if (provided != MPI_THREAD_MULTIPLE)
		fail("the MPI gives thread level %d", provided);
	check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &now.comm), "MPI_Comm_dup");
	now.mpi = true;
	MPI_Comm_rank(now.comm, &rank);
	MPI_Comm_size(now.comm, &size);
	if (now.oriel && (rank != oriel_rank(now.job) || size != oriel_size(now.job)))
		fail("rank %d of %d in MPI, %d of %d in Oriel", rank, size, oriel_rank(now.job), oriel_size(now.job));
}

static void leave_mpi(void)
{
	check_mpi(MPI_Comm_free(&now.comm), "MPI_Comm_free");
	check_mpi(MPI_Finalize(), "MPI_Finalize");
	now.mpi = false;
}

static int all_gather(void *context, const void *mine, size_t size_bytes, void *all)
{
	int count = (int)size_bytes;

	return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, *(MPI_Comm *)context) == MPI_SUCCESS ? 0 : -1;
}

static int init_by_mpi(oriel_job **job)
{
	struct oriel_bootstrap own = { .struct_bytes = sizeof(own), .context = &now.comm, .exchange = all_gather };
	struct oriel_options options = { .struct_bytes = sizeof(options), .bootstrap = &own };

	MPI_Comm_rank(now.comm, &own.rank);
	MPI_Comm_size(now.comm, &own.size);
	return oriel_init(&options, job);
}

static void enter_oriel(void)
{
	void *base;

	check(by_mpi ? init_by_mpi(&now.job) : oriel_init(NULL, &now.job), "oriel_init");
	check(oriel_group_world(now.job, &now.world), "oriel_group_world");
	check(oriel_win_allocate(CELLS * sizeof(int), 1, NULL, now.world, &base, &now.win), "oriel_win_allocate");
	now.window = base;
	now.oriel = true;
}

static void leave_oriel(void)
{
	check(oriel_win_free(&now.win), "oriel_win_free");
	check(oriel_group_free(&now.world), "oriel_group_free");
	check(oriel_finalize(&now.job), "oriel_finalize");
	now.oriel = false;
}

static void at_the_very_end(void)
{
	if (getpid() != program)
		return;
	if (!is_through || now.mpi || now.oriel)
		fail("ended too early");
	printf("<through>\n");
}

/* Registered when both are there, so it runs before the handlers of either. */
static void leave_at_exit(void)
{
	if (getpid() != program)
		return;
	leave_oriel();
	leave_mpi();
	is_through = true;
}

static void enter(bool mpi_first)
{
	if (mpi_first)
		enter_mpi();
	else
		enter_oriel();
	use();
	if (mpi_first)
		enter_oriel();
	else
		enter_mpi();
	use();
}

static void leave(bool mpi_first)
{
	if (mpi_first)
		leave_mpi();
	else
		leave_oriel();
	use();
	if (mpi_first)
		leave_oriel();
	else
		leave_mpi();
	is_through = true;
}

static void use_apart(void)
{
	enter_oriel();
	use();
	leave_oriel();
	fork_one(false);
	enter_mpi();
	use();
	leave_mpi();
	is_through = true;
}

static bool is_mpi(const char *word)
{
	return strcmp(word, "mpi") == 0;
}

int main(int argc, char **argv)
{
	struct sigaction on_child_action = { .sa_handler = on_child, .sa_flags = SA_RESTART };

	if (argc < 3 && (argc < 2 || strcmp(argv[1], "apart") != 0))
		fail("usage: beside mpi|oriel mpi|oriel|exit [own], or beside apart");
	by_mpi = argc > 3 && strcmp(argv[3], "own") == 0;
	program = getpid();
	atexit(at_the_very_end);
	sigaction(SIGCHLD, &on_child_action, NULL);
	if (argc == 2) {
		use_apart();
		return 0;
	}
	enter(is_mpi(argv[1]));
	check_handler(SIGCHLD, on_child);
	fork_one(false);
	fork_one(true);
	use();
	if (strcmp(argv[2], "exit") == 0)
		atexit(leave_at_exit);
	else
		leave(is_mpi(argv[2]));
	return 0;
}
