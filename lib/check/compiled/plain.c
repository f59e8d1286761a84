// SPDX-License-Identifier: BSD-2-Clause
/* plain.c - loads and stores; see tsan.h */
#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

/* Another name of a function. */
#define ALSO(of, name) extern __typeof__(of) name __attribute__((alias(#of), visibility("default")))

void __tsan_read1(const volatile void *memory)
{
	watch_access(HERE, memory, 1, KIND_LOAD);
}

void __tsan_read2(const volatile void *memory)
{
	watch_access(HERE, memory, 2, KIND_LOAD);
}
ALSO(__tsan_read2, __tsan_unaligned_read2);

void __tsan_read4(const volatile void *memory)
{
	watch_access(HERE, memory, 4, KIND_LOAD);
}
ALSO(__tsan_read4, __tsan_unaligned_read4);

void __tsan_read8(const volatile void *memory)
{
	watch_access(HERE, memory, 8, KIND_LOAD);
}
ALSO(__tsan_read8, __tsan_unaligned_read8);

void __tsan_read16(const volatile void *memory)
{
	watch_access(HERE, memory, 16, KIND_LOAD);
}
ALSO(__tsan_read16, __tsan_unaligned_read16);

void __tsan_write1(const volatile void *memory)
{
	watch_access(HERE, memory, 1, KIND_STORE);
}

void __tsan_write2(const volatile void *memory)
{
	watch_access(HERE, memory, 2, KIND_STORE);
}
ALSO(__tsan_write2, __tsan_unaligned_write2);

void __tsan_write4(const volatile void *memory)
{
	watch_access(HERE, memory, 4, KIND_STORE);
}
ALSO(__tsan_write4, __tsan_unaligned_write4);

void __tsan_write8(const volatile void *memory)
{
	watch_access(HERE, memory, 8, KIND_STORE);
}
ALSO(__tsan_write8, __tsan_unaligned_write8);

void __tsan_write16(const volatile void *memory)
{
	watch_access(HERE, memory, 16, KIND_STORE);
}
ALSO(__tsan_write16, __tsan_unaligned_write16);

void __tsan_read_write1(const volatile void *memory)
{
	watch_access(HERE, memory, 1, KIND_LOAD);
	watch_access(HERE, memory, 1, KIND_STORE);
}

void __tsan_read_write2(const volatile void *memory)
{
	watch_access(HERE, memory, 2, KIND_LOAD);
	watch_access(HERE, memory, 2, KIND_STORE);
}
ALSO(__tsan_read_write2, __tsan_unaligned_read_write2);

void __tsan_read_write4(const volatile void *memory)
{
	watch_access(HERE, memory, 4, KIND_LOAD);
	watch_access(HERE, memory, 4, KIND_STORE);
}
ALSO(__tsan_read_write4, __tsan_unaligned_read_write4);

void __tsan_read_write8(const volatile void *memory)
{
	watch_access(HERE, memory, 8, KIND_LOAD);
	watch_access(HERE, memory, 8, KIND_STORE);
}
ALSO(__tsan_read_write8, __tsan_unaligned_read_write8);

void __tsan_read_write16(const volatile void *memory)
{
	watch_access(HERE, memory, 16, KIND_LOAD);
	watch_access(HERE, memory, 16, KIND_STORE);
}
ALSO(__tsan_read_write16, __tsan_unaligned_read_write16);

void __tsan_read_range(const volatile void *memory, size_t bytes)
{
	watch_range(HERE, "load", (const void *)(uintptr_t)memory, bytes, KIND_LOAD);
}

void __tsan_write_range(const volatile void *memory, size_t bytes)
{
	watch_range(HERE, "store", (const void *)(uintptr_t)memory, bytes, KIND_STORE);
}

void __tsan_read1_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 1, KIND_LOAD);
}

void __tsan_read2_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 2, KIND_LOAD);
}

void __tsan_read4_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 4, KIND_LOAD);
}

void __tsan_read8_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 8, KIND_LOAD);
}

void __tsan_read16_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 16, KIND_LOAD);
}

void __tsan_write1_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 1, KIND_STORE);
}

void __tsan_write2_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 2, KIND_STORE);
}

void __tsan_write4_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 4, KIND_STORE);
}

void __tsan_write8_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 8, KIND_STORE);
}

void __tsan_write16_pc(const volatile void *memory, const void *site)
{
	watch_access(site, memory, 16, KIND_STORE);
}

void __tsan_read_range_pc(const volatile void *memory, size_t bytes, const void *site)
{
	watch_range(site, "load", (const void *)(uintptr_t)memory, bytes, KIND_LOAD);
}

void __tsan_write_range_pc(const volatile void *memory, size_t bytes, const void *site)
{
	watch_range(site, "store", (const void *)(uintptr_t)memory, bytes, KIND_STORE);
}

/* ---- of volatile objects, by which programs poll ---- */

void __tsan_volatile_read1(const volatile void *memory)
{
	watch_atomic(HERE, memory, 1, KIND_ATOMIC_LOAD, __ATOMIC_SEQ_CST);
}

void __tsan_volatile_read2(const volatile void *memory)
{
	watch_atomic(HERE, memory, 2, KIND_ATOMIC_LOAD, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_read2, __tsan_unaligned_volatile_read2);

void __tsan_volatile_read4(const volatile void *memory)
{
	watch_atomic(HERE, memory, 4, KIND_ATOMIC_LOAD, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_read4, __tsan_unaligned_volatile_read4);

void __tsan_volatile_read8(const volatile void *memory)
{
	watch_atomic(HERE, memory, 8, KIND_ATOMIC_LOAD, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_read8, __tsan_unaligned_volatile_read8);

void __tsan_volatile_read16(const volatile void *memory)
{
	watch_atomic(HERE, memory, 16, KIND_ATOMIC_LOAD, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_read16, __tsan_unaligned_volatile_read16);

void __tsan_volatile_write1(const volatile void *memory)
{
	watch_atomic(HERE, memory, 1, KIND_ATOMIC_STORE, __ATOMIC_SEQ_CST);
}

void __tsan_volatile_write2(const volatile void *memory)
{
	watch_atomic(HERE, memory, 2, KIND_ATOMIC_STORE, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_write2, __tsan_unaligned_volatile_write2);

void __tsan_volatile_write4(const volatile void *memory)
{
	watch_atomic(HERE, memory, 4, KIND_ATOMIC_STORE, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_write4, __tsan_unaligned_volatile_write4);

void __tsan_volatile_write8(const volatile void *memory)
{
	watch_atomic(HERE, memory, 8, KIND_ATOMIC_STORE, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_write8, __tsan_unaligned_volatile_write8);

void __tsan_volatile_write16(const volatile void *memory)
{
	watch_atomic(HERE, memory, 16, KIND_ATOMIC_STORE, __ATOMIC_SEQ_CST);
}
ALSO(__tsan_volatile_write16, __tsan_unaligned_volatile_write16);

/* ---- tables of virtual functions ---- */

void __tsan_vptr_read(const volatile void *memory)
{
	watch_access(HERE, memory, sizeof(void *), KIND_LOAD);
}

void __tsan_vptr_update(const volatile void *memory, const void *value)
{
	(void)value;
	watch_access(HERE, memory, sizeof(void *), KIND_STORE);
}
