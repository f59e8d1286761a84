/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.h - a timeline in Perfetto's format: packets of slices, arrows and counters
 *
 * DESIGN NOTES
 *
 * A file is a sequence of packets (google/perfetto, protos/perfetto/trace). Each rank writes a
 * sequence of its own, with names of its own, and no track gets slices from two ranks: so files of
 * ranks are put together by appending one to the other.
 *
 * A rank is a process of the viewer, and its lanes are threads. The numbers of processes and
 * threads are made up from ranks, since processes of two machines may have one number.
 *
 * The viewer follows connected arrows without end. So each arrow connects two slices that have no
 * other arrow: the slice at its begin lies on a track that holds nothing else.
 */
#ifndef ORIEL_SEE_PERFETTO_H
#define ORIEL_SEE_PERFETTO_H

#include <stdint.h>
#include <stdio.h>

#include "see/report/protobuf.h"
#include "see/source.h"

/* The packets of one rank. */
struct perfetto {
	FILE *out;
	int rank;
	struct message packet, event, names, entry;
};

/* Names, which slices refer to by numbers from 1 on. */
enum perfetto_names { NAMES_OF_EVENTS = 2, NAMES_OF_PLACES = 4, NAMES_OF_WINDOWS = 29 };

/* A slice begins. Numbers of 0 are left out. */
struct perfetto_slice {
	uint64_t track;
	uint64_t ns;
	uint32_t name;
	uint32_t place;
	uint32_t window;
	int rank; /* -1: none */
	uint64_t bytes;
	uint64_t begins_arrow; /* the number of an arrow */
	uint64_t ends_arrow;
};

/* The tracks of a rank. */
uint64_t perfetto_thread(int rank, uint32_t lane);
uint64_t perfetto_awaited(int rank, int by_rank);

void perfetto_begin(struct perfetto *to, FILE *out, int rank);
void perfetto_end(struct perfetto *to);

/* Collects names, which perfetto_write_names then writes, before the first slice. */
void perfetto_add_name(struct perfetto *to, enum perfetto_names kind, uint32_t number, const char *name);
void perfetto_add_place(struct perfetto *to, uint32_t number, const struct source_place *place);
void perfetto_write_names(struct perfetto *to);

/* Describes tracks before their first slice: of this rank, its lanes, and the calls it awaited. */
void perfetto_describe_rank(struct perfetto *to);
void perfetto_describe_lane(struct perfetto *to, uint32_t lane);
void perfetto_describe_awaited(struct perfetto *to, int rank);

void perfetto_begin_slice(struct perfetto *to, const struct perfetto_slice *slice);
void perfetto_end_slice(struct perfetto *to, uint64_t track, uint64_t ns);

/* A text at one time of the rank. */
void perfetto_write_mark(struct perfetto *to, uint64_t ns, const char *text);

/* The bytes that the rank has moved until then. */
void perfetto_write_bytes(struct perfetto *to, uint64_t ns, uint64_t bytes);

#endif
