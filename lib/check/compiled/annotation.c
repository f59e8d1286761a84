// SPDX-License-Identifier: BSD-2-Clause
/*
 * annotation.c - what programs, or compilers, say to libtsan beside accesses; see tsan.h
 *
 * Fibers are not followed: threads become one strand.
 */
#include "check/compiled/strand.h"
#include "check/compiled/tsan.h"

void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void)
{
}

void __tsan_ignore_thread_begin(void)
{
}

void __tsan_ignore_thread_end(void)
{
}

void __tsan_flush_memory(void)
{
}

void __tsan_acquire(void *address)
{
	strand_acquire(address);
}

void __tsan_release(void *address)
{
	strand_release(address);
}

void __tsan_mutex_create(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_destroy(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_pre_lock(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_post_lock(void *address, unsigned flags, int depth)
{
	strand_acquire(address);
	(void)flags;
	(void)depth;
}

int __tsan_mutex_pre_unlock(void *address, unsigned flags)
{
	strand_release(address);
	(void)flags;
	return 0;
}

void __tsan_mutex_post_unlock(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_pre_signal(void *address, unsigned flags)
{
	strand_release(address);
	(void)flags;
}

void __tsan_mutex_post_signal(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_pre_divert(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void __tsan_mutex_post_divert(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
}

void *__tsan_get_current_fiber(void)
{
	static char fiber;

	return &fiber;
}

void *__tsan_create_fiber(unsigned flags)
{
	static char fiber;

	(void)flags;
	return &fiber;
}

void __tsan_destroy_fiber(void *fiber)
{
	(void)fiber;
}

void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
	strand_merge("__tsan_switch_to_fiber");
	(void)fiber;
	(void)flags;
}

void __tsan_set_fiber_name(void *fiber, const char *name)
{
	(void)fiber;
	(void)name;
}

void *__tsan_external_register_tag(const char *type)
{
	(void)type;
	return NULL;
}

void __tsan_external_register_header(void *tag, const char *header)
{
	(void)tag;
	(void)header;
}

void __tsan_external_assign_tag(void *address, void *tag)
{
	(void)address;
	(void)tag;
}

void __tsan_external_read(void *address, void *site, void *tag)
{
	(void)address;
	(void)site;
	(void)tag;
}

void __tsan_external_write(void *address, void *site, void *tag)
{
	(void)address;
	(void)site;
	(void)tag;
}

/* The strongest order is the only one: see atomic_of.h. */
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	strand_outside();
	if (strand_is_several)
		strand_fence();
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	strand_outside();
}
