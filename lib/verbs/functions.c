// SPDX-License-Identifier: BSD-2-Clause
/* functions.c - rdma-core's functions; the one file of the library that names them */
#include "verbs/functions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ibv_is_fork_initialized, which rdma-core before 35 (Debian 11) does not declare. */
int fork_status(void) __asm__("ibv_is_fork_initialized") __attribute__((weak));
enum { FORK_ENABLED = 1 }; /* IBV_FORK_ENABLED */

const struct verbs_functions verbs_system = {
	.name = "rdma-core",
	VERBS_FUNCTIONS,
};

/* ISO C has no cast from an object's address to a function's. */
static void find_global(const char *name, void *pointer)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	memcpy(pointer, &function, sizeof(function));
}

/*
 * The process's libibverbs may be softverbs, which shows its extension. In a test that simulates
 * nodes on one machine it stands for the card between them, and maps nothing.
 */
struct verbs_direct verbs_direct(const struct verbs_functions *functions)
{
	struct verbs_direct direct = { functions->map,        functions->unmap, functions->move,  functions->read_list,
		                           functions->write_list, functions->pull,  functions->polls, functions->served };

	if (functions == &verbs_system && !getenv("ORIEL_TEST_NODE")) {
		find_global("softverbs_map", &direct.map);
		find_global("softverbs_unmap", &direct.unmap);
		find_global("softverbs_move", &direct.move);
		find_global("softverbs_read_list", &direct.read_list);
		find_global("softverbs_write_list", &direct.write_list);
		find_global("softverbs_pull", &direct.pull);
		find_global("softverbs_polls", &direct.polls);
		find_global("softverbs_served", &direct.served);
	}
	return direct;
}

bool verbs_atomics_mix(const struct verbs_functions *functions)
{
	softverbs_atomics_mix_fn *mix = functions->atomics_mix;

	if (functions == &verbs_system)
		find_global("softverbs_atomics_mix", &mix);
	return mix && mix();
}

bool verbs_forks_copy(const struct verbs_functions *functions)
{
	if (functions != &verbs_system)
		return true;
	return fork_status && fork_status() != FORK_ENABLED;
}
