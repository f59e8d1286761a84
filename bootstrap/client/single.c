// SPDX-License-Identifier: BSD-2-Clause
/*
 * single.c - a job of one rank, without a launcher
 *
 * Two lists replace the launcher: values, and unanswered gets. A get for a missing key waits; it is
 * answered 'never' once the rank has left.
 */
#include "base/err.h"
#include "boot_check.h"
#include "client/clients.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SINGLE_KEYS_MAX 4096    /* distinct keys */
#define SINGLE_WAITING_MAX 4096 /* unanswered gets */

struct single_value {
	struct single_value *next;
	char key[BOOT_KEY_MAX_BYTES + 1];
	size_t size_bytes;
	uint8_t bytes[BOOT_VALUE_MAX_BYTES];
};

struct single_get {
	struct single_get *next;
	char key[BOOT_KEY_MAX_BYTES + 1];
};

struct boot_single {
	struct boot base;
	struct single_value *values;
	int value_count;
	struct single_get *waiting; /* oldest first */
	int waiting_count;
	bool left;
};

static struct boot_single *single_of(struct boot *boot)
{
	return (struct boot_single *)boot;
}

static struct single_value *find_value(const struct boot_single *single, const char *key)
{
	struct single_value *value;

	for (value = single->values; value; value = value->next)
		if (strcmp(value->key, key) == 0)
			return value;
	return NULL;
}

static struct single_value *add_value(struct boot_single *single, const char *key)
{
	struct single_value *value = single->value_count < SINGLE_KEYS_MAX ? calloc(1, sizeof(*value)) : NULL;

	if (!value)
		return NULL;
	memcpy(value->key, key, strlen(key) + 1);
	value->next = single->values;
	single->values = value;
	single->value_count++;
	return value;
}

static int single_put(struct boot *boot, const char *key, const void *bytes, size_t size_bytes)
{
	struct boot_single *single = single_of(boot);
	int rc = boot_check_value(key, bytes, size_bytes);
	struct single_value *value;

	if (rc)
		return rc;
	value = find_value(single, key);
	if (!value)
		value = add_value(single, key);
	if (!value)
		return err_set(ORIEL_ERR_LIMIT, "bootstrap key %s cannot be stored: no memory, or more than %d keys", key,
		               SINGLE_KEYS_MAX);
	if (size_bytes > 0)
		memcpy(value->bytes, bytes, size_bytes);
	value->size_bytes = size_bytes;
	return 0;
}

static int single_get(struct boot *boot, int rank, const char *key)
{
	struct boot_single *single = single_of(boot);
	struct single_get **end = &single->waiting;
	struct single_get *get;
	int rc = boot_check_key(key);

	if (rc)
		return rc;
	if (rank != 0)
		return err_set(ORIEL_ERR_RANK, "bootstrap get from rank %d: the job has 1 rank", rank);
	get = single->waiting_count < SINGLE_WAITING_MAX ? calloc(1, sizeof(*get)) : NULL;
	if (!get)
		return err_set(ORIEL_ERR_LIMIT, "bootstrap get of %s: no memory, or more than %d gets are waiting", key,
		               SINGLE_WAITING_MAX);
	memcpy(get->key, key, strlen(key) + 1);
	while (*end)
		end = &(*end)->next;
	*end = get;
	single->waiting_count++;
	return 0;
}

static int single_leave(struct boot *boot)
{
	single_of(boot)->left = true;
	return 0;
}

static int single_abort(struct boot *boot, int status, const char *reason)
{
	(void)boot;
	(void)status;
	(void)reason;
	return 0;
}

static int single_fd(const struct boot *boot)
{
	(void)boot;
	return -1;
}

/* Takes the first get out of the list that can be answered. */
static struct single_get *take_answerable(struct boot_single *single)
{
	struct single_get **at = &single->waiting;
	struct single_get *get;

	while (*at && !single->left && !find_value(single, (*at)->key))
		at = &(*at)->next;
	get = *at;
	if (get) {
		*at = get->next;
		single->waiting_count--;
	}
	return get;
}

static void answer(const struct boot_single *single, const struct single_get *get)
{
	const struct single_value *value = find_value(single, get->key);

	single->base.events->value(single->base.events_arg, 0, get->key, value ? value->bytes : NULL,
	                           value ? value->size_bytes : 0);
}

static int single_dispatch(struct boot *boot)
{
	struct boot_single *single = single_of(boot);
	struct single_get *get;

	while ((get = take_answerable(single))) {
		answer(single, get);
		free(get);
	}
	return 0;
}

static void single_close(struct boot *boot)
{
	struct boot_single *single = single_of(boot);

	while (single->values) {
		struct single_value *value = single->values;

		single->values = value->next;
		free(value);
	}
	while (single->waiting) {
		struct single_get *get = single->waiting;

		single->waiting = get->next;
		free(get);
	}
	free(single);
}

static const struct boot_ops single_ops = {
	.name = "single",
	.put = single_put,
	.get = single_get,
	.leave = single_leave,
	.abort = single_abort,
	.fd = single_fd,
	.dispatch = single_dispatch,
	.close = single_close,
};

static int fill_in(struct boot *boot)
{
	boot->ops = &single_ops;
	boot->rank = 0;
	boot->size = 1;
	boot->local_size = 1;
	return boot_read_choices(boot);
}

int boot_single_open(struct boot **boot)
{
	struct boot_single *single = calloc(1, sizeof(*single));
	int rc;

	if (!single)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	rc = fill_in(&single->base);
	if (rc) {
		free(single);
		return rc;
	}
	*boot = &single->base;
	return 0;
}
