// SPDX-License-Identifier: BSD-2-Clause
/* options.c - oriel-run's command line; see options.h. */
#include "launcher/options.h"

#include "boot.h"
#include "launcher/nodes.h"
#include "wire/environment.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum long_option {
	OPTION_PREFIX = 256,
	OPTION_TIMEOUT,
	OPTION_GRACE,
	OPTION_DEVICE,
	OPTION_ADDR,
	OPTION_HOSTS,
	OPTION_UNKIND,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "prefix", no_argument, NULL, OPTION_PREFIX },
	{ "timeout", required_argument, NULL, OPTION_TIMEOUT },
	{ "grace", required_argument, NULL, OPTION_GRACE },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "addr", required_argument, NULL, OPTION_ADDR },
	{ "hosts", required_argument, NULL, OPTION_HOSTS },
	{ "unkind", required_argument, NULL, OPTION_UNKIND },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

const char *options_usage(void)
{
	return "usage: oriel-run -n N [options] PROGRAM [ARGUMENTS]\n"
		   "\n"
		   "Starts PROGRAM N times on this machine, as the ranks 0 to N-1 of one job. On several machines srun, mpirun\n"
		   "or mpiexec.hydra start it: srun --mpi=pmix -N 2 PROGRAM, mpirun -n N PROGRAM, mpiexec.hydra -n N PROGRAM.\n"
		   "\n"
		   "  -n N             ranks to start, 1 to 8192\n"
		   "  --prefix         put \"[rank] \" in front of every line of output\n"
		   "  --timeout S      end the job after S seconds, with exit status 124 (0: never)\n"
		   "  --grace S        seconds from a rank's failure until the others get SIGTERM, and\n"
		   "                   from SIGTERM to SIGKILL (default 10)\n"
		   "  --device NAME    the RDMA device the ranks use (ORIEL_DEVICE); soft: softverbs, a device made of\n"
		   "                   shared memory; auto: what the machine has, else soft (default). A program of another\n"
		   "                   library gets softverbs by oriel-soft: oriel-run -n N oriel-soft PROGRAM\n"
		   "  --addr A,B,...   the local addresses the ranks use (ORIEL_ADDR), assigned in turn\n"
		   "  --unkind SEED    do whatever one-sided communication may do, by a number: late, early, out of order\n"
		   "                   (ORIEL_UNKIND); a result that depends on SEED is a mistake in PROGRAM: oriel_bugs(7)\n"
		   "  --hosts A,B,...  starts nothing, and prints what to type instead\n"
		   "  -x VAR=VALUE     set a variable in the ranks' environment; may be repeated\n"
		   "  -v, --verbose    print what the launcher does; each rank prints its devices and how it reaches the others\n"
		   "                   (ORIEL_VERBOSE=1)\n"
		   "  -h, --help       print this\n"
		   "  --version        print the version\n"
		   "\n"
		   "Ranks' output is passed on in lines, which stay whole up to 1 MiB; a longer one is cut by a newline where\n"
		   "another rank's line comes between. On a terminal an unfinished line is shown after a moment, and cut likewise.\n"
		   "Rank 0 reads standard input, the others read nothing.\n"
		   "SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to the ranks;\n"
		   "a second SIGINT or SIGTERM kills them.\n"
		   "\n"
		   "Exit status: 0 if every rank succeeded; that of the first rank that failed, 128 + N for signal N;\n"
		   "what a rank gave to oriel_abort; 124 after --timeout; 126 or 127 if PROGRAM cannot be started;\n"
		   "2 for a wrong command line; 141 if no process reads the output any more; 1 for output that cannot be written, a\n"
		   "rank that ended without oriel_finalize, or trouble of the launcher.\n";
}

static enum options_verdict wrong(struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static enum options_verdict wrong(struct options *options, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(options->error, sizeof(options->error), format, args);
	va_end(args);
	return OPTIONS_WRONG;
}

static enum options_verdict parse_size(struct options *options, const char *text)
{
	char *end;
	long size;

	if (strcmp(text, "p") == 0)
		return wrong(options, "-np is not known; write -n N");
	errno = 0;
	size = strtol(text, &end, 10);
	if (end == text || *end || errno || size < 1 || size > RUN_RANKS_MAX)
		return wrong(options, "-n %.32s: the number of ranks must be 1 to %d", text, RUN_RANKS_MAX);
	options->size = (int)size;
	return OPTIONS_RUN;
}

static enum options_verdict parse_seconds(struct options *options, const char *name, const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end == text || *end || !isfinite(*seconds) || *seconds < 0. || *seconds > RUN_SECONDS_MAX)
		return wrong(options, "%s %.32s: it must be a number of seconds from 0 to %.0f", name, text, RUN_SECONDS_MAX);
	return OPTIONS_RUN;
}

static enum options_verdict parse_device(struct options *options, const char *text)
{
	size_t max = sizeof(((struct boot *)NULL)->device) - 1;

	if (!*text || strlen(text) > max)
		return wrong(options, "--device \"%.70s\": a device's name has 1 to %zu characters (oriel-info lists them)",
		             text, max);
	options->device = strcmp(text, "auto") == 0 ? NULL : text;
	return OPTIONS_RUN;
}

static enum options_verdict parse_unkind(struct options *options, const char *text)
{
	if (!boot_is_seed(text))
		return wrong(options, "--unkind %.32s: the seed must be a number of 1 to %d digits", text, BOOT_SEED_DIGITS);
	options->unkind = text;
	return OPTIONS_RUN;
}

static enum options_verdict add_addr(struct options *options, const char *addr)
{
	size_t max = sizeof(((struct boot *)NULL)->addr) - 1;

	if (!*addr || strlen(addr) > max)
		return wrong(options, "--addr: \"%.70s\" is no address; give them as A,B,... with 1 to %zu characters each",
		             addr, max);
	if (options->addr_count == RUN_ADDRS_MAX)
		return wrong(options, "--addr: more than %d addresses", RUN_ADDRS_MAX);
	options->addrs[options->addr_count++] = addr;
	return OPTIONS_RUN;
}

static enum options_verdict parse_addrs(struct options *options, const char *text)
{
	enum options_verdict verdict = OPTIONS_RUN;
	char *rest;
	char *addr;

	free(options->addr_list);
	options->addr_count = 0;
	options->addr_list = strdup(text);
	if (!options->addr_list)
		return wrong(options, "--addr: no memory");
	rest = options->addr_list;
	while (verdict == OPTIONS_RUN && (addr = strsep(&rest, ",")))
		verdict = add_addr(options, addr);
	return verdict;
}

static enum options_verdict add_variable(struct options *options, char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return wrong(options, "-x %.64s: write it as VAR=VALUE (the ranks have the launcher's environment anyway)",
		             text);
	if (options->variable_count == RUN_VARIABLES_MAX)
		return wrong(options, "-x: more than %d variables", RUN_VARIABLES_MAX);
	options->variables[options->variable_count++] = text;
	return OPTIONS_RUN;
}

/* The option is in optopt, or in argv[optind - 1]. */
static enum options_verdict wrong_option(struct options *options, int what, char **argv)
{
	const char *text = argv[optind - 1];

	if (what == ':')
		return wrong(options, "%.64s needs a value", text);
	if (optopt > 0 && optopt < OPTION_PREFIX && isprint(optopt))
		return wrong(options, "unknown option -%c", optopt);
	return wrong(options, "unknown option, or a value it does not take: %.64s", text);
}

static enum options_verdict parse_option(struct options *options, int option, char **argv)
{
	switch (option) {
	case 'n':
		return parse_size(options, optarg);
	case 'x':
		return add_variable(options, optarg);
	case 'v':
		options->verbose = true;
		return OPTIONS_RUN;
	case 'h':
		return OPTIONS_HELP;
	case OPTION_VERSION:
		return OPTIONS_VERSION;
	case OPTION_PREFIX:
		options->prefix = true;
		return OPTIONS_RUN;
	case OPTION_TIMEOUT:
		return parse_seconds(options, "--timeout", optarg, &options->timeout_s);
	case OPTION_GRACE:
		return parse_seconds(options, "--grace", optarg, &options->grace_s);
	case OPTION_DEVICE:
		return parse_device(options, optarg);
	case OPTION_UNKIND:
		return parse_unkind(options, optarg);
	case OPTION_HOSTS:
		options->hosts = optarg;
		return OPTIONS_RUN;
	case OPTION_ADDR:
		return parse_addrs(options, optarg);
	default:
		return wrong_option(options, option, argv);
	}
}

static enum options_verdict check_complete(struct options *options, int argc, char **argv)
{
	if (options->size == 0)
		return wrong(options, "the number of ranks is missing: -n N");
	if (optind >= argc)
		return wrong(options, "the program to start is missing");
	options->command = argv + optind;
	if (nodes_are_wanted(options, options->error, sizeof(options->error)))
		return OPTIONS_WRONG;
	return OPTIONS_RUN;
}

enum options_verdict options_parse(int argc, char **argv, struct options *options)
{
	enum options_verdict verdict = OPTIONS_RUN;
	int option;

	memset(options, 0, sizeof(*options));
	options->grace_s = RUN_GRACE_DEFAULT_S;
	optind = 0; /* start anew; '+' stops at the program's name */
	while (verdict == OPTIONS_RUN && (option = getopt_long(argc, argv, "+:n:x:vh", long_options, NULL)) != -1)
		verdict = parse_option(options, option, argv);
	return verdict == OPTIONS_RUN ? check_complete(options, argc, argv) : verdict;
}

void options_free(struct options *options)
{
	free(options->addr_list);
	options->addr_list = NULL;
	options->addr_count = 0;
}
