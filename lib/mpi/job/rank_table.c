// SPDX-License-Identifier: BSD-2-Clause
/* See rank_table.h. */
#include "mpi/job/rank_table.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/job/job.h"

#define HASH_BEGIN 14695981039346656037u /* FNV-1a, 64 bits */
#define HASH_FACTOR 1099511628211u

#ifdef OPEN_MPI
#define LOCAL_SIZE "OMPI_COMM_WORLD_LOCAL_SIZE"
#else
#define LOCAL_SIZE "MPI_LOCALNRANKS"
#endif

/* Returns the launcher's count of ranks on this machine, or 0. */
static int local_size(int size)
{
	const char *text = getenv(LOCAL_SIZE);
	int count = text ? atoi(text) : 0;

	return count > 0 && count <= size ? count : 0;
}

int rank_table_open(struct rank_table *table)
{
	const char *unkind = getenv("ORIEL_UNKIND");

	memset(table, 0, sizeof(*table));
	PMPI_Comm_rank(MPI_COMM_WORLD, &table->rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &table->size);
	table->local_size = local_size(table->size);
	table->mine.unkind = unkind && *unkind;
	table->all = calloc((size_t)table->size, sizeof(*table->all));
	return table->all ? 0 : -1;
}

void rank_table_close(struct rank_table *table)
{
	free(table->all);
	table->all = NULL;
}

static uint64_t hash_add(uint64_t hash, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)text[i]) * HASH_FACTOR;
	return hash;
}

/* Without a boot id, returns a number of the host name alone. */
uint64_t machine_number(void)
{
	char name[256] = "", boot[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? 0 : read(fd, boot, sizeof(boot));

	if (fd >= 0)
		close(fd);
	gethostname(name, sizeof(name) - 1);
	return hash_add(hash_add(HASH_BEGIN, name, sizeof(name)), boot, size > 0 ? (size_t)size : 0);
}

/* The machines' numbers use the memory of the entries. */
void rank_table_count_local(struct rank_table *table)
{
	uint64_t mine = machine_number(), *all = (uint64_t *)(void *)table->all;

	collective_allgather(&mine, (int)sizeof(mine), all);
	table->local_size = 0;
	for (int i = 0; i < table->size; i++)
		table->local_size += all[i] == mine;
}

void rank_table_exchange(struct rank_table *table, bool joined)
{
	table->mine.knows_local_size = table->local_size > 0;
	if (!joined)
		table->mine.size_bytes = 0;
	memset(table->all, 0, (size_t)table->size * sizeof(*table->all)); /* the machines' numbers */
	collective_allgather(&table->mine, (int)sizeof(table->mine), table->all);
	/* Pairs with rank_table_get. */
	__atomic_store_n(&table->done, rank_table_first_without_size(table) == table->size, __ATOMIC_RELEASE);
}

int rank_table_first_without_size(const struct rank_table *table)
{
	int rank = 0;

	while (rank < table->size && table->all[rank].knows_local_size)
		rank++;
	return rank;
}

int rank_table_first_without_value(const struct rank_table *table)
{
	int rank = 0;

	while (rank < table->size && table->all[rank].size_bytes > 0)
		rank++;
	return rank;
}

int rank_table_first_unkind(const struct rank_table *table, bool unkind)
{
	int rank = 0;

	while (rank < table->size && table->all[rank].unkind != unkind)
		rank++;
	return rank;
}

int rank_table_put(void *context, const void *value, size_t size_bytes)
{
	struct rank_table *table = context;

	if (size_bytes > RANK_VALUE_MAX)
		return 1;
	table->mine.size_bytes = (uint8_t)size_bytes;
	memcpy(table->mine.value, value, size_bytes);
	return 0;
}

int rank_table_get(void *context, int rank, void *value, size_t *size_bytes)
{
	const struct rank_table *table = context;
	const struct rank_table_entry *entry = &table->all[rank];

	if (!__atomic_load_n(&table->done, __ATOMIC_ACQUIRE)) /* pairs with rank_table_exchange */
		return 1;
	if (entry->size_bytes == 0 || entry->size_bytes > *size_bytes)
		return -1;
	memcpy(value, entry->value, entry->size_bytes);
	*size_bytes = entry->size_bytes;
	return 0;
}
