// SPDX-License-Identifier: BSD-2-Clause
/*
 * host.c - a program that knows neither MPI nor Oriel, and loads one that does: as Python does with its
 * modules, nothing of which comes into the global scope
 *
 * usage: host FILE.so ARGUMENT...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *found = module ? dlsym(module, "main") : NULL;
	int (*run)(int argc, char **argv);

	if (!found) {
		fprintf(stderr, "not ok: %s\n", argc > 1 ? dlerror() : "usage: host FILE.so ARGUMENT...");
		return 1;
	}
	memcpy(&run, &found, sizeof(run)); /* ISO C has no cast from an object's address to a function's */
	return run(argc - 1, argv + 1);
}
