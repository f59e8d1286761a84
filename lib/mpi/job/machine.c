// SPDX-License-Identifier: BSD-2-Clause
/* machine.c - see machine.h. */
#include "mpi/job/machine.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#define HASH_BEGIN 14695981039346656037u /* FNV-1a, 64 bits */
#define HASH_FACTOR 1099511628211u

static uint64_t add(uint64_t hash, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * HASH_FACTOR;
	return hash;
}

/* Without a boot id, the number is that of the name alone. */
uint64_t machine_number(void)
{
	char name[256] = "", boot[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, boot, sizeof(boot));

	if (fd >= 0)
		close(fd);
	gethostname(name, sizeof(name) - 1);
	return add(add(HASH_BEGIN, name, sizeof(name)), boot, size > 0 ? (size_t)size : 0);
}
