// SPDX-License-Identifier: BSD-2-Clause
/*
 * library.h - libpmix, opened if a process has a PMIx launcher
 *
 * It is not linked: Oriel must start without libpmix, and must use the one of the site's MPI. It is
 * never closed, since it has a thread.
 */
#ifndef ORIEL_CLIENT_PMIX_LIBRARY_H
#define ORIEL_CLIENT_PMIX_LIBRARY_H

#include <pmix.h>

struct pmix_library {
	__typeof__(PMIx_Init) *init;
	__typeof__(PMIx_Initialized) *initialized;
	__typeof__(PMIx_Finalize) *finalize;
	__typeof__(PMIx_Abort) *abort;
	__typeof__(PMIx_Put) *put;
	__typeof__(PMIx_Commit) *commit;
	__typeof__(PMIx_Fence) *fence;
	__typeof__(PMIx_Fence_nb) *fence_nb;
	__typeof__(PMIx_Get) *get;
	__typeof__(PMIx_Get_nb) *get_nb;
	__typeof__(PMIx_Register_event_handler) *register_handler;
	__typeof__(PMIx_Deregister_event_handler) *deregister_handler;
	__typeof__(PMIx_Error_string) *error_string;
};

/* ERRORS: ORIEL_ERR_BOOTSTRAP with the reason and the ways out. */
int pmix_library_open(struct pmix_library *library);

#endif
