// SPDX-License-Identifier: BSD-2-Clause
/*
 * address.h - where the launcher listens, as its ranks are told
 *
 * A Unix socket, so that a job needs no network interface, by an abstract name: there is no file to
 * be left behind. Such a name belongs to the network namespace.
 */
#ifndef ORIEL_WIRE_ADDRESS_H
#define ORIEL_WIRE_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#define ADDRESS_TEXT_BYTES 64 /* "@" and the name, with the terminating 0 */

/* Returns the size of the address for bind and connect, or 0 if text is none. */
socklen_t address_parse(const char *text, struct sockaddr_un *address);

#endif
