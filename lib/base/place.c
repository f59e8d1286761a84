// SPDX-License-Identifier: BSD-2-Clause
/* place.c - see place.h. */
#include "base/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads 32 hexadecimal digits, with dashes between them. */
static void read_boot_id(uint8_t boot_id[PLACE_BOOT_ID_BYTES])
{
	FILE *file = fopen(BOOT_ID_FILE, "re");
	char text[64] = "";
	int digits = 0;

	if (!file)
		return;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	for (const char *c = text; *c && digits < 2 * PLACE_BOOT_ID_BYTES; c++) {
		if (digit(*c) < 0)
			continue;
		boot_id[digits / 2] = (uint8_t)(boot_id[digits / 2] << 4 | digit(*c));
		digits++;
	}
}

static uint64_t namespace_number(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_ino : 0;
}

struct place place_here(void)
{
	const char *node = getenv("ORIEL_TEST_NODE");
	struct place here = {
		.net_namespace = namespace_number("/proc/self/ns/net"),
		.pid_namespace = namespace_number("/proc/self/ns/pid"),
		.user_namespace = namespace_number("/proc/self/ns/user"),
		.user = geteuid(),
	};

	read_boot_id(here.boot_id);
	snprintf(here.node, sizeof(here.node), "%s", node ? node : "");
	return here;
}

static bool same_boot(const struct place *a, const struct place *b)
{
	static const uint8_t none[PLACE_BOOT_ID_BYTES];

	return memcmp(a->boot_id, b->boot_id, sizeof(none)) == 0 && memcmp(a->boot_id, none, sizeof(none)) != 0;
}

static bool same_number(uint64_t a, uint64_t b)
{
	return a == b && a != 0;
}

const char *place_apart(const struct place *a, const struct place *b)
{
	if (!same_boot(a, b) || strcmp(a->node, b->node) != 0)
		return "machine";
	if (a->user != b->user || !same_number(a->user_namespace, b->user_namespace))
		return "user";
	if (!same_number(a->net_namespace, b->net_namespace))
		return "network namespace";
	if (!same_number(a->pid_namespace, b->pid_namespace))
		return "process namespace";
	return NULL;
}
