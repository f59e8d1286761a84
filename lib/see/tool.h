/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool.h - reports of the library to a tool in front of it
 *
 * The tool is attached before oriel_init. Registrations, and waits that have read the clock, report
 * their causes (sync/wait.c). The waiting thread, or the service thread, calls the tool's
 * functions, which must neither call Oriel nor wait.
 */
#ifndef ORIEL_TOOL_H
#define ORIEL_TOOL_H

#include <stdint.h>

#include "base/rank_list.h"
#include "see/board.h"

#define TOOL_VERSION 4

/* A wait, as a look has found it. Times are of CLOCK_MONOTONIC. */
struct tool_blocked {
	enum board_cause cause;
	uint64_t since_ns; /* the wait has read the clock for the first time */
	uint64_t now_ns;
	const struct rank_list *awaited; /* ranks of the job */
	const int32_t *holders;          /* CAUSE_LOCK: processes that hold the lock */
	uint32_t holder_count;
};

struct tool {
	uint32_t version; /* TOOL_VERSION */
	/* oriel_init has succeeded. `job` is the same text on all ranks. */
	void (*job_opened)(const char *job, int rank, int size);
	void (*blocked)(const struct tool_blocked *blocked);
	/* A wait that has reported `blocked` has ended. */
	void (*unblocked)(uint64_t now_ns);
	/* The thread has registered memory. This and what follows may be NULL. */
	void (*registered)(uint64_t begun_ns, uint64_t ended_ns);
	/* The thread has waited for another one. */
	void (*waited_for_thread)(uint64_t begun_ns, uint64_t ended_ns);
	/* An operation has waited for a rank's description of the window. */
	void (*described)(int rank, uint64_t begun_ns, uint64_t ended_ns);
	/* Gives the job's board, or takes it away (NULL). */
	void (*takes_board)(struct board *board);
	/* The launcher has said how a rank died. */
	void (*rank_died)(int rank, const char *text);
	/* The thread makes a window of this number. */
	void (*window_numbered)(uint64_t number);
};

/* The attached tool, or NULL. */
extern const struct tool *see_tool;

/* Attaches a tool, for the process's life. Returns -1 if its version is another one. */
__attribute__((visibility("default"))) int oriel_tool_attach(const struct tool *attached);

#endif
