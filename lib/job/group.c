// SPDX-License-Identifier: BSD-2-Clause
/* group.c - groups of ranks; see group.h. */
#include "job/group.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "job/job.h"
#include "base/util.h"

int group_world_rank(const struct oriel_group *group, int rank)
{
	uint32_t low = 0, high = group->range_count;
	const struct group_range *range;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (group->ranges[middle].offset <= rank)
			low = middle;
		else
			high = middle;
	}
	range = &group->ranges[low];
	return range->first + (rank - range->offset) * range->stride;
}

static int range_find(const struct group_range *range, int world)
{
	int distance = world - range->first;

	if (distance == 0)
		return range->offset;
	if (range->stride == 0 || distance % range->stride != 0)
		return ORIEL_RANK_NONE;
	distance /= range->stride;
	return distance > 0 && distance < range->count ? range->offset + distance : ORIEL_RANK_NONE;
}

static int compare_index(const void *a, const void *b)
{
	const struct group_index *left = a, *right = b;

	return (left->world > right->world) - (left->world < right->world);
}

int group_rank_of(const struct oriel_group *group, int world)
{
	struct group_index key = { .world = world };

	if (group->index) {
		struct group_index *found = bsearch(&key, group->index, (size_t)group->size, sizeof(key), compare_index);

		return found ? found->rank : ORIEL_RANK_NONE;
	}
	for (uint32_t i = 0; i < group->range_count; i++) {
		int rank = range_find(&group->ranges[i], world);

		if (rank != ORIEL_RANK_NONE)
			return rank;
	}
	return ORIEL_RANK_NONE;
}

/*
 * Returns the longest range that starts at worlds[0]; keys agree between ranks since only the list
 * matters.
 */
static struct group_range range_first(int count, const int worlds[])
{
	struct group_range range = { .first = worlds[0], .count = 1 };

	if (count == 1)
		return range;
	range.stride = worlds[1] - worlds[0];
	while (range.count < count && worlds[range.count] - worlds[range.count - 1] == range.stride)
		range.count++;
	return range;
}

static bool group_compress(struct oriel_group *group, int count, const int worlds[])
{
	uint32_t capacity = 0;

	for (int done = 0; done < count;) {
		struct group_range range = range_first(count - done, worlds + done);

		range.offset = done;
		if (!grow_array(&group->ranges, &capacity, group->range_count + 1, sizeof(range)))
			return false;
		group->ranges[group->range_count++] = range;
		done += range.count;
	}
	return true;
}

static bool group_build_index(struct oriel_group *group)
{
	if (group->range_count <= GROUP_LINEAR_MAX)
		return true;
	group->index = malloc((size_t)group->size * sizeof(*group->index));
	if (!group->index)
		return false;
	for (int rank = 0; rank < group->size; rank++)
		group->index[rank] = (struct group_index){ group_world_rank(group, rank), rank };
	qsort(group->index, (size_t)group->size, sizeof(*group->index), compare_index);
	return true;
}

/* The tag is the hash's key, so a tagged group differs from an untagged one. */
static void group_hash(struct oriel_group *group)
{
	unsigned char tag[crypto_generichash_KEYBYTES_MIN] = { 0 };

	memcpy(tag, &group->tag, sizeof(group->tag));
	crypto_generichash(group->key, sizeof(group->key), (const unsigned char *)group->ranges,
	                   group->range_count * sizeof(*group->ranges), group->tagged ? tag : NULL,
	                   group->tagged ? sizeof(tag) : 0);
}

static void leave_list(struct oriel_group *group)
{
	struct oriel_job *job = group->job;

	pthread_mutex_lock(&job->lock);
	*group->link = group->next;
	if (group->next)
		group->next->link = group->link;
	job->groups.count--;
	pthread_mutex_unlock(&job->lock);
}

/* Enters the group into the job's list. Returns false if memory is short. */
static bool join_list(struct oriel_group *group)
{
	struct oriel_job *job = group->job;
	bool countable;

	pthread_mutex_lock(&job->lock);
	group->next = job->groups.alive;
	group->link = &job->groups.alive;
	if (group->next)
		group->next->link = &group->next;
	job->groups.alive = group;
	job->groups.count++;
	countable = job_reserve_counts(job);
	pthread_mutex_unlock(&job->lock);
	return countable;
}

void group_release(struct oriel_group *group)
{
	leave_list(group);
	free(group->ranges);
	free(group->index);
	handle_release(HANDLE_GROUP, group);
}

static struct oriel_group *group_finish(struct oriel_group *group)
{
	if (!group_build_index(group)) {
		group_release(group);
		return NULL;
	}
	group->my_rank = group_rank_of(group, group->job->rank);
	group_hash(group);
	return group;
}

static struct oriel_group *group_alloc(struct oriel_job *job, int size)
{
	struct oriel_group *group = handle_new(HANDLE_GROUP, sizeof(*group));

	if (!group)
		return NULL;
	group->job = job;
	group->size = size;
	if (join_list(group))
		return group;
	group_release(group);
	return NULL;
}

struct oriel_group *group_new(struct oriel_job *job, int count, const int worlds[])
{
	struct oriel_group *group = group_alloc(job, count);

	if (!group)
		return NULL;
	if (!group_compress(group, count, worlds)) {
		group_release(group);
		return NULL;
	}
	return group_finish(group);
}

struct oriel_group *group_new_world(struct oriel_job *job)
{
	struct oriel_group *group = group_alloc(job, job->size);

	if (!group)
		return NULL;
	group->ranges = malloc(sizeof(*group->ranges));
	if (!group->ranges) {
		group_release(group);
		return NULL;
	}
	group->range_count = 1;
	group->ranges[0] = (struct group_range){ .first = 0, .stride = job->size > 1, .count = job->size };
	return group_finish(group);
}

/* Copies the group without key and index. */
static struct oriel_group *copy_list(const struct oriel_group *group)
{
	struct oriel_group *copy = group_alloc(group->job, group->size);
	size_t ranges_bytes = group->range_count * sizeof(*group->ranges);

	if (!copy)
		return NULL;
	copy->range_count = group->range_count;
	copy->ranges = malloc(ranges_bytes + 1);
	if (!copy->ranges) {
		group_release(copy);
		return NULL;
	}
	if (ranges_bytes)
		memcpy(copy->ranges, group->ranges, ranges_bytes);
	return copy;
}

struct oriel_group *group_copy(const struct oriel_group *group)
{
	struct oriel_group *copy = copy_list(group);

	if (!copy)
		return NULL;
	copy->borrowed = true;
	copy->my_rank = group->my_rank;
	copy->tagged = group->tagged;
	copy->tag = group->tag;
	memcpy(copy->key, group->key, sizeof(copy->key));
	if (group_build_index(copy))
		return copy;
	group_release(copy);
	return NULL;
}

static int group_check(const struct oriel_group *group, const char *call)
{
	if (!handle_valid(HANDLE_GROUP, group) || !handle_valid(HANDLE_JOB, group->job))
		return handle_refuse(group, call, "group");
	return 0;
}

int oriel_group_world(oriel_job *job, oriel_group **group)
{
	struct oriel_group *world;

	if (job_check(job, "oriel_group_world"))
		return ORIEL_ERR_HANDLE;
	if (!group)
		return err_set(ORIEL_ERR_ARG, "oriel_group_world: group is NULL");
	world = group_new_world(job);
	if (!world)
		return err_set(ORIEL_ERR_MEMORY, "oriel_group_world: out of memory");
	*group = world;
	return 0;
}

/* Translates ranks to worlds[]; refuses ranks that are out of range or listed twice. */
static int incl_check(const struct oriel_group *group, int count, const int ranks[], int worlds[], uint8_t seen[])
{
	for (int i = 0; i < count; i++) {
		int rank = ranks[i];

		if (rank < 0 || rank >= group->size)
			return err_set(ORIEL_ERR_RANK, "oriel_group_incl: ranks[%d] is %d, the group has ranks 0 to %d", i, rank,
			               group->size - 1);
		if (seen[rank / 8] & (1 << rank % 8))
			return err_set(ORIEL_ERR_RANK, "oriel_group_incl: ranks[%d] is %d, which stands in the list twice", i,
			               rank);
		seen[rank / 8] |= (uint8_t)(1 << rank % 8);
		worlds[i] = group_world_rank(group, rank);
	}
	return 0;
}

static int incl_build(const struct oriel_group *group, int count, const int ranks[], struct oriel_group **newgroup)
{
	int *worlds = malloc((size_t)count * sizeof(int) + 1);
	uint8_t *seen = calloc((size_t)group->size / 8 + 1, 1);
	int rc = ORIEL_ERR_MEMORY;

	if (worlds && seen)
		rc = incl_check(group, count, ranks, worlds, seen);
	if (rc == 0) {
		*newgroup = group_new(group->job, count, worlds);
		rc = *newgroup ? 0 : ORIEL_ERR_MEMORY;
	}
	free(worlds);
	free(seen);
	return rc == ORIEL_ERR_MEMORY ? err_set(rc, "oriel_group_incl: out of memory for %d ranks", count) : rc;
}

int oriel_group_incl(const oriel_group *group, int count, const int ranks[], oriel_group **newgroup)
{
	struct oriel_group *built;
	int rc = group_check(group, "oriel_group_incl");

	if (rc)
		return rc;
	if (count < 0 || !newgroup || (count > 0 && !ranks))
		return err_set(ORIEL_ERR_ARG, "oriel_group_incl: count is %d, ranks %p, newgroup %p", count,
		               (const void *)ranks, (void *)newgroup);
	if (count > group->size)
		return err_set(ORIEL_ERR_RANK, "oriel_group_incl: %d ranks of a group that has %d", count, group->size);
	rc = incl_build(group, count, ranks, &built);
	if (rc == 0)
		*newgroup = built;
	return rc;
}

int oriel_group_tagged(const oriel_group *group, uint64_t tag, oriel_group **newgroup)
{
	struct oriel_group *copy;
	int rc = group_check(group, "oriel_group_tagged");

	if (rc)
		return rc;
	if (!newgroup)
		return err_set(ORIEL_ERR_ARG, "oriel_group_tagged: newgroup is NULL");
	copy = copy_list(group);
	if (copy) {
		copy->tagged = true;
		copy->tag = tag;
		copy = group_finish(copy);
	}
	if (!copy)
		return err_set(ORIEL_ERR_MEMORY, "oriel_group_tagged: out of memory for %d ranks", group->size);
	*newgroup = copy;
	return 0;
}

int oriel_group_free(oriel_group **group)
{
	int rc = group_check(group ? *group : NULL, "oriel_group_free");

	if (rc)
		return rc;
	if ((*group)->borrowed)
		return err_set(ORIEL_ERR_HANDLE, "oriel_group_free: the group belongs to a window, which frees it");
	group_release(*group);
	*group = NULL;
	return 0;
}

int oriel_group_rank(const oriel_group *group)
{
	int rc = group_check(group, "oriel_group_rank");

	return rc ? rc : group->my_rank;
}

int oriel_group_size(const oriel_group *group)
{
	int rc = group_check(group, "oriel_group_size");

	return rc ? rc : group->size;
}

static int translate_check(const struct oriel_group *from, int count, const int ranks[], const struct oriel_group *to,
                           const int out[])
{
	if (count < 0 || (count > 0 && (!ranks || !out)))
		return err_set(ORIEL_ERR_ARG, "oriel_group_translate: count is %d, ranks %p, out %p", count,
		               (const void *)ranks, (const void *)out);
	if (from->job != to->job)
		return err_set(ORIEL_ERR_ARG, "oriel_group_translate: the groups belong to different jobs");
	for (int i = 0; i < count; i++) {
		if (ranks[i] < 0 || ranks[i] >= from->size)
			return err_set(ORIEL_ERR_RANK, "oriel_group_translate: ranks[%d] is %d, the group has ranks 0 to %d", i,
			               ranks[i], from->size - 1);
	}
	return 0;
}

int oriel_group_translate(const oriel_group *from, int count, const int ranks[], const oriel_group *to, int out[])
{
	int rc = group_check(from, "oriel_group_translate");

	if (rc == 0)
		rc = group_check(to, "oriel_group_translate");
	if (rc == 0)
		rc = translate_check(from, count, ranks, to, out);
	if (rc)
		return rc;
	for (int i = 0; i < count; i++)
		out[i] = group_rank_of(to, group_world_rank(from, ranks[i]));
	return 0;
}
