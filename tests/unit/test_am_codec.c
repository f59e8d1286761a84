// SPDX-License-Identifier: BSD-2-Clause
/* test_am_codec.c - lists of operations as active messages: lib/op/am_codec.c */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "op/am_codec.h"
#include "suites.h"

#define BASE UINT64_C(0x10000)
#define DISP 512

static uint8_t operands[2 * AM_LARGEST_BYTES], results[2 * AM_LARGEST_BYTES];
static _Alignas(AM_ALIGN) uint8_t data[AM_DATA_BYTES];

/* Operations of `elements` integers each, at uneven places, in a descending order. */
static void make(struct acc *accs, uint32_t count, size_t elements, enum oriel_op op)
{
	for (uint32_t i = 0; i < count; i++) {
		acc_init(&accs[i], ORIEL_INT32, op, elements);
		accs[i].origin = op == ORIEL_NO_OP ? NULL : operands + i * elements * 4;
		accs[i].result = results + i * elements * 4;
		accs[i].remote_addr = BASE + (count - 1 - i) * (elements + 3) * 4;
	}
	for (size_t i = 0; i < sizeof(operands); i++)
		operands[i] = (uint8_t)(i * 31 + i / 256);
}

/* As the ring's sender completes it. */
static void complete(struct am_message *message)
{
	message->am.data_at = 0;
	message->am.disp_bytes = DISP;
	message->am.wants_result = message->result_bytes > 0;
}

static void check_operation(const struct acc *sent, const struct acc *got, const uint8_t *result)
{
	CU_ASSERT(got->type == sent->type && got->op == sent->op && got->count == sent->count && !got->compare);
	CU_ASSERT(got->remote_addr == DISP + sent->remote_addr - BASE);
	CU_ASSERT(got->result == result);
	CU_ASSERT_EQUAL(got->origin == NULL, sent->op == ORIEL_NO_OP);
	if (got->origin)
		CU_ASSERT_EQUAL(memcmp(got->origin, sent->origin, sent->count * 4), 0);
}

static void check_round(uint32_t count, size_t elements, enum oriel_op op)
{
	struct acc accs[AM_LIST_MAX + 1], got[AM_LIST_MAX];
	struct am_message message;
	uint32_t sent, n;

	make(accs, count, elements, op);
	sent = am_encode_list(accs, count, BASE, data, &message);
	CU_ASSERT_FATAL(sent > 0 && sent <= AM_LIST_MAX);
	CU_ASSERT(message.am.data_bytes <= AM_LARGEST_BYTES && message.result_bytes == sent * elements * 4);
	complete(&message);
	n = am_decode_list(&message.am, data, results, got);
	CU_ASSERT_EQUAL_FATAL(n, sent);
	for (uint32_t i = 0; i < n; i++)
		check_operation(&accs[i], &got[i], results + i * elements * 4);
}

static void list__arrives_as_it_was(void)
{
	for (uint32_t count = 1; count <= AM_LIST_MAX; count++) {
		check_round(count, 1, ORIEL_SUM);
		check_round(count, 5, ORIEL_REPLACE);
		check_round(count, 3, ORIEL_NO_OP);
	}
	check_round(AM_LIST_MAX + 1, 1, ORIEL_SUM);
}

/* A message takes what fits: table and operands, or results. */
static void list__is_no_longer_than_a_message(void)
{
	struct acc accs[AM_LIST_MAX];
	struct am_message message;

	check_round(AM_LIST_MAX, 100, ORIEL_SUM);
	check_round(AM_LIST_MAX, 100, ORIEL_NO_OP);
	make(accs, 2, AM_LARGEST_BYTES / 4, ORIEL_SUM);
	CU_ASSERT_EQUAL(am_encode_list(accs, 2, BASE, data, &message), 0);
}

static uint32_t decode(struct am am)
{
	struct acc got[AM_LIST_MAX];

	return am_decode_list(&am, data, results, got);
}

static void set_piece_count(uint32_t at, uint32_t count)
{
	memcpy(data + at * sizeof(struct am_piece) + offsetof(struct am_piece, count), &count, sizeof(count));
}

static void list__of_nonsense_is_refused(void)
{
	struct acc accs[4];
	struct am_message message;
	struct am am;

	make(accs, 4, 2, ORIEL_SUM);
	am_encode_list(accs, 4, BASE, data, &message);
	complete(&message);
	CU_ASSERT_EQUAL(decode(message.am), 4);
	am = message.am;
	am.count = 0;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.count = AM_LIST_MAX + 1;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.count = 5; /* the table would be longer than it is */
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.data_bytes -= 1;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.data_bytes = 8;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.data_bytes = AM_DATA_BYTES;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.data_at = AM_DATA_BYTES - AM_ALIGN;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.type = ORIEL_DOUBLE_INT;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.type = 0;
	CU_ASSERT_EQUAL(decode(am), 0);
	am = message.am;
	am.op = ORIEL_NO_OP;
	am.wants_result = 0;
	am.data_bytes = AM_TABLE_BYTES(4);
	CU_ASSERT_EQUAL(decode(am), 0);
	set_piece_count(2, 0);
	CU_ASSERT_EQUAL(decode(message.am), 0);
	set_piece_count(2, 3);
	CU_ASSERT_EQUAL(decode(message.am), 0);
	set_piece_count(2, UINT32_MAX);
	CU_ASSERT_EQUAL(decode(message.am), 0);
	set_piece_count(2, 2);
	CU_ASSERT_EQUAL(decode(message.am), 4);
}

void suite_am_codec(void)
{
	CU_pSuite s = CU_add_suite("am_codec", NULL, NULL);

	CU_ADD_TEST(s, list__arrives_as_it_was);
	CU_ADD_TEST(s, list__is_no_longer_than_a_message);
	CU_ADD_TEST(s, list__of_nonsense_is_refused);
}
