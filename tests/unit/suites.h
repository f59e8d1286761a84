// SPDX-License-Identifier: BSD-2-Clause
/* suites.h - one suite of unit tests for each source file under test; main.c runs them all. */
#ifndef ORIEL_TESTS_SUITES_H
#define ORIEL_TESTS_SUITES_H

void suite_early(void);
void suite_byteq(void);
void suite_proto(void);
void suite_proof(void);
void suite_board(void);
void suite_answer(void);
void suite_site(void);
void suite_advice(void);
void suite_text(void);
void suite_picture(void);
void suite_clocks(void);
void suite_remote_waits(void);
void suite_boot(void);
void suite_boot_single(void);
void suite_boot_run(void);
void suite_later(void);
void suite_pmi_line(void);
void suite_boot_pmi(void);
void suite_boot_caller(void);
void suite_boot_pmix(void);
void suite_kvs(void);
void suite_rdv(void);
void suite_lines(void);
void suite_options(void);

/* Suites of lib/. */
void suite_err(void);
void suite_jump(void);
void suite_process(void);
void suite_util(void);
void suite_libev(void);
void suite_libraries(void);
void suite_handle(void);
void suite_mpi_memory(void);
void suite_mpi_table(void);
void suite_group(void);
void suite_layout(void);
void suite_handshake(void);
void suite_am_codec(void);
void suite_endpoint(void);
void suite_conn(void);
void suite_route(void);
void suite_directory(void);
void suite_mem(void);
void suite_memory_file(void);
void suite_page_watch(void);
void suite_mr_cache(void);
void suite_share_in_place(void);
void suite_in_place(void);
void suite_settings(void);
void suite_variables(void);
void suite_rank_list(void);
void suite_public_struct(void);
void suite_wait(void);
void suite_lock(void);
void suite_lock_repair(void);
void suite_lock_words(void);
void suite_pipe(void);
void suite_soft_proto(void);
void suite_copy(void);
void suite_copy_pieces(void);
void suite_element(void);
void suite_page_lock(void);
void suite_atomic_mode(void);

/* Suites of perf/. */
void suite_perf_stats(void);
void suite_perf_options(void);

#endif
