// SPDX-License-Identifier: BSD-2-Clause
/* test_public_struct.c - base/handle.c: programs of an older and of a newer build */
#include "base/handle.h"

#include <CUnit/CUnit.h>
#include <string.h>

#include "base/err.h"
#include "suites.h"

struct known {
	size_t struct_bytes;
	int a, b;
};

static void public_struct_check__sizes_that_were_never_set(void)
{
	CU_ASSERT_EQUAL(public_struct_check(sizeof(struct known), "known"), 0);
	CU_ASSERT_EQUAL(public_struct_check(0, "known"), ORIEL_ERR_ARG);
	CU_ASSERT_PTR_NOT_NULL(strstr(oriel_last_error(), "struct_bytes is 0; set it to sizeof(struct known)"));
	CU_ASSERT_EQUAL(public_struct_check(sizeof(size_t), "known"), ORIEL_ERR_ARG);
	CU_ASSERT_EQUAL(public_struct_check(PUBLIC_STRUCT_MAX_BYTES + 1, "known"), ORIEL_ERR_ARG);
}

static void public_struct_copy__what_both_know(void)
{
	struct known ours = { sizeof(ours), 1, 2 };
	struct {
		struct known known;
		int c, d;
	} newer = { { sizeof(newer), 7, 8 }, 9, 10 };
	struct known older = { offsetof(struct known, b), 7, 8 };

	public_struct_copy(&newer, newer.known.struct_bytes, &ours, sizeof(ours));
	CU_ASSERT(newer.known.struct_bytes == sizeof(newer) && newer.known.a == 1 && newer.known.b == 2);
	CU_ASSERT(newer.c == 0 && newer.d == 0);
	public_struct_copy(&older, older.struct_bytes, &ours, sizeof(ours));
	CU_ASSERT(older.struct_bytes == offsetof(struct known, b) && older.a == 1 && older.b == 8);
	public_struct_copy(&ours, sizeof(ours), &older, older.struct_bytes);
	CU_ASSERT(ours.struct_bytes == sizeof(ours) && ours.a == 1 && ours.b == 0);
}

void suite_public_struct(void)
{
	CU_pSuite suite = CU_add_suite("public_struct", NULL, NULL);

	CU_ADD_TEST(suite, public_struct_check__sizes_that_were_never_set);
	CU_ADD_TEST(suite, public_struct_copy__what_both_know);
}
