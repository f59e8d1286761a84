// SPDX-License-Identifier: BSD-2-Clause
/* See window.h. */
#include "win/window.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/util.h"

static const struct {
	const char *word;
	unsigned bit;
} orderings[] = { { "rar", ORDER_RAR }, { "raw", ORDER_RAW }, { "war", ORDER_WAR }, { "waw", ORDER_WAW } };

#define ORDERINGS (sizeof(orderings) / sizeof(orderings[0]))
#define BLANKS " \t"

static int unusable(const char *key, const char *value, const char *legal)
{
	return err_set(ORIEL_ERR_ARG, "the hint %s is \"%s\", must be %s", key, value, legal);
}

static int take_flag(int *flag, const char *key, const char *value)
{
	bool is_true = strcmp(value, "true") == 0;

	if (!is_true && strcmp(value, "false") != 0)
		return unusable(key, value, "\"true\" or \"false\"");
	*flag = is_true;
	return 0;
}

static int take_number(uint64_t *number, uint64_t most, const char *key, const char *value)
{
	char legal[64], *end;

	errno = 0;
	*number = strtoull(value, &end, 10);
	if (isdigit((unsigned char)*value) && *end == '\0' && errno == 0 && *number <= most)
		return 0;
	snprintf(legal, sizeof(legal), "a number from 0 to %llu", (unsigned long long)most);
	return unusable(key, value, legal);
}

static int take_granularity(struct oriel_win_info *info, const char *key, const char *value)
{
	uint64_t number;
	int rc = take_number(&number, SIZE_MAX, key, value);

	if (rc == 0)
		info->accumulate_granularity_bytes = (size_t)number;
	return rc;
}

static int take_signals(struct oriel_win_info *info, const char *key, const char *value)
{
	uint64_t number;
	int rc = take_number(&number, SIGNALS_MAX, key, value);

	if (rc == 0)
		info->signal_count = (uint32_t)number;
	return rc;
}

static int take_ops(struct oriel_win_info *info, const char *key, const char *value)
{
	if (strcmp(value, "same_op") != 0 && strcmp(value, "same_op_no_op") != 0)
		return unusable(key, value, "\"same_op\" or \"same_op_no_op\"");
	snprintf(info->accumulate_ops, sizeof(info->accumulate_ops), "%s", value);
	return 0;
}

/* Returns the bit of a word, ignoring blanks around it; 0: unknown. */
static unsigned ordering_bit(const char *word, size_t bytes)
{
	size_t blanks = min_size(strspn(word, BLANKS), bytes);

	word += blanks;
	bytes -= blanks;
	while (bytes > 0 && strchr(BLANKS, word[bytes - 1]))
		bytes--;
	for (size_t i = 0; i < ORDERINGS; i++) {
		if (strlen(orderings[i].word) == bytes && memcmp(orderings[i].word, word, bytes) == 0)
			return orderings[i].bit;
	}
	return 0;
}

static bool is_none(const char *value)
{
	value += strspn(value, BLANKS);
	return strncmp(value, "none", 4) == 0 && value[4 + strspn(value + 4, BLANKS)] == '\0';
}

/* Returns the bits of a list with commas; 0: a word is unknown. */
static unsigned ordering_bits(const char *value)
{
	unsigned bits = 0, bit;

	for (const char *word = value;; word++) {
		size_t bytes = strcspn(word, ",");

		bit = ordering_bit(word, bytes);
		bits |= bit;
		word += bytes;
		if (bit == 0 || *word == '\0')
			return bit ? bits : 0;
	}
}

static void set_ordering(struct oriel_win_info *info, unsigned bits)
{
	char *to = info->accumulate_ordering;

	strcpy(to, bits ? "" : "none");
	for (size_t i = 0; i < ORDERINGS; i++) {
		if (!(bits & orderings[i].bit))
			continue;
		strcat(to, *to ? "," : "");
		strcat(to, orderings[i].word);
	}
}

static int take_ordering(struct oriel_win_info *info, const char *key, const char *value)
{
	unsigned bits = is_none(value) ? 0 : ordering_bits(value);

	if (bits == 0 && !is_none(value))
		return unusable(key, value, "\"none\", or a list of rar, raw, war, waw with commas between them");
	set_ordering(info, bits);
	return 0;
}

static int take_no_locks(struct oriel_win_info *info, const char *key, const char *value)
{
	return take_flag(&info->no_locks, key, value);
}

static int take_same_size(struct oriel_win_info *info, const char *key, const char *value)
{
	return take_flag(&info->same_size, key, value);
}

static int take_same_disp_unit(struct oriel_win_info *info, const char *key, const char *value)
{
	return take_flag(&info->same_disp_unit, key, value);
}

static int take_share(struct oriel_win_info *info, const char *key, const char *value)
{
	return take_flag(&info->share, key, value);
}

/* Checks the value only: hints_refuse reads it. */
static int take_refuse(struct oriel_win_info *info, const char *key, const char *value)
{
	int refuse;

	(void)info;
	return take_flag(&refuse, key, value);
}

/* The error text leaves the name out: it may contain control characters. */
static int take_name(struct oriel_win_info *info, const char *key, const char *value)
{
	size_t length = 0;

	while (value[length] >= ' ' && value[length] <= '~')
		length++;
	if (value[length] || length >= sizeof(info->name))
		return err_set(ORIEL_ERR_ARG, "the %s of a window has %zu bytes; legal are up to %zu, all printable ASCII", key,
		               strlen(value), sizeof(info->name) - 1);
	memcpy(info->name, value, length + 1);
	return 0;
}

int hints_take_name(struct oriel_win_info *info, const char *name)
{
	return take_name(info, "name", name);
}

static int take_noncontig(struct oriel_win_info *info, const char *key, const char *value)
{
	return take_flag(&info->alloc_shared_noncontig, key, value);
}

/* `later`: the hint can be changed after creation. */
static const struct {
	const char *key;
	int (*take)(struct oriel_win_info *info, const char *key, const char *value);
	bool later;
} known[] = {
	{ "no_locks", take_no_locks, false },
	{ "same_size", take_same_size, false },
	{ "same_disp_unit", take_same_disp_unit, false },
	{ "accumulate_ordering", take_ordering, true },
	{ "accumulate_ops", take_ops, true },
	{ "mpi_accumulate_granularity", take_granularity, false },
	{ "alloc_shared_noncontig", take_noncontig, false },
	{ "signals", take_signals, false },
	{ "share", take_share, false },
	{ "refuse", take_refuse, false },
	{ "name", take_name, false },
};

static int take_hint(struct oriel_win_info *info, const struct oriel_hint *hint, bool later)
{
	struct oriel_win_info unused = *info;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(hint->key, known[i].key) == 0)
			return known[i].take(later && !known[i].later ? &unused : info, hint->key, hint->value);
	}
	return 0;
}

void hints_default(struct oriel_win_info *info)
{
	set_ordering(info, ORDER_ALL);
	snprintf(info->accumulate_ops, sizeof(info->accumulate_ops), "same_op_no_op");
}

int hints_take(struct oriel_win_info *info, const struct oriel_hint hints[], bool later)
{
	int rc = 0;

	for (; rc == 0 && hints && hints->key; hints++) {
		if (hints->value)
			rc = take_hint(info, hints, later);
	}
	return rc;
}

bool hints_refuse(const struct oriel_hint hints[])
{
	bool refuse = false;

	for (; hints && hints->key; hints++) {
		if (hints->value && strcmp(hints->key, "refuse") == 0)
			refuse = strcmp(hints->value, "true") == 0;
	}
	return refuse;
}

uint64_t hints_to_agree(const struct oriel_win_info *info)
{
	return (uint64_t)info->accumulate_granularity_bytes << 1 | (info->alloc_shared_noncontig ? 1 : 0);
}
