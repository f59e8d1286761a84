// SPDX-License-Identifier: BSD-2-Clause
/*
 * runtime.c - the compiler's runtime, where it is in the program itself; see watch.h
 *
 * `clang -fsanitize=thread` links it into the program. Its functions have the names of those of
 * this library, and come before them. So before main, a jump to the function here takes the place
 * of the first instructions there. The runtime keeps what begins and ends threads, since it has a
 * state for each of them: it calls the functions behind it, which are those here.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check/symbols.h"
#include "check/compiled/jump.h"
#include "check/compiled/tsan.h"
#include "check/compiled/watch.h"

/* Functions begin at multiples of it. */
#if defined(__x86_64__)
#define FUNCTION_BYTES 16u
#else
#define FUNCTION_BYTES 4u
#endif

static const char *const kept[] = { "pthread_create", "pthread_join", "pthread_tryjoin_np", "pthread_timedjoin_np",
	                                "pthread_clockjoin_np" };

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		if (strcmp(name, kept[i]) == 0)
			return true;
	}
	return false;
}

/* Returns how many bytes of a file's function there are until the next one may begin. */
static size_t room_of(const struct symbols *symbols, const void *function)
{
	const uint64_t value = (uint64_t)(uintptr_t)function - symbols->base;
	const ElfW(Sym) *symbol = symbols->list, *end = symbols->list + symbols->count;

	while (symbol < end && (symbol->st_shndx == SHN_UNDEF || symbol->st_value != value))
		symbol++;
	if (symbol == end || (uintptr_t)function % FUNCTION_BYTES)
		return 0;
	return symbol->st_size ? (symbol->st_size + FUNCTION_BYTES - 1) / FUNCTION_BYTES * FUNCTION_BYTES : FUNCTION_BYTES;
}

/* Lets the code of a file be written to, or not. */
static bool open_code(const struct dl_phdr_info *info, int protection)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	bool is_open = true;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t first = (info->dlpi_addr + header->p_vaddr) & ~(page - 1);
		uint64_t end = info->dlpi_addr + header->p_vaddr + header->p_memsz;

		if (header->p_type == PT_LOAD && header->p_flags & PF_X)
			is_open &= mprotect((void *)(uintptr_t)first, end - first, protection) == 0;
	}
	return is_open;
}

/* This library, whose functions take the place of others, and the file that has those. */
struct places {
	struct symbols own;
	struct dl_phdr_info other;
};

static void redirect_all(const struct places *places)
{
	const struct symbols *own = &places->own, other = symbols_of(&places->other);

	for (uint32_t i = 0; i < own->count; i++) {
		const ElfW(Sym) *symbol = &own->list[i];
		const char *name = own->names + symbol->st_name;
		void *first;

		if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || is_kept(name))
			continue;
		first = dlsym(RTLD_DEFAULT, name);
		if (symbols_lie_in(&places->other, first))
			jump_write(first, room_of(&other, first), own->base + symbol->st_value);
	}
}

static int find_places(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	struct places *places = arg;

	(void)size_bytes;
	if (symbols_lie_in(info, (const void *)(uintptr_t)runtime_take))
		places->own = symbols_of(info);
	if (symbols_lie_in(info, dlsym(RTLD_DEFAULT, "__tsan_init")))
		places->other = *info;
	return 0;
}

bool runtime_is_inside;

/* The address of this library's function by its own name may be that of the program's. */
static bool is_inside(void)
{
	Dl_info found, own;
	const void *init = dlsym(RTLD_DEFAULT, "__tsan_init");

	return init && dladdr(init, &found) && dladdr((const void *)(uintptr_t)runtime_take, &own) &&
	       found.dli_fbase != own.dli_fbase;
}

/* The runtime wants both. */
static void note_malloc(const volatile void *memory, size_t bytes)
{
	(void)memory;
	(void)bytes;
}

static void note_free(const volatile void *memory)
{
	watch_freed((const void *)(uintptr_t)memory);
}

/* The front does not see what the runtime frees. */
static void follow_free(void)
{
	int (*install)(void (*allocated)(const volatile void *, size_t), void (*freed)(const volatile void *));
	void *found = dlsym(RTLD_DEFAULT, "__sanitizer_install_malloc_and_free_hooks");

	memcpy(&install, &found, sizeof(found));
	if (install)
		install(note_malloc, note_free);
}

void runtime_take(void)
{
	struct places places = { 0 };

	runtime_is_inside = is_inside();
	if (!runtime_is_inside)
		return;
	dl_iterate_phdr(find_places, &places);
	if (open_code(&places.other, PROT_READ | PROT_WRITE | PROT_EXEC))
		redirect_all(&places);
	open_code(&places.other, PROT_READ | PROT_EXEC);
	follow_free();
}
