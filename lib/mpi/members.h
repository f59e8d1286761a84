/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h - the members of a communicator, or of a group, as a group of Oriel's
 *
 * DESIGN NOTES
 *
 * Two communicators with the same members must not match each other's collective calls: the group of each has a tag, a
 * number that its rank 0 gives (groups of the same members in the same order have the same rank 0, so its numbers suffice).
 * It is told to the others when the first window is made on the communicator, and kept with it as an attribute, which
 * duplicates do not get.
 */
#ifndef ORIEL_MPI_MEMBERS_H
#define ORIEL_MPI_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>

#include "oriel.h"

/*
 * Whether Oriel can take windows on this communicator; the same answer on all its members. If not, *why.
 */
bool members_suit(MPI_Comm comm, const char **why);

/* Whether its members have made a window on it before, or have agreed to: the same answer on all. */
bool members_known(MPI_Comm comm);

/* Collective over comm, which suits. Borrowed from the communicator; NULL: no memory. */
oriel_group *members_of_comm(MPI_Comm comm);

/* What is kept with the communicator is not, on all its members: the next window's makes it anew. */
void members_forget(MPI_Comm comm);

/* Ranks of group as a group of members of `in`, whose group is in_group. Released by the caller. 0, or an error of Oriel's. */
int members_of_group(MPI_Group group, MPI_Group in_group, const oriel_group *in, oriel_group **out);

#endif
