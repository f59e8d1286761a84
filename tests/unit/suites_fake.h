// SPDX-License-Identifier: BSD-2-Clause
/* suites_fake.h - suites that run over the fake device; main_fake.c runs them all. */
#ifndef ORIEL_TESTS_SUITES_FAKE_H
#define ORIEL_TESTS_SUITES_FAKE_H

void suite_provider(void);
void suite_wire(void);
void suite_coll(void);
void suite_conn(void);
void suite_goodbye(void);
void suite_mixed(void);
void suite_fence(void);
void suite_modes(void);
void suite_atomics_peer(void);
void suite_am(void);
void suite_acc_device(void);
void suite_lock(void);
void suite_lock_cost(void);
void suite_hand_over(void);
void suite_signal(void);
void suite_dynamic(void);
void suite_window_cache(void);
void suite_mr_cache(void);
void suite_sweep(void);
void suite_sweep_mixed(void);

#endif
