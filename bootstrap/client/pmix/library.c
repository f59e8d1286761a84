// SPDX-License-Identifier: BSD-2-Clause
/* library.c - see library.h. */
#include "client/pmix/library.h"

#include "client/starter.h"

#include "base/err.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY_NAME "libpmix.so.2" /* in PMIx 3 to 6 */

struct entry {
	const char *name;
	size_t offset;
};

static const struct entry entries[] = {
	{ "PMIx_Init", offsetof(struct pmix_library, init) },
	{ "PMIx_Initialized", offsetof(struct pmix_library, initialized) },
	{ "PMIx_Finalize", offsetof(struct pmix_library, finalize) },
	{ "PMIx_Abort", offsetof(struct pmix_library, abort) },
	{ "PMIx_Put", offsetof(struct pmix_library, put) },
	{ "PMIx_Commit", offsetof(struct pmix_library, commit) },
	{ "PMIx_Fence", offsetof(struct pmix_library, fence) },
	{ "PMIx_Fence_nb", offsetof(struct pmix_library, fence_nb) },
	{ "PMIx_Get", offsetof(struct pmix_library, get) },
	{ "PMIx_Get_nb", offsetof(struct pmix_library, get_nb) },
	{ "PMIx_Register_event_handler", offsetof(struct pmix_library, register_handler) },
	{ "PMIx_Deregister_event_handler", offsetof(struct pmix_library, deregister_handler) },
	{ "PMIx_Error_string", offsetof(struct pmix_library, error_string) },
};

static int fail(void)
{
	const char *reason = dlerror();

	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "this process has been started by %s, and PMIx's library cannot be used: %.256s. Install "
	               "it (package libpmix2), or use srun --mpi=pmi2, mpiexec.hydra or, on one machine, oriel-run",
	               starter_pmix().text, reason ? reason : LIBRARY_NAME);
}

int pmix_library_open(struct pmix_library *library)
{
	void *handle = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return fail();
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		void *function = dlsym(handle, entries[i].name);

		if (!function)
			return fail();
		memcpy((char *)library + entries[i].offset, &function, sizeof(function));
	}
	return 0;
}
