// SPDX-License-Identifier: BSD-2-Clause
/*
 * address.h - the launcher's address, as its ranks get it
 *
 * The address is a Unix socket with an abstract name: a job needs no network interface and leaves
 * no file. The name belongs to the network namespace.
 */
#ifndef ORIEL_WIRE_ADDRESS_H
#define ORIEL_WIRE_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_TEXT_BYTES 64 /* "@", the name and the terminating 0 */

/* Returns the size of the address for bind and connect, or 0 if text is not an address. */
socklen_t address_parse(const char *text, struct sockaddr_un *address);

#endif
