// SPDX-License-Identifier: BSD-2-Clause
/* no_pmix.c - replaces pmix.c if the build found no PMIx headers */
#include "base/err.h"
#include "client/clients.h"
#include "client/starter.h"

int boot_pmix_open(struct boot **boot)
{
	(void)boot;
	return err_set(ORIEL_ERR_BOOTSTRAP,
	               "this process has been started by %s, and this liboriel was built without "
	               "PMIx: build it where libpmix-dev is installed, or use srun --mpi=pmi2, mpiexec.hydra or, on one "
	               "machine, oriel-run",
	               starter_pmix().text);
}
