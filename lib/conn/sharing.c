// SPDX-License-Identifier: BSD-2-Clause
/* See sharing.h. */
#include "conn/sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/process.h"
#include "conn/coll.h"
#include "job/group.h"
#include "job/job.h"
#include "pages/shortage.h"
#include "sync/wait.h"

uint64_t sharing_place(const struct oriel_job *job)
{
	const struct place *place = &job->endpoint.place;
	unsigned char hash[crypto_generichash_BYTES_MIN];
	crypto_generichash_state state;
	uint64_t number;

	if (place_apart(place, place)) {
		randombytes_buf(&number, sizeof(number)); /* equals no rank's, not even its own */
		return number | 1;
	}
	crypto_generichash_init(&state, NULL, 0, crypto_generichash_BYTES_MIN);
	crypto_generichash_update(&state, place->boot_id, sizeof(place->boot_id));
	crypto_generichash_update(&state, (const void *)&place->net_namespace, sizeof(place->net_namespace));
	crypto_generichash_update(&state, (const void *)&place->pid_namespace, sizeof(place->pid_namespace));
	crypto_generichash_update(&state, (const void *)&place->user_namespace, sizeof(place->user_namespace));
	crypto_generichash_update(&state, (const void *)&place->user, sizeof(place->user));
	crypto_generichash_update(&state, (const void *)place->node, strlen(place->node));
	crypto_generichash_final(&state, hash, sizeof(hash));
	memcpy(&number, hash, sizeof(number));
	return number | 1;
}

/* name[0]: process and descriptor, not 0; name[1]: the inode number. */
int sharing_name(int fd, uint64_t name[2])
{
	struct stat status;

	if (fstat(fd, &status))
		return err_set(ORIEL_ERR_MEMORY, "a memory file cannot be looked at: %s", strerror(errno));
	name[0] = (uint64_t)getpid() << 32 | (uint32_t)fd;
	name[1] = status.st_ino;
	return 0;
}

static int cannot_open(const char *path, int error)
{
	if (is_shortage(error))
		return err_set(shortage_code(error), "%s, a memory file of another rank, cannot be opened: %s", path,
		               strerror(error));
	return err_set(ORIEL_ERR_SHARED,
	               "%s, a memory file of another rank, cannot be opened: %s. Ranks that share memory must be able to "
	               "look into each other's /proc: of one user, in one container, and not made undumpable",
	               path, strerror(error));
}

/* Returns 0 if it is the right file and cannot shrink. */
static int check_file(int fd, uint64_t inode, size_t size_bytes)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);

	if (fstat(fd, &status) == 0 && status.st_ino == inode && status.st_size >= (off_t)size_bytes &&
	    (seals < 0 || seals & F_SEAL_SHRINK))
		return 0;
	return err_set(ORIEL_ERR_SHARED, "the memory file of another rank is not what that rank has described");
}

static int map_file(int fd, size_t size_bytes, void **base)
{
	void *here = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (here == MAP_FAILED)
		return err_set(ORIEL_ERR_MEMORY, "%zu bytes of shared memory cannot be mapped: %s", size_bytes,
		               strerror(errno));
	*base = here;
	return 0;
}

int sharing_map(const uint64_t name[2], size_t size_bytes, void **base, int *fd)
{
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", (uint32_t)(name[0] >> 32), (uint32_t)name[0]);
	*fd = open(path, O_RDWR | O_CLOEXEC);
	if (*fd < 0)
		return cannot_open(path, errno);
	rc = check_file(*fd, name[1], size_bytes);
	if (rc == 0)
		rc = map_file(*fd, size_bytes, base);
	if (rc) {
		close(*fd);
		*fd = -1;
	}
	return rc;
}

/* oriel_group_shared */

/* Returns the number of members with this rank's number, and their world ranks. */
static int sharing_members(const struct oriel_group *group, const struct coll_item items[], int worlds[])
{
	int count = 0;

	for (int i = 0; i < group->size; i++) {
		if (items[i].word[0] == items[group->my_rank].word[0])
			worlds[count++] = group_world_rank(group, i);
	}
	return count;
}

static int gather_places(const struct oriel_group *group, struct coll_item items[])
{
	struct oriel_job *job = group->job;
	struct coll coll;
	struct wait wait;
	uint64_t number;
	uint8_t id[16];
	int rc = job_count_collective(job, group, &number);

	if (rc)
		return rc;
	if (items)
		items[group->my_rank].word[0] = sharing_place(job);
	coll_id(id, group->key, number, COLL_GROUP_SHARED);
	coll_begin(&coll, group, id, items ? 0 : ORIEL_ERR_MEMORY, job->rank);
	wait_begin(&wait, job, "oriel_group_shared", NULL);
	rc = coll_gather(&coll, items, &wait);
	return items || rc != ORIEL_ERR_MEMORY ? rc : err_set(rc, "out of memory for %d ranks", group->size);
}

static int group_of_sharing(const struct oriel_group *group, const struct coll_item items[], oriel_group **newgroup)
{
	int *worlds = malloc((size_t)group->size * sizeof(int));
	struct oriel_group *made = NULL;

	if (worlds)
		made = group_new(group->job, sharing_members(group, items, worlds), worlds);
	free(worlds);
	if (!made)
		return err_set(ORIEL_ERR_MEMORY, "out of memory for %d ranks", group->size);
	*newgroup = made;
	return 0;
}

int oriel_group_shared(const oriel_group *group, oriel_group **newgroup)
{
	struct coll_item *items;
	int rc;

	if (!handle_valid(HANDLE_GROUP, group) || !handle_valid(HANDLE_JOB, group->job))
		return handle_refuse(group, "oriel_group_shared", "group");
	if (!newgroup)
		return err_set(ORIEL_ERR_ARG, "oriel_group_shared: newgroup is NULL");
	if (group->my_rank == ORIEL_RANK_NONE)
		return err_set(ORIEL_ERR_RANK, "oriel_group_shared: rank %d of the job is no member of the group",
		               group->job->rank);
	items = calloc((size_t)group->size, sizeof(*items));
	rc = gather_places(group, items);
	if (rc == 0)
		rc = group_of_sharing(group, items, newgroup);
	free(items);
	return rc ? err_in(rc, "oriel_group_shared") : 0;
}
