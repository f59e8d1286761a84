// SPDX-License-Identifier: BSD-2-Clause
/*
 * waiting.c - a rank that waits in a call of the MPI's own serves the others, where that MPI lets
 * it (lib/mpi/job/progress.h)
 *
 * Calls of oriel_progress are counted, and Open MPI's list of what its waits call in every turn is
 * looked on at as it is written.
 */
#include "layer.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int served; /* calls of oriel_progress, by the layer */

/* In the place of Oriel's own. */
int oriel_progress(void *job);
int oriel_progress(void *job)
{
	static int (*own)(void *job);

	if (!own)
		*(void **)&own = dlsym(RTLD_NEXT, "oriel_progress");
	__atomic_add_fetch(&served, 1, __ATOMIC_RELAXED);
	return own ? own(job) : -1;
}

/* One rank comes late to a barrier: the others' waits serve meanwhile. */
static void A22_waits_serve(void)
{
	int before;

	MPI_Barrier(MPI_COMM_WORLD);
	before = __atomic_load_n(&served, __ATOMIC_RELAXED);
	if (layer_rank == 0)
		usleep(100000);
	MPI_Barrier(MPI_COMM_WORLD);
	EXPECT(layer_rank == 0 || __atomic_load_n(&served, __ATOMIC_RELAXED) > before);
}

#ifdef OPEN_MPI

typedef int turn_fn(void);

static turn_fn *listed; /* of the layer's */
static int enlisted;    /* times that it has been put there */

static int is_of_layer(turn_fn *turn)
{
	Dl_info info;
	void *address;

	memcpy(&address, &turn, sizeof(address));
	return dladdr(address, &info) && strstr(info.dli_fname, "liboriel-mpi-");
}

static int pass_on(const char *name, turn_fn *turn)
{
	int (*next)(turn_fn * turn);

	*(void **)&next = dlsym(RTLD_NEXT, name);
	return next ? next(turn) : 0;
}

/* In the place of Open MPI's own. */
int opal_progress_register(turn_fn *turn);
int opal_progress_register(turn_fn *turn)
{
	if (is_of_layer(turn)) {
		listed = turn;
		enlisted++;
	}
	return pass_on("opal_progress_register", turn);
}

int opal_progress_unregister(turn_fn *turn);
int opal_progress_unregister(turn_fn *turn)
{
	if (turn == listed)
		listed = NULL;
	return pass_on("opal_progress_unregister", turn);
}

static void A22_listed_once(void)
{
	EXPECT(listed && enlisted == 1);
	EXPECT(listed && listed() == 0);
}

/* What the latest call of Oriel's that failed has said, in this thread. */
static const char *last_error(void)
{
	const char *(*call)(void);

	*(void **)&call = dlsym(RTLD_DEFAULT, "oriel_last_error");
	return call ? call() : NULL;
}

/*
 * Whether a turn is done without an error; one from before, of a device that is not there for
 * instance, does not count.
 */
static int is_silent(const char *before)
{
	return listed && listed() == 0 && last_error() && strcmp(last_error(), before) == 0;
}

/* It has no job, and does not ask for it in each turn. */
static void E1_a_forked_child_is_silent(void)
{
	char before[2000] = "";
	int status = -1;
	pid_t child;

	EXPECT(last_error());
	snprintf(before, sizeof(before), "%s", last_error() ? last_error() : "");
	child = fork();
	if (child == 0)
		_exit(!is_silent(before));
	EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	EXPECT(is_silent(before));
}

#endif

static const struct layer_case cases[] = {
	{ "A22_waits_serve", A22_waits_serve },
#ifdef OPEN_MPI
	{ "A22_listed_once", A22_listed_once },
	{ "E1_a_forked_child_is_silent", E1_a_forked_child_is_silent },
#endif
};

int main(int argc, char **argv)
{
	int status = layer_run(&argc, &argv, cases, (int)(sizeof(cases) / sizeof(cases[0])));

#ifdef OPEN_MPI
	if (listed)
		fprintf(stderr, "not ok A22_left_the_list: what is called after MPI_Finalize has no job\n");
	status = status || listed;
#endif
	return status;
}
