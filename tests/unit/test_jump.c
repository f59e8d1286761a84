// SPDX-License-Identifier: BSD-2-Clause
/* test_jump.c - lib/check/compiled/jump.c: functions whose code is replaced by a jump */
#include "check/compiled/jump.h"
#include "suites.h"

#include <CUnit/CUnit.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 65536u /* at least */
#define ROOM 64u
#define FAR_BYTES ((uintptr_t)1 << 33) /* more than a branch reaches */
#define FIRST 11
#define SECOND 22

typedef int function(void);

/* Writes a function that returns the value, which is less than 65536. */
static void write_function(uint8_t *at, uint32_t value)
{
#if defined(__x86_64__)
	const uint8_t code[] = { 0xb8, (uint8_t)value, (uint8_t)(value >> 8), 0, 0, 0xc3 };
#elif defined(__aarch64__)
	const uint32_t code[] = { 0x52800000 | value << 5, 0xd65f03c0 };
#else
	const uint8_t code[] = { (uint8_t)value };
#endif
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache((char *)at, (char *)at + sizeof(code));
}

static int call(const uint8_t *at)
{
	function *called;

	memcpy(&called, &at, sizeof(called));
	return called();
}

static uint8_t *map_code(uintptr_t near)
{
	void *code = mmap((void *)near, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_NOT_EQUAL_FATAL(code, MAP_FAILED);
	return code;
}

/* The function at `from` becomes the one at `to`. */
static void check(uint8_t *from, uint8_t *to)
{
	write_function(from, FIRST);
	write_function(to, SECOND);
	CU_ASSERT_EQUAL(call(from), FIRST);
	CU_ASSERT_TRUE(jump_write(from, ROOM, (uintptr_t)to));
	CU_ASSERT_EQUAL(call(from), SECOND);
	CU_ASSERT_EQUAL(call(to), SECOND);
}

static void jump__reaches_what_is_near(void)
{
	uint8_t *code = map_code(0);

	check(code, code + ROOM);
	check(code + 3 * ROOM, code + 2 * ROOM); /* backwards */
	munmap(code, PAGE_BYTES);
}

static void jump__reaches_what_is_far(void)
{
	uint8_t *high = map_code(0), *low = map_code((uintptr_t)high - FAR_BYTES);

	CU_ASSERT_TRUE_FATAL((uintptr_t)(high - low) >= FAR_BYTES / 2);
	check(low, high);
	check(high + ROOM, low + ROOM);
	check(low + 2 * ROOM + 4, high + 2 * ROOM + 4); /* not at a multiple of 8 */
	munmap(high, PAGE_BYTES);
	munmap(low, PAGE_BYTES);
}

/* Between the last address that a branch of AArch64 reaches, and the first that it does not. */
static void jump__reaches_the_ends_of_a_branch(void)
{
	const uintptr_t branch_bytes = (uintptr_t)1 << 27;
	uint8_t *high = map_code(0), *low = map_code((uintptr_t)high - branch_bytes);

	if ((uintptr_t)(high - low) == branch_bytes) { /* an emulator may place memory elsewhere */
		check(low + ROOM, high);
		check(low + 2 * ROOM, high + 2 * ROOM);
		check(low + 3 * ROOM, high + 4 * ROOM);
		check(high + 5 * ROOM, low + 6 * ROOM);
		check(high + 7 * ROOM, low + 7 * ROOM);
		check(high + 9 * ROOM, low + 8 * ROOM);
	}
	munmap(high, PAGE_BYTES);
	munmap(low, PAGE_BYTES);
}

static void jump__leaves_what_is_too_short(void)
{
	uint8_t *high = map_code(0), *low = map_code((uintptr_t)high - FAR_BYTES);

	write_function(low, FIRST);
	write_function(high, SECOND);
	CU_ASSERT_FALSE(jump_write(low, 8, (uintptr_t)high));
	CU_ASSERT_EQUAL(call(low), FIRST);
	munmap(high, PAGE_BYTES);
	munmap(low, PAGE_BYTES);
}

void suite_jump(void)
{
	CU_pSuite suite = CU_add_suite("jump", NULL, NULL);

#if defined(__x86_64__) || defined(__aarch64__)
	CU_ADD_TEST(suite, jump__reaches_what_is_near);
	CU_ADD_TEST(suite, jump__reaches_what_is_far);
	CU_ADD_TEST(suite, jump__reaches_the_ends_of_a_branch);
	CU_ADD_TEST(suite, jump__leaves_what_is_too_short);
#else
	(void)suite;
#endif
}
