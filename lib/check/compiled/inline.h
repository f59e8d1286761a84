/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inline.h - what code that was compiled with the options of oriel-check --cflags calls; see
 * inline.c
 *
 * These options include it in each source. The functions keep all registers, so that the code holds
 * its values there; and the calls are rare, so that they stand behind the code. The compiler knows
 * it by declarations that are in use. The dynamic linker's stubs would not keep the registers at
 * the first call: the options have the code call without them (-fno-plt).
 */
#pragma GCC system_header

#ifdef __cplusplus
extern "C" {
#endif
#define ORIEL_REPORT __attribute__((cold, no_caller_saved_registers, visibility("default")))
ORIEL_REPORT void __asan_report_load1_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_load2_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_load4_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_load8_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_load16_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_load_n_noabort(unsigned long address, unsigned long bytes);
ORIEL_REPORT void __asan_report_store1_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_store2_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_store4_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_store8_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_store16_noabort(unsigned long address);
ORIEL_REPORT void __asan_report_store_n_noabort(unsigned long address, unsigned long bytes);
#ifdef __cplusplus
}
#endif

static void *const oriel_reports[] __attribute__((used)) = {
	(void *)__asan_report_load1_noabort,  (void *)__asan_report_load2_noabort,   (void *)__asan_report_load4_noabort,
	(void *)__asan_report_load8_noabort,  (void *)__asan_report_load16_noabort,  (void *)__asan_report_load_n_noabort,
	(void *)__asan_report_store1_noabort, (void *)__asan_report_store2_noabort,  (void *)__asan_report_store4_noabort,
	(void *)__asan_report_store8_noabort, (void *)__asan_report_store16_noabort, (void *)__asan_report_store_n_noabort
};
