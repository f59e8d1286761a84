// SPDX-License-Identifier: BSD-2-Clause
/* See profile.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "see/board.h"
#include "see/front/clock.h"
#include "see/report/profile.h"
#include "see/report/program.h"

#define LIMIT_NS (10 * NS_PER_SECOND)
#define STEP_NS (20 * NS_PER_MS)
#define LONGEST_NS 1e18 /* of a job */

/* ---- one part ---- */

static bool is_sound_header(const struct part_header *header)
{
	return header->mark == PART_MARK && header->version == PART_VERSION && header->state <= PART_ENDED &&
	       header->rank >= -1 && header->rank < 1 << 24 && header->size >= -1 && header->size <= 1 << 24 &&
	       header->pid > 0 && header->site_count <= PART_SITES && header->window_count <= PART_WINDOWS &&
	       header->object_count <= PART_OBJECTS && header->wait_count <= PART_WAITS &&
	       header->chunk_count <= PART_CHUNKS_MAX;
}

static bool is_index(uint32_t index, uint32_t count)
{
	return index == PART_NONE || index < count;
}

static bool is_sound_wait(const struct part_wait *wait, const struct part_header *header)
{
	return wait->site < header->site_count && wait->cause < WAIT_CAUSES && wait->rank >= -1 &&
	       wait->root_count <= PART_ROOTS;
}

static bool check_entries(struct part *part)
{
	const struct part_header *header = &part->header;
	bool sound = true;

	for (uint32_t i = 0; i < header->window_count; i++) {
		board_make_printable(part->windows[i].name, sizeof(part->windows[i].name));
		board_make_printable(part->windows[i].kind, sizeof(part->windows[i].kind));
	}
	for (uint32_t i = 0; i < header->object_count; i++) {
		board_make_printable(part->objects[i].path, sizeof(part->objects[i].path));
		sound &= part->objects[i].build_id_bytes <= PART_BUILD_ID_BYTES;
	}
	for (uint32_t i = 0; i < header->site_count; i++) {
		board_make_printable(part->sites[i].call, sizeof(part->sites[i].call));
		sound &= is_index(part->sites[i].object, header->object_count) &&
		         is_index(part->sites[i].window, header->window_count);
	}
	for (uint32_t i = 0; i < header->wait_count; i++)
		sound &= is_sound_wait(&part->waits[i], header);
	for (uint32_t i = 0; i < PART_DEATHS; i++)
		board_make_printable(part->deaths[i].text, sizeof(part->deaths[i].text));
	return sound && part->death_count <= PART_DEATHS;
}

/* Makes the texts of a header printable. Returns whether it can be used. */
static bool check_header(struct part_header *header)
{
	board_make_printable(header->job, sizeof(header->job));
	board_make_printable(header->host, sizeof(header->host));
	return is_sound_header(header);
}

/* Makes the texts of a part printable. Returns whether all of it can be used. */
static bool check_part(struct part *part)
{
	return check_header(&part->header) && check_entries(part);
}

/* Returns a copy of the file's part, or NULL. */
static struct part *copy_part(const char *path)
{
	struct part *part = malloc(sizeof(*part));
	int fd = part_file_open(path, sizeof(struct part));
	bool sound = part && fd >= 0 && pread(fd, part, sizeof(*part), 0) == sizeof(*part) && check_part(part);

	if (fd >= 0)
		close(fd);
	if (sound)
		return part;
	free(part);
	return NULL;
}

static void keep(struct read_parts *parts, struct part *part, const char *path)
{
	if (!grow_array(&parts->list, &parts->capacity, parts->count + 1, sizeof(*parts->list)))
		program_fail("out of memory");
	parts->list[parts->count++] = (struct read_part){ .part = part, .path = strdup(path) };
}

/* ---- all parts of a job ---- */

/* A file of the folder. While processes record, only its header is read. */
struct listed {
	struct part_header header;
	char *path;
};

struct folder {
	char path[PART_FOLDER_BYTES];
	struct listed *list;
	uint32_t count, capacity;
};

static bool copy_header(const char *path, struct part_header *header)
{
	int fd = part_file_open(path, sizeof(struct part));
	bool sound = fd >= 0 && pread(fd, header, sizeof(*header), 0) == sizeof(*header) && check_header(header);

	if (fd >= 0)
		close(fd);
	return sound;
}

static void forget_files(struct folder *folder)
{
	for (uint32_t i = 0; i < folder->count; i++)
		free(folder->list[i].path);
	folder->count = 0;
}

static void look_at_folder(struct folder *folder)
{
	char path[PART_FOLDER_BYTES + 300];
	const struct dirent *entry;
	DIR *files = opendir(folder->path);

	forget_files(folder);
	while (files && (entry = readdir(files))) {
		struct listed listed = { .path = NULL };

		if (strncmp(entry->d_name, PART_PREFIX, strlen(PART_PREFIX)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder->path, entry->d_name);
		if (!copy_header(path, &listed.header))
			continue;
		listed.path = strdup(path);
		*(struct listed *)program_append(&folder->list, &folder->count, &folder->capacity, sizeof(listed)) = listed;
	}
	if (files)
		closedir(files);
}

/* Takes the job's name, or without one that of the newest job. */
static void choose_job(struct read_parts *parts, const struct folder *folder, const char *job)
{
	uint64_t newest = 0;

	snprintf(parts->job, sizeof(parts->job), "%s", job);
	for (uint32_t i = 0; i < folder->count && !job[0]; i++) {
		const struct part_header *header = &folder->list[i].header;

		if (header->begun_ns < newest)
			continue;
		newest = header->begun_ns;
		snprintf(parts->job, sizeof(parts->job), "%s", header->job);
	}
}

static bool is_open(const struct part_header *header)
{
	return header->state == PART_RUNNING && (kill(header->pid, 0) == 0 || errno == EPERM);
}

/* Returns whether a process of the job may still write to its part. */
static bool is_running(const struct folder *folder, const char *job)
{
	for (uint32_t i = 0; i < folder->count; i++) {
		if (strcmp(folder->list[i].header.job, job) == 0 && is_open(&folder->list[i].header))
			return true;
	}
	return false;
}

static void copy_parts(struct read_parts *parts, const struct folder *folder)
{
	for (uint32_t i = 0; i < folder->count; i++) {
		bool wanted = strcmp(folder->list[i].header.job, parts->job) == 0;
		struct part *part = wanted ? copy_part(folder->list[i].path) : NULL;

		if (part)
			keep(parts, part, folder->list[i].path);
	}
}

static int compare_ranks(const void *a, const void *b)
{
	const struct read_part *left = a, *right = b;

	return (left->part->header.rank > right->part->header.rank) - (left->part->header.rank < right->part->header.rank);
}

/*
 * Returns the rate since a part of this machine began, by readings that are taken now; 1 for a part
 * of another machine.
 */
static double rate_until_now(const struct part_header *header)
{
	uint64_t ticks = clock_counter(), ns = now_ns();
	char host[PART_HOST_BYTES] = "";

	if (gethostname(host, sizeof(host) - 1) || strcmp(host, header->host) != 0 || !header->has_counter ||
	    ticks <= header->begun_ticks || ns <= header->begun_ns)
		return 1;
	return (double)(ns - header->begun_ns) / (double)(ticks - header->begun_ticks);
}

/* Returns the rate by the readings at both ends of a part; 0: it has not ended. */
static double rate_of(const struct part_header *header)
{
	if (header->ended_ticks <= header->begun_ticks || header->ended_ns <= header->begun_ns)
		return 0;
	return (double)(header->ended_ns - header->begun_ns) / (double)(header->ended_ticks - header->begun_ticks);
}

/* For a part that has not ended the rate of another one of its machine serves. */
static double rate_beside(const struct read_parts *parts, const struct part_header *header)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *other = &parts->list[i].part->header;

		if (strcmp(other->host, header->host) == 0 && rate_of(other) > 0)
			return rate_of(other);
	}
	return rate_until_now(header);
}

static void set_rates(struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part_header *header = &parts->list[i].part->header;
		double rate = rate_of(header);

		parts->list[i].ns_per_tick = rate > 0 ? rate : rate_beside(parts, header);
	}
}

/* A process that died ends with the last call that it has begun, or ended. */
static void set_end(struct part *part, double ns_per_tick)
{
	struct part_header *header = &part->header;
	uint64_t entered = part->presence.entered, left = part->presence.left, last = entered > left ? entered : left;
	double ns = (double)(int64_t)(last - header->begun_ticks) * ns_per_tick;

	if (header->state == PART_RUNNING && ns > 0 && ns < LONGEST_NS)
		header->ended_ns = header->begun_ns + (uint64_t)ns;
}

static void finish(struct read_parts *parts)
{
	qsort(parts->list, parts->count, sizeof(*parts->list), compare_ranks);
	for (uint32_t i = 0; i < parts->count; i++) {
		if (parts->list[i].part->header.size > parts->size)
			parts->size = parts->list[i].part->header.size;
	}
	set_rates(parts);
	for (uint32_t i = 0; i < parts->count; i++)
		set_end(parts->list[i].part, parts->list[i].ns_per_tick);
	clocks_align(parts);
}

void read_job(struct read_parts *parts, const char *job)
{
	uint64_t end = now_ns() + LIMIT_NS;
	struct folder folder = { .list = NULL };

	part_write_folder(folder.path);
	look_at_folder(&folder);
	choose_job(parts, &folder, job);
	while (is_running(&folder, parts->job) && now_ns() < end) {
		nanosleep(&(struct timespec){ 0, (long)STEP_NS }, NULL);
		look_at_folder(&folder);
		choose_job(parts, &folder, job);
	}
	copy_parts(parts, &folder);
	if (parts->count == 0)
		program_fail("%s has no part of %s%s", folder.path, job[0] ? "job " : "a profile", job);
	forget_files(&folder);
	free(folder.list);
	finish(parts);
}

void read_files(struct read_parts *parts, char **paths)
{
	for (; *paths; paths++) {
		struct part *part = copy_part(*paths);

		if (!part)
			program_fail("%s is no part of a profile by this version, or not yours", *paths);
		keep(parts, part, *paths);
		snprintf(parts->job, sizeof(parts->job), "%s", part->header.job);
	}
	finish(parts);
}

const char *read_death(const struct read_parts *parts, int rank)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct part *part = parts->list[i].part;

		for (uint64_t k = 0; k < part->death_count; k++) {
			if (part->deaths[k].rank == rank && part->deaths[k].text[0])
				return part->deaths[k].text;
		}
	}
	return "did not finalize";
}

void remove_parts(const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		unlink(parts->list[i].path);
}
