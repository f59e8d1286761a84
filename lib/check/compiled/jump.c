// SPDX-License-Identifier: BSD-2-Clause
/* See jump.h. */
#include "check/compiled/jump.h"

#define JUMP_BYTES_MAX 16

struct jump {
	uint8_t code[JUMP_BYTES_MAX];
	size_t bytes; /* 0: there is none */
};

#if defined(__x86_64__) || defined(__aarch64__)

static void add(struct jump *jump, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		jump->code[jump->bytes++] = (uint8_t)(value >> (8 * i));
}

#endif

#if defined(__x86_64__)

/* jmp *0(%rip): to the address that lies behind it. */
static struct jump jump_to(uint64_t from, uint64_t to)
{
	struct jump jump = { .bytes = 0 };

	(void)from;
	add(&jump, 0x25ff, 6);
	add(&jump, to, sizeof(to));
	return jump;
}

#elif defined(__aarch64__)

#define NEAR_BYTES ((uint64_t)1 << 27) /* that a branch reaches in both directions */

/* b TO; or ldr x16, 8; br x16; and the address behind these. */
static struct jump jump_to(uint64_t from, uint64_t to)
{
	struct jump jump = { .bytes = 0 };

	if (to - from + NEAR_BYTES < 2 * NEAR_BYTES) {
		add(&jump, 0x14000000 | ((to - from) >> 2 & 0x3ffffff), 4);
		return jump;
	}
	add(&jump, 0x58000050, 4);
	add(&jump, 0xd61f0200, 4);
	add(&jump, to, sizeof(to));
	return jump;
}

#else

/* The program goes on with its own functions. */
static struct jump jump_to(uint64_t from, uint64_t to)
{
	(void)from;
	(void)to;
	return (struct jump){ .bytes = 0 };
}

#endif

bool jump_write(void *from, size_t bytes, uint64_t to)
{
	struct jump jump = jump_to((uint64_t)(uintptr_t)from, to);
	volatile uint8_t *at = from;

	if (jump.bytes == 0 || jump.bytes > bytes)
		return false;
	for (size_t i = 0; i < jump.bytes; i++)
		at[i] = jump.code[i];
	__builtin___clear_cache(from, (char *)from + jump.bytes);
	return true;
}
