// SPDX-License-Identifier: BSD-2-Clause
/* nodes.c - see nodes.h. */
#include "launcher/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/options.h"

#define LINE_BYTES 512

/* Returns 0 outside a Slurm allocation. */
static int slurm_nodes(void)
{
	const char *count = getenv("SLURM_JOB_NUM_NODES");

	return count ? atoi(count) : 0;
}

/* Cuts the command if room is short. */
static void add_command(char line[LINE_BYTES], char *const command[])
{
	for (size_t used = strlen(line); *command && used < LINE_BYTES - 1; command++, used = strlen(line))
		snprintf(line + used, LINE_BYTES - used, " %s", *command);
}

bool nodes_are_wanted(const struct options *options, char *text, size_t size_bytes)
{
	char line[LINE_BYTES];
	int nodes = slurm_nodes();

	if (!options->hosts && nodes <= 1)
		return false;
	if (nodes > 0)
		snprintf(line, sizeof(line), "srun --mpi=pmix -n %d", options->size);
	else
		snprintf(line, sizeof(line), "mpiexec.hydra -hosts %s -n %d", options->hosts, options->size);
	add_command(line, options->command);
	if (options->hosts)
		snprintf(text, size_bytes, "oriel-run starts ranks on its own machine only. On several, type: %s", line);
	else
		snprintf(
			text, size_bytes,
			"this is an allocation of %d nodes (SLURM_JOB_NUM_NODES), and oriel-run starts ranks on its own machine "
			"only. Type: %s; or, for ranks on this node alone, env -u SLURM_JOB_NUM_NODES oriel-run ...",
			nodes, line);
	return true;
}
