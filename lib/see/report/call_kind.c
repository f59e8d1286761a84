// SPDX-License-Identifier: BSD-2-Clause
/* See advice.h. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "see/report/advice.h"

static const struct {
	const char *name;
	enum call_kind kind;
} kinds[] = {
	{ "put", KIND_PUT },
	{ "putv", KIND_PUT },
	{ "rput", KIND_PUT },
	{ "get", KIND_GET },
	{ "getv", KIND_GET },
	{ "rget", KIND_GET },
	{ "accumulate", KIND_ACCUMULATE },
	{ "accumulatev", KIND_ACCUMULATE },
	{ "raccumulate", KIND_ACCUMULATE },
	{ "get_accumulate", KIND_FETCH },
	{ "get_accumulatev", KIND_FETCH },
	{ "rget_accumulate", KIND_FETCH },
	{ "fetch_and_op", KIND_FETCH },
	{ "compare_and_swap", KIND_FETCH },
	{ "win_flush", KIND_FLUSH },
	{ "win_flush_all", KIND_FLUSH },
	{ "win_flush_local", KIND_FLUSH },
	{ "win_flush_local_all", KIND_FLUSH },
	{ "win_lock", KIND_LOCK },
	{ "win_unlock", KIND_UNLOCK },
	{ "win_create", KIND_CREATE },
	{ "win_allocate", KIND_CREATE },
	{ "win_allocate_shared", KIND_CREATE },
	{ "win_create_dynamic", KIND_CREATE },
};

/* Returns what is behind the prefix of the interface. */
static const char *base_of(const char *call)
{
	const char *base = strchr(call, '_');

	return base ? base + 1 : call;
}

bool call_is(const char *call, const char *name)
{
	const char *base = base_of(call);
	size_t length = strlen(name);

	return strncasecmp(base, name, length) == 0 && (base[length] == '\0' || strcmp(base + length, "_c") == 0);
}

enum call_kind call_kind(const char *call)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (call_is(call, kinds[i].name))
			return kinds[i].kind;
	}
	return KIND_OTHER;
}

const char *call_of_same(const char *call, const char *name, char text[CALL_NAME_BYTES])
{
	bool mpi = strncmp(call, "MPI_", 4) == 0;

	snprintf(text, CALL_NAME_BYTES, "%s%s", mpi ? "MPI_" : "oriel_", name);
	if (mpi)
		text[4] = (char)toupper((unsigned char)text[4]);
	return text;
}
