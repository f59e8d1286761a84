// SPDX-License-Identifier: BSD-2-Clause
/* See settings.h. */
#include "base/settings.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

#define SECONDS_MAX 2000000
#define NUMBER_MAX ((uint64_t)1 << 62)
#define WORDS_TEXT_BYTES 128

static const char *text_of(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text ? text : NULL;
}

static int refuse(const char *variable, const char *text, const char *legal)
{
	return err_set(ORIEL_ERR_ARG, "the environment variable %s is \"%.80s\"; legal is %s", variable, text, legal);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False: there is no digit, or the number is above most. */
static bool take_number(const char **at, uint64_t most, uint64_t *number)
{
	if (!is_digit(**at))
		return false;
	for (*number = 0; is_digit(**at); (*at)++) {
		*number = *number * 10 + (uint64_t)(**at - '0');
		if (*number > most)
			return false;
	}
	return true;
}

/*
 * Reads a fraction in thousandths, rounded up, so that the smallest does not become 0. No strtod:
 * the locale may want a comma.
 */
static uint64_t take_thousandths(const char **at)
{
	uint64_t thousandths = 0, weight = 100;
	bool rest = false;

	for (; is_digit(**at); (*at)++, weight /= 10) {
		thousandths += weight * (uint64_t)(**at - '0');
		rest |= weight == 0 && **at != '0';
	}
	return thousandths + rest;
}

int setting_seconds(const char *variable, int *value_ms)
{
	static const char legal[] = "a number of seconds from 0 to 2000000, such as 10 or 0.5; 0: no limit";
	const char *text = text_of(variable), *at = text;
	uint64_t seconds, ms = 0;

	if (!text)
		return 0;
	if (!take_number(&at, SECONDS_MAX, &seconds))
		return refuse(variable, text, legal);
	if (at[0] == '.' && is_digit(at[1])) {
		at++;
		ms = take_thousandths(&at);
	}
	if (*at)
		return refuse(variable, text, legal);
	*value_ms = (int)(seconds * 1000 + ms);
	return 0;
}

static int setting_number(const char *variable, const char *legal, uint64_t *value)
{
	const char *text = text_of(variable), *at = text;
	uint64_t number;

	if (!text)
		return 0;
	if (!take_number(&at, NUMBER_MAX, &number) || *at)
		return refuse(variable, text, legal);
	*value = number;
	return 0;
}

int setting_bytes(const char *variable, size_t *value_bytes)
{
	uint64_t bytes = *value_bytes;
	int rc = setting_number(variable, "a number of bytes from 0 to 2^62, such as 1048576; 0: no limit", &bytes);

	*value_bytes = (size_t)bytes;
	return rc;
}

int setting_seed(const char *variable, uint64_t *value)
{
	return setting_number(variable, "a number from 0 to 2^62, such as 7", value);
}

static int refuse_word(const char *variable, const char *text, const char *const words[])
{
	char legal[WORDS_TEXT_BYTES] = "one of";
	size_t used = strlen(legal);

	for (int i = 0; words[i] && used < sizeof(legal); i++)
		used += (size_t)snprintf(legal + used, sizeof(legal) - used, "%s %s", i ? "," : "", words[i]);
	return refuse(variable, text, legal);
}

int setting_word(const char *variable, const char *const words[], int *value)
{
	const char *text = text_of(variable);

	if (!text)
		return 0;
	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = i;
			return 0;
		}
	}
	return refuse_word(variable, text, words);
}

#define LINE_BYTES 1024

static int wanted; /* 0, 1 or 2; changed atomically */

int tell_open(void)
{
	static const char *const words[] = { "0", "1", "2", NULL };
	int value = 0, rc = setting_word("ORIEL_VERBOSE", words, &value);

	__atomic_store_n(&wanted, rc == 0 ? value : 0, __ATOMIC_RELAXED);
	return rc;
}

bool tell_has_routes(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED) > 1;
}

/* Writes the line in one piece, since ranks share the stream. */
static void write_line(const char *who, int number, const char *format, va_list args)
{
	char line[LINE_BYTES];
	size_t used;
	ssize_t written;

	used = (size_t)snprintf(line, sizeof(line), "oriel: %s %d: ", who, number);
	vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	used = strlen(line);
	line[used++] = '\n';
	written = write(STDERR_FILENO, line, used);
	(void)written; /* a failure would be reported on standard error */
}

static bool is_wanted(void)
{
	return __atomic_load_n(&wanted, __ATOMIC_RELAXED);
}

void tell(int rank, const char *format, ...)
{
	va_list args;

	if (!is_wanted())
		return;
	va_start(args, format);
	write_line("rank", rank, format, args);
	va_end(args);
}

void tell_always(int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line("rank", rank, format, args);
	va_end(args);
}

void tell_of_process(const char *format, ...)
{
	va_list args;

	if (!is_wanted())
		return;
	va_start(args, format);
	write_line("process", (int)getpid(), format, args);
	va_end(args);
}
