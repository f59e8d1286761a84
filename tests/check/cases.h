/* SPDX-License-Identifier: BSD-2-Clause */
/* cases.h - the choice of a case by its name, for the checker's test programs */
#ifndef CHECK_CASES_H
#define CHECK_CASES_H

#include <stddef.h>
#include <string.h>

struct check_case {
	const char *name;
	void (*run)(void);
};

/* Returns the case of a list that ends without a name, or NULL. */
static inline const struct check_case *case_of(const struct check_case *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}

#endif
