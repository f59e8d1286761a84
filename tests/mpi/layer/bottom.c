// SPDX-License-Identifier: BSD-2-Clause
/*
 * bottom.c - a window of all addresses, from MPI_BOTTOM on: it is left to the MPI. Open MPI makes
 * it, MPICH refuses it.
 */
#include "layer.h"

#include <stdint.h>

static void W1_all_addresses(void)
{
	int memory = -1, rc;
	MPI_Win win;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rc = MPI_Win_create(MPI_BOTTOM, INT64_MAX / 2, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
#ifdef OPEN_MPI
	EXPECT(rc == MPI_SUCCESS);
#else
	EXPECT(rc != MPI_SUCCESS);
#endif
	if (rc)
		return;
	layer_put_to_address(win, &memory);
	MPI_Win_free(&win);
}

static const struct layer_case cases[] = {
	{ "W1_all_addresses", W1_all_addresses },
};
LAYER_MAIN(cases)
