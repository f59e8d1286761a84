// SPDX-License-Identifier: BSD-2-Clause
/*
 * fault.c - faults of aliases, whose code has made them, and what it has accessed; see pages.h
 *
 * DESIGN NOTES
 *
 * This library's handler stays installed. A handler that the program installs is stored, and called
 * for other faults.
 *
 * A load may be wider than what the source names. Compilers join neighbours of at most 8 bytes, and
 * load whole vectors, beginning with an element that the source names. Where the vector begins on
 * the page before, any byte of it may be the element. Functions of text load aligned vectors around
 * the text. Vectors with masks, in loads and stores, may leave out any element.
 */
#include "check/code.h"
#include "check/pages/pages.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define JOINED_BYTES 8
#define VECTOR_BYTES 64
#define FAULT_OF_STORE 2  /* bits of the error of a page fault */
#define FAULT_OF_FETCH 16 /* of an instruction */

#define CALLS(X) X(sigaction) X(signal) X(sigprocmask) X(pthread_sigmask)

#include "check/pages/next.h"

static struct sigaction program_action; /* which the program has set for SIGSEGV */
static bool is_handling;
static pthread_mutex_t handling = PTHREAD_MUTEX_INITIALIZER;

/* ---- code ---- */

static struct codes program, c_library;

/* Returns whether the library is of an MPI, or of Oriel. */
static bool is_of_mpi(const char *name)
{
	static const char *const names[] = { "libmpi", "liboriel", "libopen-", "libompi", "libfmpi", "mca_", "libpmpi" };

	return library_is_one_of(name, names, sizeof(names) / sizeof(names[0]));
}

static int take_library(struct dl_phdr_info *info, size_t size_bytes, void *arg)
{
	static const char *const c_names[] = { "libc.so.", "libc-2." };
	bool *is_behind_first = arg; /* which is the program itself */

	(void)size_bytes;
	if (library_is_one_of(info->dlpi_name, c_names, sizeof(c_names) / sizeof(c_names[0])))
		codes_add(&c_library, info);
	else if (!*is_behind_first || (!is_of_mpi(info->dlpi_name) && library_needs(info, is_of_mpi)))
		codes_add(&program, info);
	*is_behind_first = true;
	return 0;
}

void code_find(void)
{
	bool is_behind_first = false;

	program.count = c_library.count = 0;
	dl_iterate_phdr(take_library, &is_behind_first);
}

/* Returns whether the bytes before this address, which is of the program, are a call. */
static bool is_behind_call(const uint8_t *code)
{
	return code[-5] == 0xe8 || (code[-6] == 0xff && code[-5] == 0x15) ||
	       (code[-2] == 0xff && (code[-1] & 0xf8) == 0xd0);
}

/* Returns whether the instruction is of a vector with a mask, or saves registers. */
static bool has_mask(const uint8_t *code)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65 };

	for (int i = 0; i < 14 && memchr(prefixes, *code, sizeof(prefixes)); i++)
		code++;
	if ((*code & 0xf0) == 0x40)
		code++;
	if (code[0] == 0x0f)
		return code[1] == 0xf7 || code[1] == 0xae || code[1] == 0xc7;
	if (code[0] == 0xc5)
		return code[2] == 0xf7;
	if (code[0] == 0xc4)
		return code[3] == 0xf7 ||
		       ((code[1] & 0x1f) == 2 && ((code[3] & 0xfc) == 0x2c || code[3] >> 4 == 8 || code[3] >> 4 == 9));
	return code[0] == 0x62 && code[3] & 7;
}

bool fault_describe(const struct fault *fault, bool follows, struct compiled_run *run)
{
	const uint8_t *place = codes_have(&program, fault->instruction) ? fault->instruction : NULL;
	bool is_whole = place && !has_mask(place);
	uint64_t first = fault->address, end = fault->address + VECTOR_BYTES;

	if (!place && codes_have(&c_library, fault->instruction))
		place = (const uint8_t *)(uintptr_t)*fault->stack - 1;
	if (!place || !codes_have(&program, place) || (place != fault->instruction && !is_behind_call(place + 1)))
		return false;
	if (is_whole && !fault->is_store)
		first &= ~(uint64_t)(JOINED_BYTES - 1);
	if (is_whole)
		end = first + (fault->is_store ? 1 : JOINED_BYTES);
	if (follows && fault->address % PAGE_BYTES == 0 && !(is_whole && fault->is_store))
		first -= VECTOR_BYTES;
	*run = (struct compiled_run){ .site = place + 1,
		                          .call = fault->is_store ? "store" : "load",
		                          .first = first,
		                          .bytes = (uint32_t)(end - first),
		                          .stride = (uint32_t)(end - first),
		                          .count = 1,
		                          .rows = 1,
		                          .kind = fault->is_store ? KIND_TOUCH_STORE : KIND_TOUCH_LOAD };
	return true;
}

/* ---- the handler ---- */

/* The program's handler may jump away. */
static void call_program(int signal, siginfo_t *info, ucontext_t *context)
{
	const struct sigaction action = program_action;
	sigset_t mask = action.sa_mask;

	if (action.sa_flags & (int)SA_RESETHAND)
		program_action.sa_handler = SIG_DFL;
	sigorset(&mask, &mask, &context->uc_sigmask);
	sigdelset(&mask, SIGSEGV);
	next()->pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, info, context);
	else
		action.sa_handler(signal);
}

/* Without a handler of the program the process ends, as the instruction is repeated. */
static void pass_on(int signal, siginfo_t *info, ucontext_t *context)
{
	const struct sigaction none = { .sa_handler = SIG_DFL };

	if (!(program_action.sa_flags & SA_SIGINFO) && program_action.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	if (!(program_action.sa_flags & SA_SIGINFO) &&
	    (program_action.sa_handler == SIG_DFL || program_action.sa_handler == SIG_IGN)) {
		next()->sigaction(signal, &none, NULL);
		if (info->si_code <= 0)
			raise(signal);
		return;
	}
	call_program(signal, info, context);
}

static void on_fault(int signal, siginfo_t *info, void *arg)
{
	ucontext_t *context = arg;
	int error = errno;
	bool is_opened = false;
#ifdef __x86_64__
	const greg_t *registers = context->uc_mcontext.gregs;
	struct fault fault = { .address = (uint64_t)(uintptr_t)info->si_addr,
		                   .instruction = (const uint8_t *)registers[REG_RIP],
		                   .stack = (const uint64_t *)registers[REG_RSP],
		                   .is_store = registers[REG_ERR] & FAULT_OF_STORE };

	is_opened = info->si_code == SEGV_ACCERR && !(registers[REG_ERR] & FAULT_OF_FETCH) && region_open(&fault);
#endif
	if (!is_opened)
		pass_on(signal, info, context);
	errno = error;
}

static bool install(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
	sigset_t faults;

	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGSEGV);
	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	next()->pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
	return next()->sigaction(SIGSEGV, &action, &program_action) == 0;
}

bool faults_begin(void)
{
	pthread_mutex_lock(&handling);
	if (!is_handling)
		__atomic_store_n(&is_handling, install(), __ATOMIC_RELEASE);
	pthread_mutex_unlock(&handling);
	return is_handling;
}

/* ---- in front of the C library ---- */

#pragma GCC visibility push(default)

static bool is_ours(int signal)
{
	return signal == SIGSEGV && __atomic_load_n(&is_handling, __ATOMIC_ACQUIRE);
}

/* A fault of an alias in a handler must find SIGSEGV not blocked. */
int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction changed, before;

	if (is_ours(signal)) {
		before = program_action;
		if (action)
			program_action = *action;
		if (old)
			*old = before;
		return 0;
	}
	if (!action)
		return next()->sigaction(signal, action, old);
	changed = *action;
	sigdelset(&changed.sa_mask, SIGSEGV);
	return next()->sigaction(signal, &changed, old);
}

sighandler_t signal(int signal, sighandler_t handler)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;

	if (!is_ours(signal))
		return next()->signal(signal, handler);
	sigaction(signal, &action, &old);
	return old.sa_handler;
}

/* Returns a set without SIGSEGV, if it is one that blocks. */
static const sigset_t *without_faults(int how, const sigset_t *set, sigset_t *changed)
{
	if (!set || how == SIG_UNBLOCK)
		return set;
	*changed = *set;
	sigdelset(changed, SIGSEGV);
	return changed;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t changed;

	return next()->sigprocmask(how, without_faults(how, set, &changed), old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t changed;

	return next()->pthread_sigmask(how, without_faults(how, set, &changed), old);
}

#pragma GCC visibility pop
