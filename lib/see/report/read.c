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
	return sound;
}

/* Makes the texts of a part printable. Returns whether all of it can be used. */
static bool check_part(struct part *part)
{
	if (!is_sound_header(&part->header))
		return false;
	board_make_printable(part->header.job, sizeof(part->header.job));
	board_make_printable(part->header.host, sizeof(part->header.host));
	return check_entries(part);
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

static void drop(const struct read_part *part)
{
	free(part->part);
	free(part->path);
}

static void clear(struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		drop(&parts->list[i]);
	parts->count = 0;
}

static void read_folder(struct read_parts *parts, const char *folder)
{
	char path[PART_FOLDER_BYTES + 300];
	const struct dirent *entry;
	DIR *files = opendir(folder);

	while (files && (entry = readdir(files))) {
		struct part *part;

		if (strncmp(entry->d_name, PART_PREFIX, strlen(PART_PREFIX)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		part = copy_part(path);
		if (part)
			keep(parts, part, path);
	}
	if (files)
		closedir(files);
}

static void choose_job(struct read_parts *parts, const char *job)
{
	uint64_t newest = 0;

	snprintf(parts->job, sizeof(parts->job), "%s", job);
	for (uint32_t i = 0; i < parts->count && !job[0]; i++) {
		const struct part_header *header = &parts->list[i].part->header;

		if (header->begun_ns < newest)
			continue;
		newest = header->begun_ns;
		snprintf(parts->job, sizeof(parts->job), "%s", header->job);
	}
}

static void drop_others(struct read_parts *parts)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < parts->count; i++) {
		if (strcmp(parts->list[i].part->header.job, parts->job) == 0)
			parts->list[kept++] = parts->list[i];
		else
			drop(&parts->list[i]);
	}
	parts->count = kept;
}

static bool is_open(const struct part_header *header)
{
	return header->state == PART_RUNNING && (kill(header->pid, 0) == 0 || errno == EPERM);
}

/* Returns whether a process may still write to a part, or has not begun one. */
static bool is_running(const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++) {
		if (is_open(&parts->list[i].part->header))
			return true;
	}
	return false;
}

static void read_once(struct read_parts *parts, const char *folder, const char *job)
{
	clear(parts);
	read_folder(parts, folder);
	choose_job(parts, job);
	drop_others(parts);
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

static void finish(struct read_parts *parts)
{
	qsort(parts->list, parts->count, sizeof(*parts->list), compare_ranks);
	for (uint32_t i = 0; i < parts->count; i++) {
		if (parts->list[i].part->header.size > parts->size)
			parts->size = parts->list[i].part->header.size;
	}
	set_rates(parts);
	clocks_align(parts);
}

void read_job(struct read_parts *parts, const char *job)
{
	uint64_t end = now_ns() + LIMIT_NS;
	char folder[PART_FOLDER_BYTES];

	part_write_folder(folder);
	read_once(parts, folder, job);
	while (is_running(parts) && now_ns() < end) {
		nanosleep(&(struct timespec){ 0, (long)STEP_NS }, NULL);
		read_once(parts, folder, job);
	}
	/* A process may have finished, and gone, after its part was read. */
	read_once(parts, folder, job);
	if (parts->count == 0)
		program_fail("%s has no part of %s%s", folder, job[0] ? "job " : "a profile", job);
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

void remove_parts(const struct read_parts *parts)
{
	for (uint32_t i = 0; i < parts->count; i++)
		unlink(parts->list[i].path);
}
