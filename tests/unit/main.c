// SPDX-License-Identifier: BSD-2-Clause
/*
 * main.c - runs all unit tests, and prints one line at the end: how many passed, failed and were
 * skipped.
 */
#include "report.h"
#include "suites.h"

#include <CUnit/Basic.h>
#include <stdlib.h>

static void add_suites(void)
{
	suite_early(); /* before anything of the library is called */
	suite_byteq();
	suite_proto();
	suite_proof();
	suite_board();
	suite_answer();
	suite_site();
	suite_advice();
	suite_text();
	suite_picture();
	suite_clocks();
	suite_remote_waits();
	suite_boot();
	suite_boot_single();
	suite_boot_run();
	suite_later();
	suite_pmi_line();
	suite_boot_pmi();
	suite_boot_caller();
	suite_boot_pmix();
	suite_kvs();
	suite_rdv();
	suite_lines();
	suite_options();
	suite_err();
	suite_jump();
	suite_process();
	suite_util();
	suite_libev();
	suite_libraries();
	suite_handle();
	suite_mpi_memory();
	suite_mpi_table();
	suite_group();
	suite_layout();
	suite_handshake();
	suite_endpoint();
	suite_conn();
	suite_route();
	suite_directory();
	suite_mem();
	suite_memory_file();
	suite_page_watch();
	suite_share_in_place();
	suite_in_place();
	suite_settings();
	suite_variables();
	suite_rank_list();
	suite_public_struct();
	suite_wait();
	suite_lock();
	suite_lock_repair();
	suite_lock_words();
	suite_pipe();
	suite_soft_proto();
	suite_copy();
	suite_copy_pieces();
	suite_element();
	suite_am_codec();
	suite_page_lock();
	suite_atomic_mode();
	suite_mr_cache();
	suite_perf_stats();
	suite_perf_options();
}

int main(int argc, char **argv)
{
	int status;

	if (CU_initialize_registry() != CUE_SUCCESS)
		return EXIT_FAILURE;
	add_suites();
	status = report_suites("unit", argc > 1 ? argv[1] : NULL);
	CU_cleanup_registry();
	return status;
}
