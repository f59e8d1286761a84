// SPDX-License-Identifier: BSD-2-Clause
/* info_facts.c - see info_facts.h. */
#include "info_facts.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "pages/userfault.h"
#include "info_child.h"
#include "win/win.h"

#define YAMA "/proc/sys/kernel/yama/ptrace_scope"

__attribute__((format(printf, 4, 5))) static void add(struct facts *facts, const char *section, const char *name,
                                                      const char *format, ...)
{
	struct fact *fact = &facts->list[facts->count];
	va_list args;

	if (facts->count == FACTS_MAX)
		return;
	facts->count++;
	fact->section = section;
	fact->name = name;
	va_start(args, format);
	vsnprintf(fact->value, sizeof(fact->value), format, args);
	va_end(args);
}

/* What the Makefile found: bootstrap/built.sh. */
static void add_built(struct facts *facts)
{
	static const struct {
		const char *name, *version, *missing;
	} parts[] = {
#include "built.h"
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		add(facts, "built", parts[i].name, "%s%s", *parts[i].version ? parts[i].version : "no: ", parts[i].missing);
}

/* Writes the version out of the file's name: what is behind ".so.", once links are followed. */
static void write_file_version(void *function, char *text, size_t text_bytes)
{
	Dl_info about;
	char *file = dladdr(function, &about) ? realpath(about.dli_fname, NULL) : NULL;
	const char *version = file ? strstr(file, ".so.") : NULL;

	snprintf(text, text_bytes, "%s", version ? version + strlen(".so.") : "version unknown");
	free(file);
}

static void write_told_version(void *function, char *text, size_t text_bytes)
{
	const char *(*version)(void);

	memcpy(&version, &function, sizeof(version));
	snprintf(text, text_bytes, "%.*s", (int)strcspn(version(), ","), version());
	if (strstr(text, " ("))
		*strstr(text, " (") = '\0';
}

static void write_libev_version(void *major, char *text, size_t text_bytes)
{
	void *minor = dlsym(RTLD_DEFAULT, "ev_version_minor");
	int (*numbers[2])(void);

	memcpy(&numbers[0], &major, sizeof(major));
	memcpy(&numbers[1], minor ? &minor : &major, sizeof(minor));
	snprintf(text, text_bytes, "%d.%d", numbers[0](), numbers[1]());
}

struct library {
	const char *name, *file, *function, *package;
	void (*write_version)(void *function, char *text, size_t text_bytes);
};

static void write_library(const void *arg, char *text, size_t text_bytes)
{
	const struct library *library = arg;
	void *handle = dlopen(library->file, RTLD_LAZY | RTLD_GLOBAL), *function;

	function = handle ? dlsym(handle, library->function) : NULL;
	if (function)
		library->write_version(function, text, text_bytes);
	else
		snprintf(text, text_bytes, "not found: %s", library->package);
}

/* An MPI tells its version before it is initialised: "Open MPI v4.1.4, package: ...". */
static void write_mpi_version(void *function, char *text, size_t text_bytes)
{
	int (*get_version)(char *, int *), length;
	char version[8192] = ""; /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH */

	memcpy(&get_version, &function, sizeof(function));
	get_version(version, &length);
	version[strcspn(version, ",\n")] = '\0';
	for (char *tab = version; (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';
	snprintf(text, text_bytes, "%s", version);
}

static void add_libraries(struct facts *facts)
{
	static const struct library libraries[] = {
		{ "libibverbs", "libibverbs.so.1", "ibv_get_device_list", "libibverbs1", write_file_version },
		{ "librdmacm", "librdmacm.so.1", "rdma_create_event_channel", "librdmacm1", write_file_version },
		{ "libsodium", "libsodium.so.23", "sodium_version_string", "libsodium23", write_told_version },
		{ "libev", "libev.so.4", "ev_version_major", "libev4", write_libev_version },
		{ "PMIx", "libpmix.so.2", "PMIx_Get_version", "libpmix2", write_told_version },
		{ "Open MPI", "libmpi.so.40", "MPI_Get_library_version", "libopenmpi3 or libopenmpi40", write_mpi_version },
		{ "MPICH", "libmpich.so.12", "MPI_Get_library_version", "libmpich12", write_mpi_version },
	};
	char text[FACT_BYTES];

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		child_answer(write_library, &libraries[i], text, sizeof(text));
		add(facts, "libraries", libraries[i].name, "%s", *text ? text : "cannot be loaded");
	}
}

static void add_system(struct facts *facts)
{
	struct utsname name;

	if (uname(&name) == 0)
		add(facts, "machine", "kernel", "%.40s %.40s, %.20s", name.sysname, name.release, name.machine);
	add(facts, "machine", "processors", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
}

/* Returns the first character of a file, or 0. */
static int first_character(const char *path)
{
	FILE *file = fopen(path, "r");
	int c = file ? fgetc(file) : 0;

	if (file)
		fclose(file);
	return c == EOF ? 0 : c;
}

static void add_yama(struct facts *facts)
{
	int scope = first_character(YAMA);

	if (!scope)
		add(facts, "machine", "Yama", "not there");
	else
		add(facts, "machine", "Yama", "ptrace_scope %c: %s", scope,
		    scope < '2' ? "ranks may reach each other's memory" : "ranks may not reach each other's memory");
}

/* Tries a call that copies memory of another process. */
static const char *try_copy(pid_t other, __typeof__(&process_vm_readv) call)
{
	static char byte;
	struct iovec here = { &byte, 1 }, there = { &byte, 1 };

	return call(other, &here, 1, &there, 1, 0) == 1 ? "works" : strerror(errno);
}

static void add_copies(struct facts *facts)
{
	pid_t child = child_start();

	if (child < 0) {
		add(facts, "machine", "process_vm_readv", "not tried: no process can be started: %s", strerror(errno));
		return;
	}
	add(facts, "machine", "process_vm_readv", "%s", try_copy(child, process_vm_readv));
	add(facts, "machine", "process_vm_writev", "%s", try_copy(child, process_vm_writev));
	child_end(child);
}

static void add_userfaultfd(struct facts *facts)
{
	uint64_t offered;
	int fd, error = userfault_open(0, &offered, &fd);

	add(facts, "machine", "userfaultfd", "%s%s", error ? strerror(error) : "works",
	    error ? ": window memory is not moved in place (ORIEL_SHARE)" : "");
	if (!error)
		close(fd);
}

static void add_memory_files(struct facts *facts)
{
	int fd = memfd_create("oriel-info", MFD_CLOEXEC);
	struct statvfs shm;

	add(facts, "machine", "memfd_create", "%s", fd < 0 ? strerror(errno) : "works");
	if (fd >= 0)
		close(fd);
	if (statvfs("/dev/shm", &shm))
		add(facts, "machine", "/dev/shm", "%s (Oriel does not need it; MPIs do)", strerror(errno));
	else
		add(facts, "machine", "/dev/shm", "%llu of %llu bytes are free%s",
		    (unsigned long long)shm.f_bavail * shm.f_frsize, (unsigned long long)shm.f_blocks * shm.f_frsize,
		    shm.f_flag & ST_RDONLY ? ", read-only" : "");
}

static const char *limit_text(rlim_t limit, char text[24])
{
	if (limit == RLIM_INFINITY)
		return "unlimited";
	snprintf(text, 24, "%llu", (unsigned long long)limit);
	return text;
}

static void add_limit(struct facts *facts, const char *name, const struct rlimit *limit, const char *remedy)
{
	char soft[24], hard[24];

	add(facts, "limits", name, "%s, can be raised to %s (%s)", limit_text(limit->rlim_cur, soft),
	    limit_text(limit->rlim_max, hard), remedy);
}

static void add_limits(struct facts *facts)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
		add_limit(facts, "locked memory, bytes", &limit, "ulimit -l, limits.conf, LimitMEMLOCK=");
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		add_limit(facts, "open files", &limit, "ulimit -n");
	add(facts, "limits", "windows at once", "%d", WINDOWS_MAX);
}

void facts_collect(struct facts *facts)
{
	facts->count = 0;
	add_built(facts);
	add_libraries(facts);
	add_system(facts);
	add_yama(facts);
	add_copies(facts);
	add_userfaultfd(facts);
	add_memory_files(facts);
	add_limits(facts);
}
