// SPDX-License-Identifier: BSD-2-Clause
/* See answer.h. */
#include "see/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TIMES_BYTES 32

bool answer_is_sound(struct rank_answer *answer, int size)
{
	if (answer->version != ANSWER_VERSION || (answer->facts & ~(uint32_t)ANSWER_ANY) != 0 || answer->other < -1 ||
	    answer->other >= size || answer->holder_count > BOARD_HOLDERS ||
	    !board_are_ranks(answer->holders, answer->holder_count, size))
		return false;
	return !answer->wait.call[0] || board_check_wait(&answer->wait, size);
}

/* A text that grows as far as there is room. */
struct writing {
	char *text;
	size_t used;
};

static __attribute__((format(printf, 2, 3))) void add(struct writing *to, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(to->text + to->used, ANSWER_TEXT_BYTES - to->used, format, arguments);
	va_end(arguments);
	to->used += (size_t)length;
	if (to->used >= ANSWER_TEXT_BYTES)
		to->used = ANSWER_TEXT_BYTES - 1;
}

/* Returns "never", "once", "twice", "3 times". */
static const char *times(uint64_t count, char text[TIMES_BYTES])
{
	static const char *const few[] = { "never", "once", "twice" };

	if (count < sizeof(few) / sizeof(few[0]))
		return few[count];
	snprintf(text, TIMES_BYTES, "%llu times", (unsigned long long)count);
	return text;
}

static void add_call(struct writing *to, const char *call, uint64_t count)
{
	char n[TIMES_BYTES];

	if (count == 0)
		add(to, " has never called %s", call);
	else
		add(to, " has called %s %s", call, times(count, n));
}

static void add_counts(struct writing *to, const struct rank_answer *answer, const struct asked *asked)
{
	bool posts = asked->cause == CAUSE_POST;
	char n[TIMES_BYTES];

	if (answer->other < 0) {
		add_call(to, posts ? "post" : "complete", answer->for_asker);
	} else {
		add_call(to, posts ? "post" : "complete", answer->for_other);
		add(to, " for rank %d, %s", answer->other, times(answer->for_asker, n));
	}
	add(to, " for this rank, which has called %s %s", posts ? "start" : "post", times(asked->count, n));
}

static void add_fences(struct writing *to, const struct rank_answer *answer, const struct asked *asked)
{
	char n[TIMES_BYTES];

	add_call(to, "fence", answer->for_asker);
	add(to, ", this rank %s", times(asked->count, n));
}

static void add_ranks(struct writing *to, const int32_t *ranks, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		add(to, "%s%d", i ? ", " : count > 1 ? "ranks " : "rank ", ranks[i]);
}

/* Writes what the rank has done of what is awaited. Returns false if nothing is known of that. */
static bool add_deeds(struct writing *to, const struct rank_answer *answer, const struct asked *asked)
{
	bool counted = answer->facts & ANSWER_COUNTS;

	if (asked->cause != CAUSE_COLLECTIVE && !(answer->facts & ANSWER_WINDOW))
		add(to, " does not have this window");
	else if (counted && (asked->cause == CAUSE_POST || asked->cause == CAUSE_COMPLETE))
		add_counts(to, answer, asked);
	else if (counted && asked->cause == CAUSE_FENCE)
		add_fences(to, answer, asked);
	else
		return false;
	return true;
}

static void add_wait(struct writing *to, const struct rank_answer *answer)
{
	const struct board_wait *wait = &answer->wait;
	bool seconds = answer->waited_ms >= 10000;

	if (!wait->call[0]) {
		add(to, " waits in no call of Oriel");
		return;
	}
	add(to, " has waited in %s%s%s for %llu %s", wait->call, wait->window[0] ? " on " : "", wait->window,
	    (unsigned long long)(seconds ? answer->waited_ms / 1000 : answer->waited_ms), seconds ? "s" : "ms");
	if (wait->rank_count > 0 && wait->cause != CAUSE_SIGNAL) {
		add(to, ", for ");
		add_ranks(to, wait->ranks, wait->rank_count);
	}
	add(to, "%s", board_cause_words((enum board_cause)wait->cause)->line);
}

/* Begins a clause about the first holder. */
static void add_holder(struct writing *to, const struct rank_answer *answer)
{
	if (answer->holder_count == 1)
		add(to, "; it");
	else
		add(to, "; rank %d", answer->holders[0]);
}

static void add_holders(struct writing *to, const struct rank_answer *answer, const struct asked *asked)
{
	add_ranks(to, answer->holders, answer->holder_count);
	add(to, answer->holder_count > 1 ? " hold it" : " holds it");
	if (answer->holders[0] != asked->rank)
		return;
	add_holder(to, answer);
	add_wait(to, answer);
}

const char *answer_text(const struct rank_answer *answer, const struct asked *asked, char text[ANSWER_TEXT_BYTES])
{
	struct writing to = { text, 0 };

	if (asked->cause == CAUSE_LOCK && answer->holder_count > 0) {
		add_holders(&to, answer, asked);
		return text;
	}
	add(&to, "rank %d", asked->rank);
	if (add_deeds(&to, answer, asked))
		add(&to, "; it");
	add_wait(&to, answer);
	return text;
}

void answer_add_holder(const struct rank_answer *answer, const struct rank_answer *holder,
                       char text[ANSWER_TEXT_BYTES])
{
	struct writing to = { text, strlen(text) };

	add_holder(&to, answer);
	if (holder)
		add_wait(&to, holder);
	else
		add(&to, " does not answer: it is stopped or unreachable");
}
