// SPDX-License-Identifier: BSD-2-Clause
/* test_am_codec.c - lists and rows of operations as active messages: lib/op/am_codec.c */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "op/am_codec.h"
#include "suites.h"

#define DISP 512

static uint8_t operands[2 * AM_LARGEST_BYTES], results[2 * AM_LARGEST_BYTES];
static _Alignas(AM_ALIGN) uint8_t data[AM_DATA_BYTES];

static void make_operands(void)
{
	for (size_t i = 0; i < sizeof(operands); i++)
		operands[i] = (uint8_t)(i * 31 + i / 256);
}

/* Returns a piece of a list of `count`, of `elements` integers each, in a descending order with gaps. */
static struct am_piece piece_of(uint32_t at, uint32_t count, uint32_t elements)
{
	return (struct am_piece){ 100 + (count - 1 - at) * (elements + 3) * 4, elements };
}

/* Returns the message of such a list. */
static struct am_message make_list(uint32_t count, uint32_t elements, enum oriel_op op)
{
	struct am_message message;

	make_operands();
	for (uint32_t i = 0; i < count; i++) {
		struct am_piece piece = piece_of(i, count, elements);

		memcpy(data + i * sizeof(piece), &piece, sizeof(piece));
	}
	memcpy(data + AM_TABLE_BYTES(count), operands, count * elements * 4);
	message = am_encode_list(ORIEL_INT32, op, count, count * elements * 4, data);
	message.result_bytes = count * elements * 4;
	return message;
}

/* As the ring's sender completes it. */
static void complete(struct am_message *message)
{
	message->am.data_at = 0;
	message->am.disp_bytes = DISP;
	message->am.wants_result = message->result_bytes > 0;
}

static void check_list(uint32_t count, uint32_t elements, enum oriel_op op)
{
	struct am_message message = make_list(count, elements, op);
	struct am_list list;

	complete(&message);
	CU_ASSERT_FATAL(am_decode_list(&message.am, data, results, &list));
	CU_ASSERT(list.type == ORIEL_INT32 && list.op == op && list.count == count && list.disp_bytes == DISP);
	CU_ASSERT(list.result == results && list.bytes == count * elements * 4);
	CU_ASSERT(list.from == 100 && list.span_bytes == (count - 1) * (elements + 3) * 4 + elements * 4);
	for (uint32_t i = 0; i < count; i++) {
		struct am_piece piece = piece_of(i, count, elements);

		CU_ASSERT_EQUAL(memcmp(&list.pieces[i], &piece, sizeof(piece)), 0);
	}
	CU_ASSERT_EQUAL(list.operands == NULL, op == ORIEL_NO_OP);
	CU_ASSERT(!list.operands || memcmp(list.operands, operands, list.bytes) == 0);
}

static void list__arrives_as_it_was(void)
{
	for (uint32_t count = 1; count <= AM_LIST_MAX; count++) {
		check_list(count, 1, ORIEL_SUM);
		check_list(count, 5, ORIEL_REPLACE);
		check_list(count, 3, ORIEL_NO_OP);
	}
}

/* Table and operands, or results, are no longer than a message. */
static void list__is_no_longer_than_a_message(void)
{
	const uint32_t elements = AM_LARGEST_BYTES / 4;
	struct am_message message;
	struct am_list list;

	check_list(1, elements - AM_TABLE_BYTES(1) / 4, ORIEL_SUM);
	check_list(1, elements, ORIEL_NO_OP);
	message = make_list(1, elements - AM_TABLE_BYTES(1) / 4 + 1, ORIEL_SUM);
	complete(&message);
	CU_ASSERT(!am_decode_list(&message.am, data, results, &list));
	message = make_list(1, elements + 1, ORIEL_NO_OP);
	complete(&message);
	CU_ASSERT(!am_decode_list(&message.am, data, results, &list));
}

static bool decode(struct am am)
{
	struct am_list list;

	return am_decode_list(&am, data, results, &list);
}

static void set_piece_count(uint32_t at, uint32_t count)
{
	memcpy(data + at * sizeof(struct am_piece) + offsetof(struct am_piece, count), &count, sizeof(count));
}

static void list__of_nonsense_is_refused(void)
{
	struct am_message message = make_list(4, 2, ORIEL_SUM);
	struct am am;

	complete(&message);
	CU_ASSERT(decode(message.am));
	am = message.am;
	am.count = 0;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.count = AM_LIST_MAX + 1;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.count = 5; /* the table would be longer than it is */
	CU_ASSERT(!decode(am));
	am = message.am;
	am.data_bytes--;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.data_bytes = 8;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.data_bytes = AM_DATA_BYTES;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.data_at = AM_DATA_BYTES - AM_ALIGN;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.type = ORIEL_DOUBLE_INT;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.type = 0;
	CU_ASSERT(!decode(am));
	am = message.am;
	am.op = ORIEL_NO_OP;
	am.wants_result = 0;
	am.data_bytes = AM_TABLE_BYTES(4);
	CU_ASSERT(!decode(am));
	set_piece_count(2, 0);
	CU_ASSERT(!decode(message.am));
	set_piece_count(2, 3);
	CU_ASSERT(!decode(message.am));
	set_piece_count(2, UINT32_MAX);
	CU_ASSERT(!decode(message.am));
	set_piece_count(2, 2);
	CU_ASSERT(decode(message.am));
}

/* A row of blocks of `elements` integers, at a distance of three elements more than they need. */
static struct acc make_row(uint32_t blocks, size_t elements, enum oriel_op op)
{
	const ptrdiff_t distance = (ptrdiff_t)(elements + 3) * 4;
	struct acc acc;

	make_operands();
	acc_init(&acc, ORIEL_INT32, op, elements);
	acc.origin = op == ORIEL_NO_OP ? NULL : operands;
	acc.result = results;
	acc.remote_addr = 0;
	acc.blocks = blocks;
	acc.row = (struct acc_row){ .target = -distance, .origin = (ptrdiff_t)elements * 4, .result = distance };
	return acc;
}

/* Returns how many blocks have arrived as they were. */
static uint32_t check_row(uint32_t blocks, size_t elements, enum oriel_op op)
{
	struct acc acc = make_row(blocks, elements, op), got;
	struct am_message message;
	uint32_t sent = am_encode_row(&acc, data, &message);

	complete(&message);
	message.am.disp_bytes = AM_DATA_BYTES;
	CU_ASSERT(message.am.data_bytes <= AM_LARGEST_BYTES && message.result_bytes == sent * elements * 4);
	CU_ASSERT(message.blocks.distance == acc.row.result && message.blocks.size_bytes == elements * 4);
	CU_ASSERT_FATAL(am_decode(&message.am, data, results, &got));
	CU_ASSERT(got.type == acc.type && got.op == op && got.count == elements && got.blocks == sent);
	CU_ASSERT(got.row.target == acc.row.target && got.row.result == (ptrdiff_t)elements * 4);
	CU_ASSERT_EQUAL(acc_span(&got).from, AM_DATA_BYTES - (sent - 1) * (elements + 3) * 4);
	CU_ASSERT_EQUAL(acc_span(&got).bytes, (sent - 1) * (elements + 3) * 4 + elements * 4);
	CU_ASSERT(op == ORIEL_NO_OP || memcmp(got.origin, operands, sent * elements * 4) == 0);
	return sent;
}

static void row__arrives_as_it_was(void)
{
	for (uint32_t blocks = 1; blocks <= 100; blocks++) {
		CU_ASSERT_EQUAL(check_row(blocks, 1, ORIEL_SUM), blocks);
		CU_ASSERT_EQUAL(check_row(blocks, 5, ORIEL_REPLACE), blocks);
		CU_ASSERT_EQUAL(check_row(blocks, 3, ORIEL_NO_OP), blocks);
	}
	CU_ASSERT_EQUAL(check_row(AM_LARGEST_BYTES, 2, ORIEL_SUM), AM_LARGEST_BYTES / 8);
	CU_ASSERT_EQUAL(check_row(AM_LARGEST_BYTES, 3, ORIEL_NO_OP), AM_LARGEST_BYTES / 12);
}

static bool row_decodes(struct am am)
{
	struct acc got;

	return am_decode(&am, data, results, &got);
}

static void row__of_nonsense_is_refused(void)
{
	struct acc acc = make_row(4, 2, ORIEL_SUM);
	struct am_message message;
	struct am am;

	am_encode_row(&acc, data, &message);
	complete(&message);
	CU_ASSERT(row_decodes(message.am));
	am = message.am;
	am.blocks = 5; /* of which the operands are missing */
	CU_ASSERT(!row_decodes(am));
	am.blocks = UINT16_MAX;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.distance = 6; /* the blocks are not aligned alike */
	CU_ASSERT(!row_decodes(am));
	am.distance = INT64_MIN;
	CU_ASSERT(!row_decodes(am));
	am.distance = -(DISP / 3 + 4) / 4 * 4; /* before the window's memory */
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.type = ORIEL_DOUBLE_INT;
	am.op = ORIEL_MINLOC;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.call = AM_SWAP;
	CU_ASSERT(!row_decodes(am));
}

/* Returns the first message of an operation on `count` elements, which the target reads. */
static struct am_message make_pull(struct acc *acc, enum oriel_type type, size_t count, struct am_pull *pull)
{
	struct am_message message;

	acc_init(acc, type, ORIEL_SUM, count);
	acc->origin = operands;
	acc->remote_addr = 0;
	acc_advance(acc, am_encode_pull(acc, &message, pull));
	message.am.data_at = AM_INLINE;
	message.am.disp_bytes = DISP;
	memcpy(message.am.data, message.data, message.am.data_bytes);
	return message;
}

static void check_pull(enum oriel_type type, size_t count, size_t sent)
{
	struct am_pull pull;
	struct acc acc, got;
	struct am_message message = make_pull(&acc, type, count, &pull);

	CU_ASSERT(acc.count == count - sent && pull.addr == (uintptr_t)operands);
	CU_ASSERT(pull.size_bytes == element_span(type, sent) && pull.size_bytes <= AM_PULLED_BYTES);
	CU_ASSERT_FATAL(am_decode(&message.am, data, results, &got));
	CU_ASSERT(got.type == type && got.op == ORIEL_SUM && got.count == sent && got.blocks == 0);
	CU_ASSERT(got.origin == data && !got.result && got.remote_addr == DISP);
}

static void pull__arrives_as_it_was(void)
{
	check_pull(ORIEL_DOUBLE, 1, 1);
	check_pull(ORIEL_DOUBLE, AM_PULLED_BYTES / 8 + 1, AM_PULLED_BYTES / 8);
	check_pull(ORIEL_LONG_DOUBLE, AM_PULLED_BYTES, AM_PULLED_BYTES / 16);
	check_pull(ORIEL_UINT8, 1 << 20, AM_PULLED_BYTES / 2); /* counts have 16 bits */
}

static void pull__of_nonsense_is_refused(void)
{
	struct am_pull pull;
	struct acc acc;
	struct am_message message = make_pull(&acc, ORIEL_DOUBLE, 4, &pull);
	struct am am = message.am;

	CU_ASSERT(row_decodes(am));
	am.count = 5; /* more than has been read */
	CU_ASSERT(!row_decodes(am));
	am.count = UINT16_MAX;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.data_bytes = 8;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.data_at = 0;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.wants_result = 1;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.blocks = 2;
	CU_ASSERT(!row_decodes(am));
	am = message.am;
	am.op = ORIEL_NO_OP;
	CU_ASSERT(!row_decodes(am));
}

void suite_am_codec(void)
{
	CU_pSuite s = CU_add_suite("am_codec", NULL, NULL);

	CU_ADD_TEST(s, list__arrives_as_it_was);
	CU_ADD_TEST(s, list__is_no_longer_than_a_message);
	CU_ADD_TEST(s, list__of_nonsense_is_refused);
	CU_ADD_TEST(s, row__arrives_as_it_was);
	CU_ADD_TEST(s, row__of_nonsense_is_refused);
	CU_ADD_TEST(s, pull__arrives_as_it_was);
	CU_ADD_TEST(s, pull__of_nonsense_is_refused);
}
