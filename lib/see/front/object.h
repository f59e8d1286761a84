/* SPDX-License-Identifier: BSD-2-Clause */
/* object.h - the file that an address of code comes from */
#ifndef ORIEL_SEE_OBJECT_H
#define ORIEL_SEE_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "see/front/part.h"

/* Describes the file that is loaded there, and sets the offset in it. Returns false if none is. */
bool object_describe(const void *address, struct part_object *object, uint64_t *offset);

#endif
