// SPDX-License-Identifier: BSD-2-Clause
/* util.c - see scale.h. */
#include "scaling/scale.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "oriel.h"

#define ROW_BYTES 1024
#define NAME_BYTES 64

void scale_about(int argc, char **argv, const char *usage, const char *what)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--version") == 0) {
			printf("%.*s %s\n", (int)strcspn(usage, " "), usage, oriel_version());
			exit(0);
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			printf("usage: oriel-run -n RANKS %s\n\n%s\n", usage, what);
			exit(0);
		}
	}
}

void scale_begin(struct scale *scale, const char *program, const char *const *names, bool prints)
{
	memset(scale, 0, sizeof(*scale));
	scale->program = program;
	scale->names = names;
	scale->prints = prints;
}

static void *must_have(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "out of memory\n");
	exit(1);
}

/* Appends text to the JSON. */
static void append(struct scale *scale, const char *text)
{
	size_t length = strlen(text);

	scale->json = must_have(realloc(scale->json, scale->json_bytes + length + 1));
	memcpy(scale->json + scale->json_bytes, text, length + 1);
	scale->json_bytes += length;
}

static void print_head(const struct scale *scale)
{
	printf("#");
	for (int i = 0; scale->names[i]; i++)
		printf(" %*s", i ? (int)strlen(scale->names[i]) < 10 ? 10 : (int)strlen(scale->names[i]) : 7, scale->names[i]);
	printf("\n");
}

void scale_row(struct scale *scale, const double numbers[])
{
	char text[ROW_BYTES];

	if (!scale->prints)
		return;
	if (scale->rows == 0)
		print_head(scale);
	append(scale, scale->rows++ ? ",\n    {" : "\n    {");
	for (int i = 0; scale->names[i]; i++) {
		int width = (int)strlen(scale->names[i]) < 10 ? 10 : (int)strlen(scale->names[i]);

		snprintf(text, sizeof(text), "%s\"%s\": %.10g", i ? ", " : "", scale->names[i], numbers[i]);
		append(scale, text);
		if (i == 0)
			printf("  %7.0f", numbers[i]);
		else
			printf(" %*.*f", width, numbers[i] == (double)(long)numbers[i] ? 0 : 3, numbers[i]);
	}
	append(scale, "}");
	printf("\n");
	fflush(stdout);
}

void scale_bar(struct scale *scale, const char *what, double value, double limit)
{
	if (!scale->prints)
		return;
	scale->bars++;
	scale->missed += value > limit;
	printf("# %s: %.3f, bar %.3f: %s\n", what, value, limit, value > limit ? "misses" : "holds");
	fflush(stdout);
}

int scale_end(struct scale *scale)
{
	FILE *file = scale->prints && scale->out_json ? fopen(scale->out_json, "w") : NULL;
	int rc = 0;

	if (scale->prints && scale->out_json && !file) {
		fprintf(stderr, "%s: %s\n", scale->out_json, strerror(errno));
		rc = 1;
	}
	if (file) {
		fprintf(file, "{\"program\": \"%s\", \"bars\": %d, \"missed\": %d, \"rows\": [%s\n]}\n", scale->program,
		        scale->bars, scale->missed, scale->json ? scale->json : "");
		rc = fclose(file) ? 1 : 0;
	}
	free(scale->json);
	scale->json = NULL;
	return rc;
}

double scale_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double scale_median(double values[], int count)
{
	qsort(values, (size_t)count, sizeof(values[0]), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct scale_memory scale_memory(void)
{
	struct scale_memory memory = { 0, 0 };
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kib;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Pss: %ld", &kib) == 1)
			memory.pss_kib = kib;
		else if (sscanf(line, "Private_Clean: %ld", &kib) == 1 || sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			memory.private_kib += kib;
	}
	if (file)
		fclose(file);
	return memory;
}

long scale_number(const char *text, const char *what, long least, long most)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (!errno && end != text && !*end && value >= least && value <= most)
		return value;
	fprintf(stderr, "%s: '%s' is no number from %ld to %ld\n", what, text, least, most);
	exit(2);
}

void scale_must(int rc, const char *call)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s: %s\n", call, oriel_last_error());
	exit(1);
}

static void shared_name(char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "/oriel-scale-%d-%d", (int)getuid(), (int)getppid());
}

void *scale_shared(size_t size_bytes)
{
	char name[NAME_BYTES];
	void *memory = MAP_FAILED;
	int fd;

	shared_name(name);
	fd = shm_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, (off_t)size_bytes) == 0)
		memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (memory != MAP_FAILED)
		return memory;
	fprintf(stderr, "shared memory %s of %zu bytes: %s\n", name, size_bytes, strerror(errno));
	exit(1);
}

void scale_shared_unlink(void)
{
	char name[NAME_BYTES];

	shared_name(name);
	shm_unlink(name);
}
