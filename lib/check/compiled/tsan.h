/* SPDX-License-Identifier: BSD-2-Clause */
/* tsan.h - the functions of libtsan that compilers call; see compiled.h */
#ifndef ORIEL_CHECK_TSAN_H
#define ORIEL_CHECK_TSAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void __tsan_flush_memory(void);

/* ---- loads and stores ---- */

void __tsan_read1(const volatile void *memory);
void __tsan_read2(const volatile void *memory);
void __tsan_read4(const volatile void *memory);
void __tsan_read8(const volatile void *memory);
void __tsan_read16(const volatile void *memory);
void __tsan_write1(const volatile void *memory);
void __tsan_write2(const volatile void *memory);
void __tsan_write4(const volatile void *memory);
void __tsan_write8(const volatile void *memory);
void __tsan_write16(const volatile void *memory);
void __tsan_read_range(const volatile void *memory, size_t bytes);
void __tsan_write_range(const volatile void *memory, size_t bytes);
void __tsan_read1_pc(const volatile void *memory, const void *site);
void __tsan_read2_pc(const volatile void *memory, const void *site);
void __tsan_read4_pc(const volatile void *memory, const void *site);
void __tsan_read8_pc(const volatile void *memory, const void *site);
void __tsan_read16_pc(const volatile void *memory, const void *site);
void __tsan_write1_pc(const volatile void *memory, const void *site);
void __tsan_write2_pc(const volatile void *memory, const void *site);
void __tsan_write4_pc(const volatile void *memory, const void *site);
void __tsan_write8_pc(const volatile void *memory, const void *site);
void __tsan_write16_pc(const volatile void *memory, const void *site);
void __tsan_read_range_pc(const volatile void *memory, size_t bytes, const void *site);
void __tsan_write_range_pc(const volatile void *memory, size_t bytes, const void *site);
void __tsan_read_write1(const volatile void *memory);
void __tsan_read_write2(const volatile void *memory);
void __tsan_read_write4(const volatile void *memory);
void __tsan_read_write8(const volatile void *memory);
void __tsan_read_write16(const volatile void *memory);
void __tsan_vptr_read(const volatile void *memory);
void __tsan_vptr_update(const volatile void *memory, const void *value);

/* Compilers that tell those of volatile objects apart. */
void __tsan_volatile_read1(const volatile void *memory);
void __tsan_volatile_read2(const volatile void *memory);
void __tsan_volatile_read4(const volatile void *memory);
void __tsan_volatile_read8(const volatile void *memory);
void __tsan_volatile_read16(const volatile void *memory);
void __tsan_volatile_write1(const volatile void *memory);
void __tsan_volatile_write2(const volatile void *memory);
void __tsan_volatile_write4(const volatile void *memory);
void __tsan_volatile_write8(const volatile void *memory);
void __tsan_volatile_write16(const volatile void *memory);

/* ---- functions of memory, in place of the C library's ---- */

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *memory, int byte, size_t bytes);

/* ---- atomics; atomic_of.h has those of each size ---- */

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);

/* ---- what programs tell libtsan by themselves ---- */

void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_mutex_create(void *address, unsigned flags);
void __tsan_mutex_destroy(void *address, unsigned flags);
void __tsan_mutex_pre_lock(void *address, unsigned flags);
void __tsan_mutex_post_lock(void *address, unsigned flags, int depth);
int __tsan_mutex_pre_unlock(void *address, unsigned flags);
void __tsan_mutex_post_unlock(void *address, unsigned flags);
void __tsan_mutex_pre_signal(void *address, unsigned flags);
void __tsan_mutex_post_signal(void *address, unsigned flags);
void __tsan_mutex_pre_divert(void *address, unsigned flags);
void __tsan_mutex_post_divert(void *address, unsigned flags);
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);
void *__tsan_external_register_tag(const char *type);
void __tsan_external_register_header(void *tag, const char *header);
void __tsan_external_assign_tag(void *address, void *tag);
void __tsan_external_read(void *address, void *site, void *tag);
void __tsan_external_write(void *address, void *site, void *tag);

#pragma GCC visibility pop

#endif
