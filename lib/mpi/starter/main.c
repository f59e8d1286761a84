// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - oriel-mpi PROGRAM [ARGUMENT...]: run an MPI program with Oriel's one-sided communication
 *
 * DESIGN NOTES
 *
 * oriel-mpi preloads the layer for the program's MPI and executes the program. The program's
 * libraries name the MPI (libraries.h), else its starter's variables do. In a build tree the
 * layer lies in lib/mpi beside bin; installed, in oriel/mpi of INSTALLED_LIBDIR, which make gives
 * relative to the folder above bin.
 *
 * Every rank runs it, so it starts no process and reads no file that it does not need.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/starter/starter.h"
#include "oriel.h"
#include "variables.h"

static void usage(FILE *to)
{
	fprintf(to, "usage: %s [--mpi=openmpi|mpich] PROGRAM [ARGUMENT...]\n", say_name);
}

static void help(void)
{
	usage(stdout);
	puts(
		"\n"
		"Runs PROGRAM, which uses MPI, with Oriel in place of the MPI's own one-sided communication:\n"
		"    mpirun -n 4 oriel-mpi ./app          srun oriel-mpi ./app\n"
		"\n"
		"  --mpi=NAME   the MPI that it uses, openmpi or mpich; needed only if neither PROGRAM's list of libraries nor the\n"
		"               launcher's environment shows it, as with some interpreters\n"
		"  -h, --help   this text\n"
		"  --version    the version\n"
		"  --           what follows is PROGRAM, even if it begins with \"-\"\n"
		"\n"
		"It sets LD_PRELOAD. ORIEL_MPI_VERBOSE=1 prints what is left to the MPI, and why.");
}

/* Exits after --help, --version and a wrong option. */
static void take_option(const char *option, const char **mpi)
{
	const char *value;

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
		help();
		exit(EXIT_SUCCESS);
	}
	if (strcmp(option, "--version") == 0) {
		printf("oriel-mpi %d.%d.%d\n", ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR, ORIEL_VERSION_PATCH);
		exit(EXIT_SUCCESS);
	}
	if (strncmp(option, "--mpi=", strlen("--mpi=")) != 0)
		say_and_exit(EXIT_REFUSED, "unknown option %s; %s --help says more", option, say_name);
	value = option + strlen("--mpi=");
	if (strcmp(value, "openmpi") != 0 && strcmp(value, "mpich") != 0)
		say_and_exit(EXIT_REFUSED, "there is no %s: --mpi=openmpi or --mpi=mpich", value);
	*mpi = value;
}

/* Returns the program and its arguments, after the options. */
static char **take_options(char **arguments, const char **mpi)
{
	bool ended = false;

	for (; *arguments && (*arguments)[0] == '-' && !ended; arguments++) {
		ended = strcmp(*arguments, "--") == 0;
		if (!ended)
			take_option(*arguments, mpi);
	}
	if (*arguments && ((*arguments)[0] || ended))
		return arguments;
	usage(stderr);
	exit(EXIT_REFUSED);
}

/* Finds the folder above bin. */
static void find_home(char home[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", home, PATH_MAX - 1);
	char *slash;

	if (length < 0)
		say_and_exit(EXIT_FAILURE, "where it lies cannot be read from /proc/self/exe: %s", strerror(errno));
	home[length] = '\0';
	for (int i = 0; i < 2 && (slash = strrchr(home, '/')) != NULL; i++)
		*slash = '\0';
}

static void find_layer(const char *mpi, char layer[PATH_MAX])
{
	static const char *const folders[] = { "lib/mpi", INSTALLED_LIBDIR "/oriel/mpi" };
	char home[PATH_MAX];

	find_home(home);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(layer, PATH_MAX, "%s/%s/liboriel-mpi-%s.so", home, folders[i], mpi);

		if (bytes < PATH_MAX && access(layer, F_OK) == 0)
			return;
	}
	say_and_exit(
		EXIT_REFUSED,
		"there is no liboriel-mpi-%s.so in %s/lib/mpi or %s/" INSTALLED_LIBDIR "/oriel/mpi: it is built where mpicc.%s finds mpi.h", mpi,
		home, home, mpi);
}

/* Appends the layer to LD_PRELOAD: a tool's MPI_X calls the layer's PMPI_X. */
static void preload(const char *layer)
{
	const char *others = getenv("LD_PRELOAD"), *colon = others && *others ? ":" : "";
	char *all;

	if (asprintf(&all, "%s%s%s", others ? others : "", colon, layer) < 0 || setenv("LD_PRELOAD", all, 1))
		say_and_exit(EXIT_FAILURE, "there is no memory for LD_PRELOAD");
	free(all);
}

/* Returns whether this is rank 0, or the rank is unknown. */
static bool is_first(void)
{
	static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };

	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++) {
		const char *rank = getenv(ranks[i]);

		if (rank && *rank)
			return strcmp(rank, "0") == 0;
	}
	return true;
}

static void report_misspelt(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "%s: %s\n", say_name, text);
}

int main(int argc, char **argv)
{
	const char *mpi = NULL;
	char **arguments, layer[PATH_MAX];
	struct program program;

	if (argc > 0)
		say_name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	arguments = take_options(argc > 0 ? argv + 1 : argv, &mpi);
	program_find(&program, arguments[0]);
	program_check(&program);
	if (!mpi)
		mpi = choice_of_mpi(program.path);
	choice_check_starter(mpi, program.path);
	find_layer(mpi, layer);
	if (is_first())
		variables_check(environ, report_misspelt, NULL);
	preload(layer);
	if (program.here)
		arguments[0] = program.path;
	execvp(program.path, arguments);
	say_and_exit(errno == ENOENT ? EXIT_NOT_THERE : EXIT_CANNOT_RUN, "%s cannot be run: %s", program.path,
	             strerror(errno));
}
