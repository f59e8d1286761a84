// SPDX-License-Identifier: BSD-2-Clause
/* See libraries.h. */
#include "mpi/starter/libraries.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const ElfW(Ehdr) __ehdr_start; /* this program's own ELF header */

/* Copies `size` bytes from offset `at`; false: they lie outside the file. */
static bool read_at(const struct image *image, size_t at, void *what, size_t size)
{
	if (at > image->size || size > image->size - at)
		return false;
	memcpy(what, image->bytes + at, size);
	return true;
}

static int map(struct image *image, int fd)
{
	struct stat status;
	void *bytes;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return -1;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -1;
	image->bytes = bytes;
	image->size = image->strings = (size_t)status.st_size;
	return 0;
}

static int map_file(struct image *image, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = map(image, fd);
	close(fd);
	return rc;
}

static bool is_native(const ElfW(Ehdr) * header)
{
	return header->e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
	       header->e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] && header->e_machine == __ehdr_start.e_machine &&
	       header->e_phentsize == sizeof(ElfW(Phdr));
}

/* Reads program header number `index`; false: no more. */
static bool read_part(const struct image *image, const ElfW(Ehdr) * header, unsigned index, ElfW(Phdr) * part)
{
	return index < header->e_phnum &&
	       read_at(image, (size_t)header->e_phoff + index * sizeof(*part), part, sizeof(*part));
}

static void find_tables(struct image *image, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) part;

	for (unsigned i = 0; read_part(image, header, i, &part); i++) {
		image->has_linker |= part.p_type == PT_INTERP;
		if (part.p_type == PT_DYNAMIC && part.p_filesz > 0) {
			image->dynamic = (size_t)part.p_offset;
			image->dynamic_count = (size_t)part.p_filesz / sizeof(ElfW(Dyn));
		}
	}
}

/* Reads the next entry with that tag, from *at on. */
static bool next_entry(const struct image *image, ElfW(Sxword) tag, size_t *at, ElfW(Dyn) * entry)
{
	while (*at < image->dynamic_count && read_at(image, image->dynamic + *at * sizeof(*entry), entry, sizeof(*entry)) &&
	       entry->d_tag != DT_NULL) {
		++*at;
		if (entry->d_tag == tag)
			return true;
	}
	return false;
}

/* Returns the file offset of that address, or the file's size if there is none. */
static size_t place_of(const struct image *image, const ElfW(Ehdr) * header, ElfW(Addr) address)
{
	ElfW(Phdr) part;

	for (unsigned i = 0; read_part(image, header, i, &part); i++) {
		if (part.p_type == PT_LOAD && address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz)
			return (size_t)(part.p_offset + (address - part.p_vaddr));
	}
	return image->size;
}

static void find_strings(struct image *image, const ElfW(Ehdr) * header)
{
	ElfW(Dyn) entry;
	size_t at = 0;

	if (next_entry(image, DT_STRTAB, &at, &entry))
		image->strings = place_of(image, header, entry.d_un.d_ptr);
}

static enum image_kind read_tables(struct image *image)
{
	ElfW(Ehdr) header;

	if (!read_at(image, 0, &header, sizeof(header)) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return IMAGE_OTHER;
	if (!is_native(&header))
		return IMAGE_FOREIGN;
	find_tables(image, &header);
	find_strings(image, &header);
	return image->dynamic_count > 0 ? IMAGE_DYNAMIC : IMAGE_STATIC;
}

enum image_kind image_open(struct image *image, const char *path)
{
	enum image_kind kind;

	*image = (struct image){ .bytes = NULL };
	if (map_file(image, path))
		return IMAGE_OTHER;
	kind = read_tables(image);
	if (kind != IMAGE_DYNAMIC)
		image_close(image);
	return kind;
}

void image_close(struct image *image)
{
	if (image->bytes)
		munmap((void *)image->bytes, image->size);
	image->bytes = NULL;
}

/* Returns the name in the string table, or NULL if the file ends first. */
static const char *text_at(const struct image *image, ElfW(Xword) offset)
{
	size_t at;

	if (image->strings >= image->size || offset >= image->size - image->strings)
		return NULL;
	at = image->strings + (size_t)offset;
	return memchr(image->bytes + at, '\0', image->size - at) ? image->bytes + at : NULL;
}

const char *image_needed(const struct image *image, size_t *at)
{
	ElfW(Dyn) entry;

	return next_entry(image, DT_NEEDED, at, &entry) ? text_at(image, entry.d_un.d_val) : NULL;
}

const char *image_text(const struct image *image, ElfW(Sxword) tag)
{
	ElfW(Dyn) entry;
	size_t at = 0;

	return next_entry(image, tag, &at, &entry) ? text_at(image, entry.d_un.d_val) : NULL;
}

bool image_has_text(const char *path, const char *text)
{
	struct image image;
	bool is_there = image_open(&image, path) == IMAGE_DYNAMIC;

	if (is_there) {
		is_there = memmem(image.bytes, image.size, text, strlen(text));
		image_close(&image);
	}
	return is_there;
}
