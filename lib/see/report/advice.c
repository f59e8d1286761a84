// SPDX-License-Identifier: BSD-2-Clause
/* See advice.h. */
#include "see/report/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "see/report/program.h"
#include "see/report/window_number.h"

void losses_begin(struct losses *losses)
{
	uint64_t *ns = losses->ns;

	memset(ns, 0, (size_t)losses->profile->size * sizeof(*ns));
	*losses = (struct losses){ .profile = losses->profile, .ns = ns, .rank = -1 };
}

void losses_add(struct losses *losses, int rank, uint32_t site, uint64_t ns, uint64_t count)
{
	if (rank < 0 || rank >= losses->profile->size)
		return;
	losses->ns[rank] += ns;
	losses->all_ns += ns;
	losses->count += count;
	if (losses->ns[rank] > losses->most_ns) {
		losses->rank = rank;
		losses->most_ns = losses->ns[rank];
	}
	if (ns > losses->site_ns) {
		losses->site = site;
		losses->site_ns = ns;
	}
}

bool losses_matter(const struct losses *losses, int percent)
{
	return losses->count >= ADVICE_OCCURRENCES && losses->most_ns > 0 &&
	       (double)losses->most_ns * 100 >= losses->profile->seconds * (double)NS_PER_SECOND * percent;
}

/* One rank of two is late more often than the other by chance: it must have 80 %. */
double advice_stands_out(int size)
{
	return 50 + 60.0 / (size > 1 ? size : 2);
}

struct advice *advice_add(struct advice_list *advice, const char *rule, const struct losses *losses)
{
	uint32_t at = advice->count;

	while (at > 0 && advice->list[at - 1].saves_ns < losses->most_ns)
		at--;
	if (at == ADVICE_MOST)
		return NULL;
	if (advice->count < ADVICE_MOST)
		advice->count++;
	memmove(&advice->list[at + 1], &advice->list[at], (advice->count - at - 1) * sizeof(advice->list[0]));
	advice->list[at] = (struct advice){ .rule = rule,
		                                .rank = losses->rank,
		                                .window = losses->profile->sites[losses->site].window,
		                                .site = (int)losses->site,
		                                .saves_ns = losses->most_ns };
	return &advice->list[at];
}

/* ---- words ---- */

const char *advice_window(const struct profile *profile, int window, char text[WINDOW_BYTES])
{
	const struct profile_site *made = window < 0 ? NULL : window_creation(profile, window);
	char place[PLACE_BYTES], number[WINDOW_NUMBER_BYTES];

	text[0] = '\0';
	if (window >= 0 && profile->windows[window].name[0])
		snprintf(text, WINDOW_BYTES, " of \"%.32s\"", profile->windows[window].name);
	else if (window >= 0)
		snprintf(text, WINDOW_BYTES, " of window %s (%s%s%s)", window_number(profile->windows[window].number, number),
		         profile->windows[window].kind, made ? " " : "", made ? place_text(made, place) : "");
	return text;
}

const char *advice_call(const struct profile_site *site, char text[CALL_BYTES])
{
	char place[PLACE_BYTES];

	snprintf(text, CALL_BYTES, "%s (%s)", site->call, place_text(site, place));
	return text;
}

double advice_seconds(uint64_t ns)
{
	return (double)ns / (double)NS_PER_SECOND;
}

/* ---- all rules ---- */

void advise(struct advice_list *advice, const struct profile *profile)
{
	struct losses losses = { .profile = profile };

	losses.ns = calloc((size_t)(profile->size > 0 ? profile->size : 1), sizeof(*losses.ns));
	if (!losses.ns)
		program_fail("out of memory");
	advice->count = 0;
	if (profile->size > 0) {
		advise_on_waits(advice, &losses);
		advise_on_calls(advice, &losses);
	}
	free(losses.ns);
}
