// SPDX-License-Identifier: BSD-2-Clause
/* See names.h. */
#include "mpi/job/names.h"

#include <string.h>

static const struct {
	const char *oriel, *mpi;
} words[] = {
	{ "oriel_init", "MPI_Init" },
	{ "oriel_finalize", "MPI_Finalize" },
	{ "oriel_put", "MPI_Put" },
	{ "oriel_putv", "MPI_Put" },
	{ "oriel_get", "MPI_Get" },
	{ "oriel_getv", "MPI_Get" },
	{ "oriel_accumulate", "MPI_Accumulate" },
	{ "oriel_accumulatev", "MPI_Accumulate" },
	{ "oriel_get_accumulate", "MPI_Get_accumulate" },
	{ "oriel_get_accumulatev", "MPI_Get_accumulate" },
	{ "oriel_fetch_and_op", "MPI_Fetch_and_op" },
	{ "oriel_compare_and_swap", "MPI_Compare_and_swap" },
	{ "oriel_win_create", "MPI_Win_create" },
	{ "oriel_win_allocate", "MPI_Win_allocate" },
	{ "oriel_win_allocate_shared", "MPI_Win_allocate_shared" },
	{ "oriel_win_create_dynamic", "MPI_Win_create_dynamic" },
	{ "oriel_win_attach", "MPI_Win_attach" },
	{ "oriel_win_detach", "MPI_Win_detach" },
	{ "oriel_win_shared_query", "MPI_Win_shared_query" },
	{ "oriel_win_free", "MPI_Win_free" },
	{ "oriel_win_query", "MPI_Win_get_info" },
	{ "oriel_win_set_hints", "MPI_Win_set_info" },
	{ "oriel_win_set_name", "MPI_Win_set_name" },
	{ "oriel_win_fence", "MPI_Win_fence" },
	{ "oriel_win_post", "MPI_Win_post" },
	{ "oriel_win_start", "MPI_Win_start" },
	{ "oriel_win_complete", "MPI_Win_complete" },
	{ "oriel_win_wait", "MPI_Win_wait" },
	{ "oriel_win_test", "MPI_Win_test" },
	{ "oriel_win_lock", "MPI_Win_lock" },
	{ "oriel_win_unlock", "MPI_Win_unlock" },
	{ "oriel_win_lock_all", "MPI_Win_lock_all" },
	{ "oriel_win_unlock_all", "MPI_Win_unlock_all" },
	{ "oriel_win_flush", "MPI_Win_flush" },
	{ "oriel_win_flush_local", "MPI_Win_flush_local" },
	{ "oriel_win_iflush_local", "the request of the operation" },
	{ "oriel_win_sync", "MPI_Win_sync" },
	{ "oriel_request_wait", "the request's completion" },
	{ "oriel_request_test", "the request's completion" },
	{ "oriel_alloc", "MPI_Alloc_mem" },
	{ "oriel_free", "MPI_Free_mem" },
	{ "oriel_group_incl", "the group" },
	{ "oriel_group_shared", "MPI_Comm_split_type" },
	{ "ORIEL_LOCK_SHARED", "MPI_LOCK_SHARED" },
	{ "ORIEL_LOCK_EXCLUSIVE", "MPI_LOCK_EXCLUSIVE" },
	{ "ORIEL_MODE_NOCHECK", "MPI_MODE_NOCHECK" },
	{ "ORIEL_RANK_ALL", "all ranks" },
	{ "ORIEL_SUM", "MPI_SUM" },
	{ "ORIEL_PROD", "MPI_PROD" },
	{ "ORIEL_MIN", "MPI_MIN" },
	{ "ORIEL_MAX", "MPI_MAX" },
	{ "ORIEL_LAND", "MPI_LAND" },
	{ "ORIEL_LOR", "MPI_LOR" },
	{ "ORIEL_LXOR", "MPI_LXOR" },
	{ "ORIEL_BAND", "MPI_BAND" },
	{ "ORIEL_BOR", "MPI_BOR" },
	{ "ORIEL_BXOR", "MPI_BXOR" },
	{ "ORIEL_MINLOC", "MPI_MINLOC" },
	{ "ORIEL_MAXLOC", "MPI_MAXLOC" },
	{ "ORIEL_REPLACE", "MPI_REPLACE" },
	{ "ORIEL_NO_OP", "MPI_NO_OP" },
	{ "ORIEL_INT8", "MPI_INT8_T" },
	{ "ORIEL_INT16", "MPI_INT16_T" },
	{ "ORIEL_INT32", "MPI_INT32_T" },
	{ "ORIEL_INT64", "MPI_INT64_T" },
	{ "ORIEL_UINT8", "MPI_UINT8_T" },
	{ "ORIEL_UINT16", "MPI_UINT16_T" },
	{ "ORIEL_UINT32", "MPI_UINT32_T" },
	{ "ORIEL_UINT64", "MPI_UINT64_T" },
	{ "ORIEL_BOOL", "MPI_C_BOOL" },
	{ "ORIEL_FLOAT", "MPI_FLOAT" },
	{ "ORIEL_DOUBLE", "MPI_DOUBLE" },
	{ "ORIEL_LONG_DOUBLE", "MPI_LONG_DOUBLE" },
	{ "ORIEL_FLOAT_COMPLEX", "MPI_C_FLOAT_COMPLEX" },
	{ "ORIEL_DOUBLE_COMPLEX", "MPI_C_DOUBLE_COMPLEX" },
	{ "ORIEL_LONG_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX" },
	{ "ORIEL_FLOAT_INT", "MPI_FLOAT_INT" },
	{ "ORIEL_DOUBLE_INT", "MPI_DOUBLE_INT" },
	{ "ORIEL_LONG_INT", "MPI_LONG_INT" },
	{ "ORIEL_INT_INT", "MPI_2INT" },
	{ "ORIEL_SHORT_INT", "MPI_SHORT_INT" },
	{ "ORIEL_LONG_DOUBLE_INT", "MPI_LONG_DOUBLE_INT" },
};

const char *names_of_mpi(const char *word, size_t length)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].oriel) == length && memcmp(words[i].oriel, word, length) == 0)
			return words[i].mpi;
	return NULL;
}

const char *names_call(const char *call)
{
	const char *mpi = names_of_mpi(call, strlen(call));

	return mpi ? mpi : call;
}
