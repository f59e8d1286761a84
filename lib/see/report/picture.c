// SPDX-License-Identifier: BSD-2-Clause
/* See picture.h. */
#include "see/report/picture.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/util.h"
#include "see/report/program.h"

#define MATRIX_X 70
#define MATRIX_Y 110
#define MATRIX_SIDE 384
#define CELL_MOST 64
#define CELL_WITH_NUMBER 30
#define SIZES_X 560
#define SIZES_Y 400 /* of the bars' foot */
#define SIZES_HEIGHT 270
#define BAR_WIDTH_MOST 40
#define STEP_Y 560

/* ---- which rank waits for which ---- */

struct matrix {
	int ranks;
	int blocks; /* of ranks, a row and a column each */
	int cell;   /* pixels */
	uint64_t most_ns;
	uint64_t ns[PICTURE_BLOCKS][PICTURE_BLOCKS]; /* by waiter and late rank */
};

static const char *const shades[] = { "#fdf0d5", "#fbdca6", "#f8c377", "#f3a44f",
	                                  "#e98336", "#d65f27", "#b83e1e", "#8f1f17" };
enum { SHADES = sizeof(shades) / sizeof(*shades) };

static int block_of(const struct matrix *matrix, int rank)
{
	return (int)((int64_t)rank * matrix->blocks / matrix->ranks);
}

/* Returns the first rank of a block. */
static int rank_of(const struct matrix *matrix, int block)
{
	return (int)(((int64_t)block * matrix->ranks + matrix->blocks - 1) / matrix->blocks);
}

static void fill(struct matrix *matrix, const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->wait_count; i++) {
		const struct profile_wait *wait = &profile->waits[i];
		int rank = profile->sites[wait->site].rank, late = wait->culprit;
		uint64_t *ns;

		if (rank < 0 || rank >= matrix->ranks || late < 0 || late >= matrix->ranks || wait->cause == WAIT_HANDOVER)
			continue;
		ns = &matrix->ns[block_of(matrix, rank)][block_of(matrix, late)];
		*ns += wait->ns;
		if (*ns > matrix->most_ns)
			matrix->most_ns = *ns;
	}
}

/* Returns a cell's shade, from 1 on; 0: no wait. */
static int shade_of(const struct matrix *matrix, uint64_t ns)
{
	int shade = ns ? 1 + (int)((double)ns / (double)matrix->most_ns * (SHADES - 1) + 0.5) : 0;

	return shade > SHADES ? SHADES : shade;
}

static void draw_cells(FILE *out, const struct matrix *matrix, int shade)
{
	svg_begin_boxes(out, shades[shade - 1]);
	for (int row = 0; row < matrix->blocks; row++) {
		for (int column = 0; column < matrix->blocks; column++) {
			if (shade_of(matrix, matrix->ns[row][column]) == shade)
				svg_add_box(out, MATRIX_X + column * matrix->cell, MATRIX_Y + row * matrix->cell, matrix->cell,
				            matrix->cell);
		}
	}
	svg_end_boxes(out);
}

static void draw_numbers(FILE *out, const struct matrix *matrix)
{
	for (int row = 0; row < matrix->blocks; row++) {
		for (int column = 0; column < matrix->blocks; column++) {
			uint64_t ns = matrix->ns[row][column];
			const char *colour = shade_of(matrix, ns) > SHADES / 2 ? "white" : "black";

			if (!ns)
				continue;
			fprintf(out, "<g fill=\"%s\" font-size=\"10\">", colour);
			svg_text(out,
			         (struct svg_point){ MATRIX_X + column * matrix->cell + matrix->cell / 2,
			                             MATRIX_Y + row * matrix->cell + matrix->cell / 2 + 4 },
			         "middle", ns < NS_PER_MS ? "<%.3g" : "%.3g",
			         ns < NS_PER_MS ? 0.001 : (double)ns / (double)NS_PER_SECOND);
			fputs("</g>\n", out);
		}
	}
}

static void draw_labels(FILE *out, const struct matrix *matrix)
{
	int step = matrix->blocks <= 16 ? 1 : (matrix->blocks + 7) / 8;

	for (int block = 0; block < matrix->blocks; block += step) {
		int at = block * matrix->cell + matrix->cell / 2;

		svg_text(out, (struct svg_point){ MATRIX_X - 6, MATRIX_Y + at + 4 }, "end", "%d", rank_of(matrix, block));
		svg_text(out, (struct svg_point){ MATRIX_X + at, MATRIX_Y - 6 }, "middle", "%d", rank_of(matrix, block));
	}
}

static void draw_frame(FILE *out, const struct matrix *matrix)
{
	int side = matrix->blocks * matrix->cell;

	fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n", MATRIX_X,
	        MATRIX_Y, side, side);
	svg_heading(out, MATRIX_X, MATRIX_Y - 40, "Which rank waits for which");
	svg_text(out, (struct svg_point){ MATRIX_X + side / 2, MATRIX_Y - 22 }, "middle", "late rank");
	fprintf(out, "<g transform=\"rotate(-90 %d %d)\">", MATRIX_X - 44, MATRIX_Y + side / 2);
	svg_text(out, (struct svg_point){ MATRIX_X - 44, MATRIX_Y + side / 2 }, "middle", "rank that waits");
	fputs("</g>\n", out);
	svg_text(out, (struct svg_point){ MATRIX_X, MATRIX_Y + side + 20 }, "start", "the darkest: %.3g s%s",
	         (double)matrix->most_ns / (double)NS_PER_SECOND,
	         matrix->blocks < matrix->ranks ? "; a cell is for several ranks" : "");
}

static void draw_matrix(FILE *out, const struct profile *profile)
{
	struct matrix *matrix = calloc(1, sizeof(*matrix));

	if (!matrix)
		program_fail("out of memory");
	matrix->ranks = profile->size > 0 ? profile->size : 1;
	matrix->blocks = matrix->ranks < PICTURE_BLOCKS ? matrix->ranks : PICTURE_BLOCKS;
	matrix->cell = MATRIX_SIDE / matrix->blocks < CELL_MOST ? MATRIX_SIDE / matrix->blocks : CELL_MOST;
	fill(matrix, profile);
	for (int shade = 1; shade <= SHADES; shade++)
		draw_cells(out, matrix, shade);
	if (matrix->cell >= CELL_WITH_NUMBER)
		draw_numbers(out, matrix);
	draw_labels(out, matrix);
	draw_frame(out, matrix);
	free(matrix);
}

/* ---- sizes ---- */

static void count_sizes(const struct profile *profile, uint64_t counts[PART_SIZES])
{
	for (uint32_t i = 0; i < profile->site_count; i++) {
		for (int k = 1; k < PART_SIZES; k++)
			counts[k] += profile->sites[i].sizes[k];
	}
}

/* Writes "16", "4 Ki", "2 M". Returns text. */
static const char *short_number(uint64_t number, unsigned base, char text[16])
{
	static const char *const units[2][5] = { { "", " k", " M", " G", " T" }, { "", " Ki", " Mi", " Gi", " Ti" } };
	double value = (double)number;
	int unit = 0;

	for (; value >= base && unit < 4; unit++)
		value /= base;
	snprintf(text, 16, "%.3g%s", value, units[base == 1024][unit]);
	return text;
}

static void draw_bars(FILE *out, const uint64_t counts[PART_SIZES], int first, int last)
{
	int width = (PICTURE_WIDTH - 40 - SIZES_X) / (last - first + 1);
	uint64_t most = 0;
	char text[16];

	width = width < BAR_WIDTH_MOST ? width : BAR_WIDTH_MOST;
	for (int k = first; k <= last; k++)
		most = counts[k] > most ? counts[k] : most;
	svg_begin_boxes(out, "#3b78c4");
	for (int k = first; k <= last; k++) {
		int height = (int)((double)counts[k] / (double)most * SIZES_HEIGHT + 0.5);

		if (counts[k])
			svg_add_box(out, SIZES_X + (k - first) * width, SIZES_Y - (height ? height : 1), width - 2,
			            height ? height : 1);
	}
	svg_end_boxes(out);
	for (int k = first; k <= last; k++) {
		int x = SIZES_X + (k - first) * width + width / 2,
			height = (int)((double)counts[k] / (double)most * SIZES_HEIGHT);

		if ((k - first) % 2 == 0 || width >= BAR_WIDTH_MOST)
			svg_text(out, (struct svg_point){ x, SIZES_Y + 16 }, "middle", "%s",
			         short_number(1ULL << (k - 1), 1024, text));
		if (counts[k])
			svg_text(out, (struct svg_point){ x, SIZES_Y - height - 5 }, "middle", "%s",
			         short_number(counts[k], 1000, text));
	}
}

static void draw_sizes(FILE *out, const struct profile *profile)
{
	uint64_t counts[PART_SIZES] = { 0 };
	int first = 1, last = PART_SIZES - 1;

	count_sizes(profile, counts);
	while (first < PART_SIZES && !counts[first])
		first++;
	while (last > first && !counts[last])
		last--;
	svg_heading(out, SIZES_X, MATRIX_Y - 40, "Sizes of operations");
	if (first == PART_SIZES) {
		svg_text(out, (struct svg_point){ SIZES_X, MATRIX_Y }, "start", "no call moved bytes");
		return;
	}
	draw_bars(out, counts, first, last);
	svg_text(out, (struct svg_point){ SIZES_X, SIZES_Y + 36 }, "start",
	         "calls by bytes: from the number below a bar to the next power of two");
}

void picture_print(FILE *out, const struct profile *profile, const struct read_parts *parts)
{
	int height = STEP_Y + 130 + 24 * PICTURE_ROWS;

	if (parts->count < PICTURE_ROWS)
		height -= 24 * (PICTURE_ROWS - (int)parts->count);
	fprintf(out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
	        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
	        PICTURE_WIDTH, height, PICTURE_WIDTH, height);
	svg_heading(out, 30, 36, "oriel: %d rank%s, %.2f s, %" PRIu64 " calls", profile->size,
	            profile->size == 1 ? "" : "s", profile->seconds, profile->calls);
	draw_matrix(out, profile);
	draw_sizes(out, profile);
	step_draw(out, STEP_Y, profile, parts);
	fputs("</svg>\n", out);
}
