// SPDX-License-Identifier: BSD-2-Clause
/*
 * nodes.c - the files by which programs look for a device, through every call that takes a path: each
 * finds the same thing below /dev/infiniband and /sys/class/infiniband, as for a device of the kernel.
 *
 * usage: oriel-soft nodes; one line per case that fails, and a count at the end.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NODE "/dev/infiniband/uverbs0"
#define DEVICE "/sys/class/infiniband/soft0"

static int passed, failed;

static void check(bool good, const char *what)
{
	if (good) {
		passed++;
		return;
	}
	failed++;
	printf("not ok %s: %s\n", what, strerror(errno));
}

/* Calls that the headers of this glibc do not declare any more, or that only the compiler writes. */
static void *called(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	if (!function) {
		printf("not ok %s: libc has none\n", name);
		exit(1);
	}
	return function;
}

typedef int xstat_fn(int version, const char *path, void *about);
typedef int fxstatat_fn(int version, int dir, const char *path, void *about, int flags);
typedef int open_2_fn(const char *path, int flags);
typedef int openat_2_fn(int dir, const char *path, int flags);

static void looked_at(void)
{
	struct stat about;
	struct stat64 about64;
	struct statx x;

	check(stat(NODE, &about) == 0 && S_ISCHR(about.st_mode), "stat");
	check(stat64(NODE, &about64) == 0 && S_ISCHR(about64.st_mode), "stat64");
	check(lstat(DEVICE, &about) == 0 && S_ISLNK(about.st_mode), "lstat");
	check(lstat64(DEVICE, &about64) == 0 && S_ISLNK(about64.st_mode), "lstat64");
	check(fstatat(AT_FDCWD, NODE, &about, 0) == 0 && S_ISCHR(about.st_mode), "fstatat");
	check(fstatat64(AT_FDCWD, NODE, &about64, 0) == 0 && S_ISCHR(about64.st_mode), "fstatat64");
	check(statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &x) == 0 && S_ISCHR(x.stx_mode), "statx");
	check(((xstat_fn *)called("__xstat"))(1, NODE, &about) == 0 && S_ISCHR(about.st_mode), "__xstat");
	check(((xstat_fn *)called("__xstat64"))(1, NODE, &about64) == 0 && S_ISCHR(about64.st_mode), "__xstat64");
	check(((xstat_fn *)called("__lxstat"))(1, DEVICE, &about) == 0 && S_ISLNK(about.st_mode), "__lxstat");
	check(((xstat_fn *)called("__lxstat64"))(1, DEVICE, &about64) == 0 && S_ISLNK(about64.st_mode), "__lxstat64");
	check(((fxstatat_fn *)called("__fxstatat"))(1, AT_FDCWD, NODE, &about, 0) == 0 && S_ISCHR(about.st_mode),
	      "__fxstatat");
	check(((fxstatat_fn *)called("__fxstatat64"))(1, AT_FDCWD, NODE, &about64, 0) == 0 && S_ISCHR(about64.st_mode),
	      "__fxstatat64");
}

static void may_be_used(void)
{
	check(access(NODE, R_OK | W_OK) == 0, "access");
	check(eaccess(NODE, R_OK | W_OK) == 0, "eaccess");
	check(euidaccess(NODE, R_OK | W_OK) == 0, "euidaccess");
	check(faccessat(AT_FDCWD, NODE, R_OK | W_OK, 0) == 0, "faccessat");
	check(access("/dev/infiniband/uverbs1", F_OK) != 0 && errno == ENOENT, "a second device is not there");
	check(access("/dev/infiniband/rdma_cm", R_OK | W_OK) == 0, "access to rdma_cm");
}

/* What is in a file that was opened, up to the end of its line. */
static bool reads(int fd, const char *text)
{
	char line[128] = "";
	bool same = fd >= 0 && read(fd, line, sizeof(line) - 1) >= 0;

	line[strcspn(line, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
	return same && strcmp(line, text) == 0;
}

static bool reads_stream(FILE *file, const char *text)
{
	char line[128] = "";
	bool same = file && fgets(line, sizeof(line), file);

	line[strcspn(line, "\n")] = '\0';
	if (file)
		fclose(file);
	return same && strcmp(line, text) == 0;
}

static void in_groups(char *text, const uint8_t *bytes, int count)
{
	for (int i = 0; i < count; i += 2)
		text += sprintf(text, "%s%02x%02x", i ? ":" : "", bytes[i], bytes[i + 1]);
}

/* Static texts, and those that are made when they are asked for, by each way of opening. */
static void opened(const char *path, const char *text)
{
	check(reads(open(path, O_RDONLY), text), "open");
	check(reads(open64(path, O_RDONLY | O_CLOEXEC), text), "open64");
	check(reads(openat(AT_FDCWD, path, O_RDONLY), text), "openat");
	check(reads(openat64(AT_FDCWD, path, O_RDONLY), text), "openat64");
	check(reads(((open_2_fn *)called("__open_2"))(path, O_RDONLY), text), "__open_2");
	check(reads(((open_2_fn *)called("__open64_2"))(path, O_RDONLY), text), "__open64_2");
	check(reads(((openat_2_fn *)called("__openat_2"))(AT_FDCWD, path, O_RDONLY), text), "__openat_2");
	check(reads(((openat_2_fn *)called("__openat64_2"))(AT_FDCWD, path, O_RDONLY), text), "__openat64_2");
	check(reads_stream(fopen(path, "r"), text), "fopen");
	check(reads_stream(fopen64(path, "re"), text), "fopen64");
}

static bool lists(DIR *dir, const char *name)
{
	struct dirent *entry;
	bool found = false;

	while (dir && (entry = readdir(dir)))
		found = found || strcmp(entry->d_name, name) == 0;
	if (dir)
		closedir(dir);
	return found;
}

static int is_soft0(const struct dirent *entry)
{
	return strcmp(entry->d_name, "soft0") == 0;
}

static int is_soft0_64(const struct dirent64 *entry)
{
	return strcmp(entry->d_name, "soft0") == 0;
}

static void listed(void)
{
	struct dirent **list;
	struct dirent64 **list64;
	glob64_t found64;
	glob_t found;

	check(lists(opendir("/sys/class/infiniband"), "soft0"), "opendir");
	check(scandir("/sys/class/infiniband", &list, is_soft0, alphasort) == 1, "scandir");
	check(scandir64("/sys/class/infiniband/", &list64, is_soft0_64, alphasort64) == 1, "scandir64");
	check(glob("/sys/class/infiniband/*/node_guid", 0, NULL, &found) == 0 && found.gl_pathc == 1 &&
	          strcmp(found.gl_pathv[0], DEVICE "/node_guid") == 0,
	      "glob");
	check(glob64("/dev/infiniband/uverbs*", 0, NULL, &found64) == 0 && found64.gl_pathc == 1 &&
	          strcmp(found64.gl_pathv[0], NODE) == 0,
	      "glob64");
}

/* Programs look where the link leads for the bus that a card is on. */
static void followed(void)
{
	static const char resolved[] = "/sys/devices/virtual/infiniband/soft0";
	char target[4096] = "", *path;

	check(readlink(DEVICE, target, sizeof(target)) > 0, "readlink");
	check(readlinkat(AT_FDCWD, DEVICE, target, sizeof(target)) > 0, "readlinkat");
	check(realpath(DEVICE, target) && strcmp(target, resolved) == 0, "realpath");
	path = realpath(DEVICE, NULL);
	check(path && strcmp(path, resolved) == 0, "realpath into new memory");
	free(path);
	path = canonicalize_file_name(DEVICE);
	check(path && strcmp(path, resolved) == 0, "canonicalize_file_name");
	free(path);
	check(chdir(DEVICE "/ports/1") == 0 && access("state", R_OK) == 0 && chdir("/") == 0, "chdir");
}

/*
 * A node is for looking at; a process that uses it like a kernel's is refused, and nothing gets
 * lost.
 */
static void node_refuses(void)
{
	int fd = open(NODE, O_RDWR | O_CLOEXEC);

	check(fd >= 0, "open for writing");
	check(write(fd, "command", 7) < 0, "a command that is written is refused");
	check(ioctl(fd, FIONREAD, &passed) < 0, "a command by ioctl is refused");
	close(fd);
}

static void as_verbs_say(void)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	__be64 guid = ibv_get_device_guid(devices[0]);
	union ibv_gid gid = { 0 };
	char text[128];

	in_groups(text, (uint8_t *)&guid, 8);
	opened(DEVICE "/node_guid", text);
	opened(DEVICE "/sys_image_guid", text);
	opened(DEVICE "/ports/1/state", "4: ACTIVE");
	for (int i = 0; i < 3; i++) {
		char path[64];

		snprintf(path, sizeof(path), DEVICE "/ports/1/gids/%d", i);
		check(ibv_query_gid(context, 1, i, &gid) == 0, "ibv_query_gid");
		in_groups(text, gid.raw, 16);
		opened(path, text);
	}
	snprintf(text, sizeof(text), "/dev/infiniband/%s", devices[0]->dev_name);
	check(strcmp(text, NODE) == 0, "the node is called after the device");
	check(access(devices[0]->ibdev_path, F_OK) == 0 && access(devices[0]->dev_path, F_OK) == 0,
	      "the paths that verbs tell are there");
	ibv_close_device(context);
	ibv_free_device_list(devices);
}

int main(void)
{
	looked_at();
	may_be_used();
	listed();
	followed();
	node_refuses();
	as_verbs_say();
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
