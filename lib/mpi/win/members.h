/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h - the members of a communicator, or of a group, as an Oriel group
 *
 * DESIGN NOTES
 *
 * Two communicators with the same members must not match each other's collective calls, so the
 * group of each has a tag: a number that its rank 0 draws, and broadcasts for the communicator's
 * first window. (Groups of the same ranks in the same order have the same rank 0.) The communicator
 * keeps the group as an attribute, which duplicates do not inherit.
 */
#ifndef ORIEL_MPI_MEMBERS_H
#define ORIEL_MPI_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>

#include "oriel.h"

/* Returns whether Oriel can make windows on comm, alike on all members. If not, sets *why. */
bool members_suit(MPI_Comm comm, const char **why);

/* Returns whether comm has a group, the same on all members. */
bool members_known(MPI_Comm comm);

/* Returns comm's group, which comm owns; NULL: no memory. Collective; members_suit must hold. */
oriel_group *members_of_comm(MPI_Comm comm);

/* Drops the group on all members; the next window makes it anew. */
void members_forget(MPI_Comm comm);

/*
 * Makes a group, for the caller, of group's ranks, members of `in`, whose MPI group is in_group.
 * Returns 0 or Oriel's error.
 */
int members_of_group(MPI_Group group, MPI_Group in_group, const oriel_group *in, oriel_group **out);

#endif
