// SPDX-License-Identifier: BSD-2-Clause
/*
 * caller.c - the program's own means to find the other ranks (struct oriel_bootstrap)
 *
 * DESIGN NOTES The program gives exchange, or put and get. exchange is an allgather, and the client
 * calls it twice: for names of machines, which give the number of ranks on this one, then for the
 * values, which it keeps. A rank that fails in between still takes part in the second, without a
 * value, or the others would wait for ever. put and get are a store: after "not yet", get is
 * repeated after a pause.
 */
#include "base/err.h"
#include "base/handle.h"
#include "base/process.h"
#include "base/util.h"
#include "boot_check.h"
#include "client/alarm.h"
#include "client/clients.h"
#include "client/later.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct machine {
	uint8_t boot_id[PLACE_BOOT_ID_BYTES];
	char node[PLACE_NODE_BYTES];
};

/* A rank's part of the exchange. */
struct block {
	uint8_t known; /* 0: the rank failed before it had a value */
	uint8_t size_bytes;
	uint8_t value[BOOT_VALUE_MAX_BYTES];
};

struct boot_caller {
	struct boot base;
	struct oriel_bootstrap given;
	int alarm_fd;
	bool put_done;
	struct block *blocks; /* of all ranks, from exchange */
	struct later later;
};

static struct boot_caller *caller_of(struct boot *boot)
{
	return (struct boot_caller *)boot;
}

/* With exchange. */

static int exchange(struct boot_caller *caller, const void *mine, size_t size_bytes, void **all)
{
	int rc;

	*all = calloc((size_t)caller->base.size, size_bytes);
	if (!*all)
		return err_set(ORIEL_ERR_MEMORY, "no memory for what %d ranks exchange, %zu bytes each", caller->base.size,
		               size_bytes);
	rc = caller->given.exchange(caller->given.context, mine, size_bytes, *all);
	return rc == 0 ? 0
	               : err_set(ORIEL_ERR_BOOTSTRAP, "rank %d: the program's exchange of %zu bytes gives %d",
	                         caller->base.rank, size_bytes, rc);
}

static struct machine this_machine(void)
{
	struct place here = place_here();
	struct machine machine;

	memcpy(machine.boot_id, here.boot_id, sizeof(machine.boot_id));
	memcpy(machine.node, here.node, sizeof(machine.node));
	return machine;
}

static int count_machine(const struct boot_caller *caller, const struct machine *machine, const struct machine *all)
{
	int count = 0;

	for (int i = 0; i < caller->base.size; i++)
		count += memcmp(&all[i], machine, sizeof(*machine)) == 0;
	return count;
}

/* Runs even if local_size is given: all ranks must make as many exchanges. */
static int exchange_machines(struct boot_caller *caller)
{
	struct machine machine = this_machine();
	void *all = NULL;
	int count, rc;

	rc = exchange(caller, &machine, sizeof(machine), &all);
	count = rc ? 0 : count_machine(caller, &machine, all);
	free(all);
	if (caller->base.local_size == 0)
		caller->base.local_size = count;
	if (rc == 0 && count == 0)
		rc = err_set(ORIEL_ERR_BOOTSTRAP,
		             "rank %d: the program's exchange does not give back what this rank has given: element %d of what "
		             "it fills must be rank %d's",
		             caller->base.rank, caller->base.rank, caller->base.rank);
	return rc;
}

static int exchange_values(struct boot_caller *caller, const void *value, size_t size_bytes)
{
	struct block mine = { .known = value != NULL, .size_bytes = (uint8_t)size_bytes };
	void *all = NULL;
	int rc;

	if (value && size_bytes > 0)
		memcpy(mine.value, value, size_bytes);
	caller->put_done = true;
	rc = exchange(caller, &mine, sizeof(mine), &all);
	caller->blocks = all;
	return rc;
}

static void answer_from_blocks(struct boot_caller *caller, const struct later_get *get)
{
	const struct block *block = &caller->blocks[get->rank];

	caller->base.events->value(caller->base.events_arg, get->rank, get->key, block->known ? block->value : NULL,
	                           block->size_bytes);
}

/* With put and get. */

/* Returns false if the get is to be repeated. */
static bool answer_from_store(struct boot_caller *caller, const struct later_get *get)
{
	uint8_t value[BOOT_VALUE_MAX_BYTES];
	size_t size_bytes = sizeof(value);
	int rc = caller->given.get(caller->given.context, get->rank, value, &size_bytes);
	bool known = rc == 0 && size_bytes <= sizeof(value);

	if (rc > 0)
		return false;
	caller->base.events->value(caller->base.events_arg, get->rank, get->key, known ? value : NULL,
	                           known ? size_bytes : 0);
	return true;
}

static int put_into_store(struct boot_caller *caller, const void *value, size_t size_bytes)
{
	int rc = caller->given.put(caller->given.context, value, size_bytes);

	caller->put_done = true;
	return rc == 0 ? 0
	               : err_set(ORIEL_ERR_BOOTSTRAP, "rank %d: the program's put of %zu bytes gives %d", caller->base.rank,
	                         size_bytes, rc);
}

/* With either. */

static int caller_put(struct boot *boot, const char *key, const void *value, size_t size_bytes)
{
	struct boot_caller *caller = caller_of(boot);
	int rc = boot_check_value(key, value, size_bytes);

	if (rc)
		return rc;
	if (caller->put_done)
		return boot_refuse_second_put(key);
	return caller->given.exchange ? exchange_values(caller, value, size_bytes)
	                              : put_into_store(caller, value, size_bytes);
}

static int caller_get(struct boot *boot, int rank, const char *key)
{
	struct boot_caller *caller = caller_of(boot);
	int rc = boot_check_get(boot, rank, key);

	if (rc)
		return rc;
	if (!caller->put_done)
		return err_set(ORIEL_ERR_SYNC, "bootstrap get from rank %d: nothing has been put yet", rank);
	rc = later_add(&caller->later, rank, key);
	if (rc == 0)
		alarm_set(caller->alarm_fd, ALARM_NOW);
	return rc;
}

static int caller_leave(struct boot *boot)
{
	(void)boot;
	return 0;
}

static int caller_abort(struct boot *boot, int status, const char *reason)
{
	struct boot_caller *caller = caller_of(boot);
	int rc = caller->given.abort ? caller->given.abort(caller->given.context, status, reason) : 0;

	return rc == 0 ? 0
	               : err_set(ORIEL_ERR_BOOTSTRAP, "rank %d: the program's abort with status %d gives %d", boot->rank,
	                         status, rc);
}

static int caller_fd(const struct boot *boot)
{
	return ((const struct boot_caller *)boot)->alarm_fd;
}

static int caller_dispatch(struct boot *boot)
{
	struct boot_caller *caller = caller_of(boot);
	uint64_t now = now_ns();

	for (struct later_get *get = later_take_due(&caller->later, now); get; get = later_take_due(&caller->later, now)) {
		if (caller->given.get && !answer_from_store(caller, get)) {
			later_again(&caller->later, get, now);
			continue;
		}
		if (caller->given.exchange)
			answer_from_blocks(caller, get);
		free(get);
	}
	alarm_set(caller->alarm_fd, later_due_ns(&caller->later));
	return 0;
}

static void release(struct boot_caller *caller)
{
	if (caller->alarm_fd >= 0)
		close(caller->alarm_fd);
	later_clear(&caller->later);
	free(caller->blocks);
	free(caller);
}

static void caller_close(struct boot *boot)
{
	struct boot_caller *caller = caller_of(boot);

	if (caller->given.exchange && !caller->put_done)
		exchange_values(caller, NULL, 0);
	release(caller);
}

static const struct boot_ops caller_ops = {
	.name = "caller",
	.put = caller_put,
	.get = caller_get,
	.leave = caller_leave,
	.abort = caller_abort,
	.fd = caller_fd,
	.dispatch = caller_dispatch,
	.close = caller_close,
};

static int check_numbers(const struct oriel_bootstrap *given)
{
	if (given->size < 1 || given->size > BOOT_RANKS_MAX)
		return err_set(ORIEL_ERR_ARG, "oriel_bootstrap: size is %d; it must be from 1 to %d", given->size,
		               BOOT_RANKS_MAX);
	if (given->rank < 0 || given->rank >= given->size)
		return err_set(ORIEL_ERR_ARG, "oriel_bootstrap: rank is %d; it must be from 0 to %d", given->rank,
		               given->size - 1);
	if (given->local_size < 0 || given->local_size > given->size)
		return err_set(ORIEL_ERR_ARG, "oriel_bootstrap: local_size is %d; it must be from 0 to %d", given->local_size,
		               given->size);
	return 0;
}

static int check_functions(const struct oriel_bootstrap *given)
{
	bool store = given->put && given->get, any = given->put || given->get;

	if (given->exchange ? !any : store)
		return 0;
	return err_set(ORIEL_ERR_ARG, "oriel_bootstrap: give exchange, or put and get, and not both");
}

static int read_given(struct boot_caller *caller, const struct oriel_bootstrap *given)
{
	int rc = public_struct_check(given->struct_bytes, "oriel_bootstrap");

	if (rc)
		return rc;
	public_struct_copy(&caller->given, sizeof(caller->given), given, given->struct_bytes);
	rc = check_numbers(&caller->given);
	return rc ? rc : check_functions(&caller->given);
}

static int fill_in(struct boot_caller *caller, const struct oriel_bootstrap *given)
{
	int rc = read_given(caller, given);

	if (rc)
		return rc;
	caller->base.ops = &caller_ops;
	caller->base.rank = caller->given.rank;
	caller->base.size = caller->given.size;
	caller->base.local_size = caller->given.local_size;
	rc = boot_read_choices(&caller->base);
	if (rc)
		return rc;
	return alarm_open(&caller->alarm_fd);
}

int boot_caller_open(const struct oriel_bootstrap *given, struct boot **boot)
{
	struct boot_caller *caller = calloc(1, sizeof(*caller));
	int rc;

	if (!caller)
		return err_set(ORIEL_ERR_MEMORY, "no memory for the bootstrap client");
	caller->alarm_fd = -1;
	caller->given.struct_bytes = sizeof(caller->given);
	rc = fill_in(caller, given);
	if (rc == 0 && caller->given.exchange)
		rc = exchange_machines(caller);
	if (rc) {
		release(caller);
		return rc;
	}
	if (caller->base.local_size == 0)
		caller->base.local_size = 1;
	*boot = &caller->base;
	return 0;
}
