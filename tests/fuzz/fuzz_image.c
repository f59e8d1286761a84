// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_image.c - programs, libraries and ld.so.cache as oriel-mpi reads them: every text it takes
 * ends within the file
 */
#include "mpi/starter/cache.c"
#undef MAGIC
#define map map_image /* each file has one */
#define text_at text_at_image
#include "mpi/starter/image.c"

#include <stdio.h>
#include <stdlib.h>

#define NEEDED_MAX 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read to its end, so that the sanitizer sees where that is. */
static void take(const char *text)
{
	if (text && strlen(text) == SIZE_MAX)
		abort();
}

static void read_image(const char *path)
{
	struct image image;
	const char *name;
	size_t at = 0, count = 0;

	if (image_open(&image, path) != IMAGE_DYNAMIC)
		return;
	while ((name = image_needed(&image, &at)) != NULL && count++ < NEEDED_MAX)
		take(name);
	take(image_text(&image, DT_RPATH));
	take(image_text(&image, DT_RUNPATH));
	image_close(&image);
}

static void read_cache(const char *path)
{
	struct cache cache = cache_open(path);
	size_t at = 0;

	take(cache_find(&cache, "libmpi.so.40", &at));
}

/* The input as a file; the first byte says whether it begins as an ELF file for this machine does. */
static void write_file(int fd, const uint8_t *data, size_t size)
{
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (data[0] & 1 && size >= sizeof(__ehdr_start) && pwrite(fd, &__ehdr_start, offsetof(ElfW(Ehdr), e_entry), 0) < 0)
		abort();
	if (data[0] & 1 && size >= sizeof(__ehdr_start) &&
	    pwrite(fd, &__ehdr_start.e_phentsize, sizeof(__ehdr_start.e_phentsize), offsetof(ElfW(Ehdr), e_phentsize)) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (fd < 0)
		abort();
	if (size == 0)
		return 0;
	write_file(fd, data, size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_image(path);
	read_cache(path);
	return 0;
}
