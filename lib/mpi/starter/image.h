/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.h - what an ELF file says of the libraries it needs
 *
 * The file is mapped, and nothing in it is believed: whatever a field says lies within the file, or is not there.
 */
#ifndef ORIEL_MPI_IMAGE_H
#define ORIEL_MPI_IMAGE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

enum image_kind {
	IMAGE_OTHER,   /* no ELF file, or none that can be read: a script, for example */
	IMAGE_FOREIGN, /* for another kind of machine */
	IMAGE_STATIC,  /* without a table of what it needs */
	IMAGE_DYNAMIC,
};

struct image {
	const char *bytes; /* NULL: not mapped */
	size_t size;
	size_t dynamic; /* where the table of what is needed lies, and how many entries it has at most */
	size_t dynamic_count;
	size_t strings;  /* where the names lie; size: there are none */
	bool has_linker; /* it names the dynamic linker, as programs do */
};

/* Only an image that is dynamic stays open. */
enum image_kind image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* The name of the next library that is needed, from *at on, which begins as 0; NULL: no more. */
const char *image_needed(const struct image *image, size_t *at);

/* The text of DT_RPATH or DT_RUNPATH; NULL: there is none. */
const char *image_text(const struct image *image, ElfW(Sxword) tag);

#endif
