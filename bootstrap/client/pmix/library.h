// SPDX-License-Identifier: BSD-2-Clause
/*
 * library.h - libpmix, opened when a process has a PMIx launcher
 *
 * Not linked: Oriel must start where there is no libpmix, and must take the one that the site's MPI
 * has brought. It is never closed again, since it has a thread.
 */
#ifndef ORIEL_CLIENT_PMIX_LIBRARY_H
#define ORIEL_CLIENT_PMIX_LIBRARY_H

#include <pmix.h>

/* Its functions, by their names there. */
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
