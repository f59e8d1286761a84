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
 * Every rank runs it, so it starts no process and reads no needless file.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/recompiled.h"
#include "mpi/starter/starter.h"
#include "oriel.h"
#include "see/report/formats.h"
#include "variables.h"
#include "wire/environment.h"


static void usage(FILE *to)
{
	fprintf(
		to,
		"usage: %s [--mpi=openmpi|mpich] [--profile] [--trace FILE] [--check[=pages]] [--unkind SEED] PROGRAM [ARGUMENT...]\n",
		say_name);
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
		"  --profile[=text,json,svg]\n"
		"               at the end, print where the ranks spent their time: oriel_profile(7)\n"
		"  --trace FILE at the end, write a timeline of the one-sided calls to FILE, for https://ui.perfetto.dev\n"
		"  --check[=pages]\n"
		"               at the end, print which one-sided operations race: oriel_check(7)\n"
		"  --unkind SEED\n"
		"               do whatever one-sided communication may do, by a number: late, early, out of order. A result\n"
		"               that depends on SEED is a mistake in PROGRAM: oriel_bugs(7)\n"
		"  -h, --help   this text\n"
		"  --version    the version\n"
		"  --           what follows is PROGRAM, even if it begins with \"-\"\n"
		"\n"
		"It sets LD_PRELOAD. ORIEL_MPI_VERBOSE=1 prints what is left to the MPI, and why.");
}

struct options {
	const char *mpi;     /* NULL: to be found out */
	const char *profile; /* what is written; NULL: no profile */
	const char *trace;   /* NULL: none */
	const char *unkind;  /* a seed, or NULL */
	bool checks;
	bool checks_pages;
};

/* Returns the value behind "=", "" if there is none, or NULL if it is another option. */
static const char *value_of(const char *option, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(option, name, length) != 0 || (option[length] != '\0' && option[length] != '='))
		return NULL;
	return option[length] ? option + length + 1 : option + length;
}

/* Returns the value of an option that is "NAME VALUE" or "NAME=VALUE", or NULL if it is another. */
static const char *value_behind(char ***arguments, const char *name)
{
	const char *value = value_of(**arguments, name);

	if (!value || *value)
		return value;
	if (strcmp(**arguments, name) != 0 || !(*arguments)[1])
		say_and_exit(EXIT_REFUSED, "%s takes a value; %s --help says more", name, say_name);
	return *++*arguments;
}

static void take_formats(const char *formats, struct options *options)
{
	int length;
	const char *unknown = formats_unknown(formats, &length);

	if (unknown)
		say_and_exit(EXIT_REFUSED, "there is no format %.*s: " FORMATS_USAGE, length, unknown);
	options->profile = formats;
}

static void take_seed(const char *seed, struct options *options)
{
	if (!boot_is_seed(seed))
		say_and_exit(EXIT_REFUSED, "--unkind %s: the seed must be a number of 1 to %d digits", seed, BOOT_SEED_DIGITS);
	options->unkind = seed;
}

static void take_level(const char *level, struct options *options)
{
	if (*level && strcmp(level, "pages") != 0)
		say_and_exit(EXIT_REFUSED, "there is no --check=%s: --check or --check=pages", level);
	options->checks = true;
	options->checks_pages = *level;
}

/* Exits after --help, --version and a wrong option. */
static void take_option(char ***arguments, struct options *options)
{
	const char *option = **arguments, *value;

	if (strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0) {
		help();
		exit(EXIT_SUCCESS);
	}
	if (strcmp(option, "--version") == 0) {
		printf("oriel-mpi %d.%d.%d\n", ORIEL_VERSION_MAJOR, ORIEL_VERSION_MINOR, ORIEL_VERSION_PATCH);
		exit(EXIT_SUCCESS);
	}
	value = value_of(option, "--profile");
	if (value) {
		take_formats(*value ? value : FORMATS_DEFAULT, options);
		return;
	}
	value = value_behind(arguments, "--trace");
	if (value) {
		options->trace = value;
		return;
	}
	value = value_of(option, "--check");
	if (value) {
		take_level(value, options);
		return;
	}
	value = value_behind(arguments, "--unkind");
	if (value) {
		take_seed(value, options);
		return;
	}
	value = value_of(option, "--mpi");
	if (!value)
		say_and_exit(EXIT_REFUSED, "unknown option %s; %s --help says more", option, say_name);
	if (strcmp(value, "openmpi") != 0 && strcmp(value, "mpich") != 0)
		say_and_exit(EXIT_REFUSED, "there is no %s: --mpi=openmpi or --mpi=mpich", value);
	options->mpi = value;
}

/* Returns the program and its arguments, after the options. */
static char **take_options(char **arguments, struct options *options)
{
	bool ended = false;

	for (; *arguments && (*arguments)[0] == '-' && !ended; arguments++) {
		ended = strcmp(*arguments, "--") == 0;
		if (!ended)
			take_option(&arguments, options);
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

/* Writes the path of a library of an MPI's: "mpi" is the layer, "see" and "check" are fronts. */
static void find_library(const char *library, const char *mpi, char path[PATH_MAX])
{
	static const char *const folders[] = { "lib/mpi", INSTALLED_LIBDIR "/oriel/mpi" };
	char home[PATH_MAX];

	find_home(home);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		int bytes = snprintf(path, PATH_MAX, "%s/%s/liboriel-%s-%s.so", home, folders[i], library, mpi);

		if (bytes < PATH_MAX && access(path, F_OK) == 0)
			return;
	}
	say_and_exit(EXIT_REFUSED,
	             "there is no liboriel-%s-%s.so in %s/lib/mpi or %s/" INSTALLED_LIBDIR
	             "/oriel/mpi: it is built where mpicc.%s finds mpi.h",
	             library, mpi, home, home, mpi);
}

/* Appends a library to LD_PRELOAD: a tool's MPI_X calls the layer's PMPI_X. */
static void preload(const char *library)
{
	const char *others = getenv("LD_PRELOAD"), *colon = others && *others ? ":" : "";
	char *all;

	if (asprintf(&all, "%s%s%s", others ? others : "", colon, library) < 0 || setenv("LD_PRELOAD", all, 1))
		say_and_exit(EXIT_FAILURE, "there is no memory for LD_PRELOAD");
	free(all);
}

static void set_variable(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		say_and_exit(EXIT_FAILURE, "there is no memory for the environment");
}

/* The variable names the program that reports. */
static void prepare_front(const char *library, const char *mpi, const char *variable, const char *reporter)
{
	char front[PATH_MAX], home[PATH_MAX], program[PATH_MAX + 32];

	find_library(library, mpi, front);
	find_home(home);
	snprintf(program, sizeof(program), "%s/bin/%s", home, reporter);
	set_variable(variable, program);
	preload(front);
}

static void prepare_library(const char *name)
{
	static const char *const folders[] = { "lib/see", INSTALLED_LIBDIR "/oriel/see" };
	char home[PATH_MAX], library[2 * PATH_MAX];

	find_home(home);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(library, sizeof(library), "%s/%s/%s", home, folders[i], name);
		if (access(library, F_OK) == 0) {
			preload(library);
			return;
		}
	}
}

static void prepare_loads(const char *path)
{
	char name[RECOMPILED_BYTES];

	if (recompiled_library(path, name))
		prepare_library(name);
}

static void prepare_fronts(const struct options *options, const char *path)
{
	const bool recorded = options->profile || options->trace;

	if (recorded && options->checks)
		say_and_exit(EXIT_REFUSED,
		             "--check is for runs without --profile and --trace: recording for one slows the other");
	if (options->checks) {
		prepare_front("check", options->mpi, "ORIEL_CHECK", "oriel-check");
		prepare_loads(path);
		if (options->checks_pages)
			prepare_library("liboriel-pages.so");
	}
	if (!recorded)
		return;
	set_variable("ORIEL_PROFILE", options->profile ? options->profile : "none");
	if (options->trace)
		set_variable("ORIEL_TRACE", options->trace);
	prepare_front("see", options->mpi, "ORIEL_SEE", "oriel-see");
}

/* Returns true also if the rank is unknown. */
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
	struct options options = { 0 };
	char **arguments, layer[PATH_MAX];
	struct program program;

	if (argc > 0)
		say_name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	arguments = take_options(argc > 0 ? argv + 1 : argv, &options);
	program_find(&program, arguments[0]);
	program_check(&program);
	if (!options.mpi)
		options.mpi = choice_of_mpi(program.path);
	choice_check_starter(options.mpi, program.path);
	find_library("mpi", options.mpi, layer);
	if (is_first())
		variables_check(environ, report_misspelt, NULL);
	if (options.unkind)
		set_variable(BOOT_ENV_UNKIND, options.unkind);
	prepare_fronts(&options, program.path);
	preload(layer);
	if (program.here)
		arguments[0] = program.path;
	execvp(program.path, arguments);
	say_and_exit(errno == ENOENT ? EXIT_NOT_THERE : EXIT_CANNOT_RUN, "%s cannot be run: %s", program.path,
	             strerror(errno));
}
