/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * members.h - the members of a communicator, or of a group, as an Oriel group
 *
 * DESIGN NOTES
 *
 * Two communicators with the same members must not match each other's collective calls, so the
 * group of each has a tag: a number that its rank 0 draws. (Groups with the same members in the
 * same order have the same rank 0, so its own count suffices.) Rank 0 broadcasts it for the
 * communicator's first window. The communicator keeps the group as an attribute, which duplicates
 * do not inherit.
 */
#ifndef ORIEL_MPI_MEMBERS_H
#define ORIEL_MPI_MEMBERS_H

#include <mpi.h>
#include <stdbool.h>

#include "oriel.h"

/*
 * Returns whether Oriel can make windows on comm, the same on all its members. If not, sets *why.
 */
bool members_suit(MPI_Comm comm, const char **why);

/* Returns whether the members have agreed on a group for comm, the same on all of them. */
bool members_known(MPI_Comm comm);

/* Returns comm's group, which comm owns; NULL: no memory. Collective; members_suit must hold. */
oriel_group *members_of_comm(MPI_Comm comm);

/* Drops the cached group on all members; the next window makes it anew. */
void members_forget(MPI_Comm comm);

/*
 * Makes an Oriel group of group's ranks, members of `in`, whose MPI group is in_group. The caller
 * frees it. Returns 0 or an error of Oriel's.
 */
int members_of_group(MPI_Group group, MPI_Group in_group, const oriel_group *in, oriel_group **out);

#endif
