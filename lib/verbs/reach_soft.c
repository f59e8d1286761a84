// SPDX-License-Identifier: BSD-2-Clause
/* reach_soft.c - see reach_soft.h. */
#include "verbs/reach_soft.h"

#include <dlfcn.h>
#include <string.h>

static bool device_function(const char *name, void *pointer)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	memcpy(pointer, &function, sizeof(function)); /* ISO C has no cast from an object's address to a function's */
	return function;
}

bool reach_soft_offered(void)
{
	softverbs_lend_fn *lend;

	return device_function("softverbs_lend", &lend);
}

bool reach_soft_map(struct ibv_qp *qp, uint32_t rkey, struct softverbs_lent *lent)
{
	softverbs_lend_fn *lend;

	return device_function("softverbs_lend", &lend) &&
	       lend(qp, rkey, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ, lent) == 0;
}

void reach_soft_unmap(const struct softverbs_lent *lent)
{
	softverbs_give_back_fn *give_back;

	if (device_function("softverbs_give_back", &give_back))
		give_back(lent);
}
