/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.h - which libraries an ELF file needs
 *
 * The mapped file is not trusted: a field that points outside of it counts as absent.
 */
#ifndef ORIEL_MPI_IMAGE_H
#define ORIEL_MPI_IMAGE_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

enum image_kind {
	IMAGE_OTHER,   /* not ELF, or not readable: a script, for example */
	IMAGE_FOREIGN, /* for another architecture */
	IMAGE_STATIC,  /* without a dynamic section */
	IMAGE_DYNAMIC,
};

struct image {
	const char *bytes; /* NULL: not mapped */
	size_t size;
	size_t dynamic; /* offset of the dynamic section; its entries are dynamic_count at most */
	size_t dynamic_count;
	size_t strings;  /* offset of the string table; equal to size: there is none */
	bool has_linker; /* has PT_INTERP, as programs have */
};

/* Only an IMAGE_DYNAMIC image stays open. */
enum image_kind image_open(struct image *image, const char *path);
void image_close(struct image *image);

/* Returns the name of the next needed library, or NULL. *at begins as 0. */
const char *image_needed(const struct image *image, size_t *at);

/* Returns the text of DT_RPATH or DT_RUNPATH, or NULL. */
const char *image_text(const struct image *image, ElfW(Sxword) tag);

#endif
