// SPDX-License-Identifier: BSD-2-Clause
/*
 * inline.c - loads and stores of code that finds out by itself what is watched; see watch.h
 *
 * clang's sanitizer of kernel addresses, with the options of oriel-check --cflags, has the code
 * look at a byte before each load and store: 8 bytes of memory have one, at an eighth of their
 * address behind SHADOW. Where it is not 0, the code calls a function of this file. It is negative
 * if the page of the memory is watched, or one beside it, so that each access of watched bytes
 * calls, of any size. Atomics are calls of clang's sanitizer of threads, as in other recompiled
 * code.
 *
 * Programs are linked with the library that has this file. So its constructor comes before theirs,
 * whether the checker is there or not.
 *
 * The functions keep all registers (inline.h). The compiler saves the general ones. This file, and
 * what it calls for most accesses, is compiled for general registers only. Where other code has to
 * be called, such as the front's, `add_by_calls` saves the other registers, which takes longer than
 * all the rest.
 */
#include "check/compiled/watch.h"

#if defined(__x86_64__)
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/compiled/inline.h"

#define SHADOW 0x7fff8000ULL      /* also in lib.mk */
#define SHADOW_BYTES (1ULL << 44) /* addresses of programs have 47 bits */
#define PAGE_BYTES (1ULL << PAGE_SHIFT)
#define WORDS_OF_PAGE (PAGE_BYTES / 8 / sizeof(uint64_t))

static uint64_t changes; /* of the bytes behind SHADOW */

static void set_page(uint64_t page)
{
	uint64_t value = cells_of(page - PAGE_BYTES) || cells_of(page) || cells_of(page + PAGE_BYTES) ? UINT64_MAX : 0;
	volatile uint64_t *words = (volatile uint64_t *)(uintptr_t)(SHADOW + (page >> 3));

	for (size_t i = 0; i < WORDS_OF_PAGE && words[i] != value; i++)
		words[i] = value;
}

static void page_changed(uint64_t page)
{
	__atomic_add_fetch(&changes, 1, __ATOMIC_RELAXED);
	set_page(page - PAGE_BYTES);
	set_page(page);
	set_page(page + PAGE_BYTES);
}

__attribute__((constructor)) static void map_shadow(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	void *first = (void *)(uintptr_t)SHADOW;

	if (mmap(first, SHADOW_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) != first) {
		fprintf(stderr, "liboriel-inline.so: 16 TiB of addresses from 0x%llx on cannot be reserved: %s\n", SHADOW,
		        strerror(errno));
		_exit(1);
	}
	madvise(first, SHADOW_BYTES, MADV_DONTDUMP);
	watch_changed = page_changed;
}

/* ---- accesses ---- */

#define STATE_BYTES 2752 /* of the parts below, and a header */
#define STATE_HEADER 512
#define STATE_PARTS 0xe7 /* x87, SSE, AVX and AVX-512 */
#define KEEPS_GENERAL __attribute__((noinline, no_caller_saved_registers))

/* Adds an access, with the vector registers kept. */
static __attribute__((noinline, target("xsave"))) void add_by_calls(const void *site, uint64_t first, uint32_t bytes,
                                                                    enum compiled_kind kind)
{
	_Alignas(64) char state[STATE_BYTES];

	for (size_t i = 0; i < 64 / sizeof(uint64_t); i++)
		((volatile uint64_t *)(void *)(state + STATE_HEADER))[i] = 0;
	__builtin_ia32_xsave64(state, STATE_PARTS);
	watch_element(site, first, bytes, kind);
	__builtin_ia32_xrstor64(state, STATE_PARTS);
}

static KEEPS_GENERAL void add(const void *site, uint64_t first, uint32_t bytes, enum compiled_kind kind)
{
	if (!watch_without_calls(site, first, bytes, kind))
		add_by_calls(site, first, bytes, kind);
}

static inline void look_at(const void *site, uint64_t first, uint64_t bytes, enum compiled_kind kind)
{
	if (!watch_has(first, first + bytes, kind))
		add(site, first, (uint32_t)bytes, kind);
}

/*
 * Of an access that is not aligned, or has another size, the code reports the first byte and then
 * the last one, with the same size. Less than a page lies between the two. So if one is reported
 * without the other, the access is of none that is watched.
 */
static _Thread_local struct {
	uint64_t first, bytes, changes;
	enum compiled_kind kind;
} begun __attribute__((tls_model("initial-exec")));

static inline void look_at_end(const void *site, uint64_t at, uint64_t bytes, enum compiled_kind kind)
{
	uint64_t now = __atomic_load_n(&changes, __ATOMIC_RELAXED);

	if (begun.bytes == bytes && begun.first + bytes - 1 == at && begun.kind == kind && begun.changes == now &&
	    bytes <= PAGE_BYTES / 2) {
		begun.bytes = 0;
		look_at(site, at + 1 - bytes, bytes, kind);
		return;
	}
	begun.first = at;
	begun.bytes = bytes;
	begun.changes = now;
	begun.kind = kind;
}

/* ---- what the code calls ---- */

void __asan_report_load1_noabort(unsigned long address)
{
	look_at(HERE, address, 1, KIND_LOAD);
}

void __asan_report_load2_noabort(unsigned long address)
{
	look_at(HERE, address, 2, KIND_LOAD);
}

void __asan_report_load4_noabort(unsigned long address)
{
	look_at(HERE, address, 4, KIND_LOAD);
}

void __asan_report_load8_noabort(unsigned long address)
{
	look_at(HERE, address, 8, KIND_LOAD);
}

void __asan_report_load16_noabort(unsigned long address)
{
	look_at(HERE, address, 16, KIND_LOAD);
}

void __asan_report_load_n_noabort(unsigned long address, unsigned long bytes)
{
	look_at_end(HERE, address, bytes, KIND_LOAD);
}

void __asan_report_store1_noabort(unsigned long address)
{
	look_at(HERE, address, 1, KIND_STORE);
}

void __asan_report_store2_noabort(unsigned long address)
{
	look_at(HERE, address, 2, KIND_STORE);
}

void __asan_report_store4_noabort(unsigned long address)
{
	look_at(HERE, address, 4, KIND_STORE);
}

void __asan_report_store8_noabort(unsigned long address)
{
	look_at(HERE, address, 8, KIND_STORE);
}

void __asan_report_store16_noabort(unsigned long address)
{
	look_at(HERE, address, 16, KIND_STORE);
}

void __asan_report_store_n_noabort(unsigned long address, unsigned long bytes)
{
	look_at_end(HERE, address, bytes, KIND_STORE);
}

/* Before functions that do not return. */
__attribute__((visibility("default"))) void __asan_handle_no_return(void);

void __asan_handle_no_return(void)
{
}
#endif
