// SPDX-License-Identifier: BSD-2-Clause
/* steps.c - see steps.h. */
#include "bench/steps.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

static struct steps counted;
static _Thread_local volatile bool stepping; /* this thread has the trap flag */

#ifdef __x86_64__

static uintptr_t last; /* address of the previous step */

static bool is_system_call(uintptr_t at)
{
	const uint8_t *code = (const uint8_t *)at;

	return code[0] == 0x0f && code[1] == 0x05;
}

static void count_step(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *thread = context;
	uintptr_t at = (uintptr_t)thread->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)info;
	if (at == last) /* a string instruction that continues */
		return;
	last = at;
	counted.instructions++;
	if (is_system_call(at))
		counted.system_calls++;
}

/* Skips the red zone: a leaf function may use the stack below the pointer. */
static inline void set_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
	                     : "memory", "cc");
}

static inline void clear_trap_flag(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; lea 128(%%rsp), %%rsp" ::
	                     : "memory", "cc");
}

bool steps_possible(void)
{
	return true;
}

static void catch_steps(void)
{
	struct sigaction action = { .sa_sigaction = count_step, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
}

#else

static void catch_steps(void)
{
}

static inline void set_trap_flag(void)
{
}

static inline void clear_trap_flag(void)
{
}

bool steps_possible(void)
{
	return false;
}

#endif

void steps_begin(void)
{
	catch_steps();
	counted = (struct steps){ 0 };
	steps_resume(true);
}

struct steps steps_end(void)
{
	steps_pause();
	return counted;
}

bool steps_pause(void)
{
	bool counting = stepping;

	if (counting)
		clear_trap_flag();
	stepping = false;
	return counting;
}

void steps_resume(bool counting)
{
	stepping = counting;
	if (counting)
		set_trap_flag();
}
