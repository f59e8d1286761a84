// SPDX-License-Identifier: BSD-2-Clause
/* report.c - see report.h. */
#include "bench/report.h"

#include <stdio.h>

#include "bench/json.h"
#include "bench/options.h"

#define LINE "---------------------------------------------------------------------------------------"
#define MB 1048576.0

static bool sweeps_depth(const struct report *report)
{
	return report->tool->depths && report->options->depth == 0;
}

static void print_head(const struct report *report)
{
	const struct perf_options *o = report->options;

	printf(LINE "\n                    %s_%s\n", report->backend, report->tool->name);
	printf(" Device         : %-18s Sync           : %s\n", *report->place->device ? report->place->device : "-",
	       sync_name(o->sync));
	printf(" Window         : %-18s Memory         : %s\n", window_name(o->window), memory_name(o->memory));
	if (o->sync == SYNC_LOCK)
		printf(" Lock           : %s\n", lock_name(o->lock));
	printf(" Ranks          : %-18d Align[B]       : %zu\n", report->place->size, o->align_bytes);
	if (o->check)
		printf(" Every byte that arrives is checked, between barriers: the times are not the path's alone\n");
	printf(LINE "\n");
	if (report->tool->kind == TOOL_LATENCY)
		printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
		       "   99%% percentile[usec]   99.9%% percentile[usec]\n");
	else
		printf(" #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]%s\n",
		       o->gbits ? "Gb/sec" : "MB/sec", o->gbits ? "Gb/sec" : "MB/sec", sweeps_depth(report) ? "   depth" : "");
	fflush(stdout);
}

int report_begin(struct report *report)
{
	int failed;

	report->row_count = 0;
	print_head(report);
	report->json = json_begin(report->tool->name, report->backend, report->options, report->place, &failed);
	return failed;
}

static double mb_per_s(const struct report_row *row, double per_s)
{
	return per_s * (double)row->size_bytes / MB;
}

static double shown(const struct report *report, const struct report_row *row, double per_s)
{
	return report->options->gbits ? per_s * (double)row->size_bytes * 8e-9 : mb_per_s(row, per_s);
}

static void print_counts(const struct report_row *row)
{
	printf(
		"         a turn: %.2f work requests, %.2f doorbells, %.2f completions, %ld system calls, %ld instructions\n",
		row->posted_per_turn, row->doorbells_per_turn, row->completions_per_turn, row->steps.system_calls,
		row->steps.instructions);
}

static void print_row(const struct report *report, const struct report_row *row)
{
	const struct stats *s = &row->latency;

	if (report->tool->kind == TOOL_LATENCY) {
		printf(" %-7zu %-11ld %11.3f    %11.3f    %13.3f    %11.3f    %13.3f   %20.3f   %22.3f\n", row->size_bytes,
		       row->iterations, s->min, s->max, s->typical, s->average, s->stdev, s->p99, s->p999);
	} else {
		printf(" %-10zu %-14ld %15.2f    %18.2f   %13.6f", row->size_bytes, row->iterations,
		       shown(report, row, row->peak_per_s), shown(report, row, row->average_per_s), row->average_per_s * 1e-6);
		printf(sweeps_depth(report) ? "   %5ld\n" : "\n", row->depth);
	}
	if (report->options->count)
		print_counts(row);
	fflush(stdout);
}

static void json_counts(const struct report *report, const struct report_row *row)
{
	FILE *f = report->json;

	fprintf(f,
	        ",\"yields_per_turn\":%.6f,\"posted_per_turn\":%.6f,\"doorbells_per_turn\":%.6f,"
	        "\"completions_per_turn\":%.6f,\"reads_per_turn\":%.6f,\"atomics_per_turn\":%.6f",
	        row->yields_per_turn, row->posted_per_turn, row->doorbells_per_turn, row->completions_per_turn,
	        row->reads_per_turn, row->atomics_per_turn);
	if (report->options->count)
		fprintf(f, ",\"instructions\":%ld,\"system_calls\":%ld", row->steps.instructions, row->steps.system_calls);
	fprintf(f, "}");
}

static void json_row(const struct report *report, const struct report_row *row)
{
	const struct stats *s = &row->latency;
	FILE *f = report->json;

	fprintf(f, "%s\n{\"size_bytes\":%zu,\"iterations\":%ld,", report->row_count ? "," : "", row->size_bytes,
	        row->iterations);
	if (report->tool->kind == TOOL_LATENCY)
		fprintf(f,
		        "\"t_min_us\":%.6f,\"t_max_us\":%.6f,\"t_typical_us\":%.6f,\"t_avg_us\":%.6f,\"t_stdev_us\":%.6f,"
		        "\"t_p99_us\":%.6f,\"t_p999_us\":%.6f",
		        s->min, s->max, s->typical, s->average, s->stdev, s->p99, s->p999);
	else
		fprintf(f, "\"depth\":%ld,\"bw_peak_mbps\":%.6f,\"bw_average_mbps\":%.6f,\"msg_rate_mpps\":%.9f", row->depth,
		        mb_per_s(row, row->peak_per_s), mb_per_s(row, row->average_per_s), row->average_per_s * 1e-6);
	json_counts(report, row);
}

void report_row(struct report *report, const struct report_row *row)
{
	print_row(report, row);
	if (report->json)
		json_row(report, row);
	report->row_count++;
}

int report_end(struct report *report)
{
	printf(LINE "\n");
	fflush(stdout);
	return report->json ? json_end(report->json, report->options) : 0;
}
