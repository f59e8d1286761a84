// SPDX-License-Identifier: BSD-2-Clause
/* See starter.h. */
#include "mpi/starter/starter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/starter/libraries.h"

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* An empty folder name is the working directory. */
static bool is_in_folder(const char *folder, size_t length, const char *name, struct program *found)
{
	int bytes =
		snprintf(found->path, sizeof(found->path), "%.*s/%s", length ? (int)length : 1, length ? folder : ".", name);

	return bytes < (int)sizeof(found->path) && is_program(found->path);
}

static bool is_in_path(const char *name, struct program *found)
{
	const char *folders = getenv("PATH");

	for (folders = folders ? folders : "/bin:/usr/bin"; folders;) {
		size_t length = strcspn(folders, ":");

		if (is_in_folder(folders, length, name, found))
			return true;
		folders = folders[length] ? folders + length + 1 : NULL;
	}
	return false;
}

static bool is_at(const char *name, struct program *found)
{
	return snprintf(found->path, sizeof(found->path), "%s", name) < (int)sizeof(found->path) && is_program(name);
}

/* Open MPI's mpirun, too, searches the working directory. */
static bool is_here(const char *name, struct program *found)
{
	found->here = is_in_folder("", 0, name, found);
	return found->here;
}

void program_find(struct program *program, const char *name)
{
	bool found;

	program->here = false;
	if (strchr(name, '/'))
		found = is_at(name, program);
	else
		found = *name && (is_in_path(name, program) || is_here(name, program));
	if (!found)
		say_and_exit(EXIT_REFUSED, "there is no program %s", name);
}

/* A program without a dynamic linker cannot load the layer. */
void program_check(const struct program *program)
{
	struct image image;
	enum image_kind kind = image_open(&image, program->path);

	if (kind == IMAGE_FOREIGN)
		say_and_exit(EXIT_REFUSED, "%s is for another kind of machine than %s: nothing can be loaded before it",
		             program->path, say_name);
	if (kind == IMAGE_STATIC || (kind == IMAGE_DYNAMIC && !image.has_linker))
		say_and_exit(EXIT_REFUSED,
		             "%s is linked statically: nothing can be loaded before it; link it with shared libraries",
		             program->path);
	image_close(&image);
}
