// SPDX-License-Identifier: BSD-2-Clause
/* boot_check.c - see boot_check.h. */
#include "boot_check.h"

#include "base/err.h"
#include "wire/environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int boot_check_key(const char *key)
{
	size_t length = strnlen(key, BOOT_KEY_MAX_BYTES + 1);

	if (length == 0 || length > BOOT_KEY_MAX_BYTES)
		return err_set(ORIEL_ERR_ARG, "bootstrap key \"%.16s\": its length must be 1 to %d bytes", key,
		               BOOT_KEY_MAX_BYTES);
	return 0;
}

int boot_check_value(const char *key, const void *value, size_t size_bytes)
{
	int rc = boot_check_key(key);

	if (rc)
		return rc;
	if (size_bytes > BOOT_VALUE_MAX_BYTES || (!value && size_bytes > 0))
		return err_set(ORIEL_ERR_ARG, "bootstrap value of key %s: %zu bytes; it must be 0 to %d bytes, and not null",
		               key, size_bytes, BOOT_VALUE_MAX_BYTES);
	return 0;
}

int boot_check_get(const struct boot *boot, int rank, const char *key)
{
	int rc = boot_check_key(key);

	if (rc)
		return rc;
	if (rank < 0 || rank >= boot->size)
		return err_set(ORIEL_ERR_RANK, "bootstrap get from rank %d: the job has %d ranks", rank, boot->size);
	return 0;
}

int boot_refuse_second_put(const char *key)
{
	return err_set(ORIEL_ERR_SYNC, "bootstrap put of %s: a rank puts once", key);
}

int boot_read_number(const char *variable, const char *beside, long min, long max, int *out)
{
	const char *text = getenv(variable);
	char *end;
	long number;

	if (!text)
		return err_set(ORIEL_ERR_BOOTSTRAP,
		               "%s is set but %s is not: something between the launcher and this program changed the "
		               "environment. Pass all of the launcher's variables on",
		               beside, variable);
	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end || errno || number < min || number > max)
		return err_set(ORIEL_ERR_BOOTSTRAP, "%s is \"%.32s\"; it must be a number from %ld to %ld", variable, text, min,
		               max);
	*out = (int)number;
	return 0;
}

static int read_choice(const char *variable, char *out, size_t out_size)
{
	const char *text = getenv(variable);
	size_t length = text ? strlen(text) : 0;

	if (length >= out_size)
		return err_set(ORIEL_ERR_BOOTSTRAP, "%s has %zu characters; at most %zu are possible", variable, length,
		               out_size - 1);
	if (length > 0)
		memcpy(out, text, length);
	out[length] = '\0';
	return 0;
}

int boot_read_choices(struct boot *boot)
{
	int rc = read_choice(BOOT_ENV_ADDR, boot->addr, sizeof(boot->addr));

	return rc ? rc : read_choice(BOOT_ENV_DEVICE, boot->device, sizeof(boot->device));
}
