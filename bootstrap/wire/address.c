// SPDX-License-Identifier: BSD-2-Clause
/* address.c - see address.h. */
#include "wire/address.h"

#include <stddef.h>
#include <string.h>

socklen_t address_parse(const char *text, struct sockaddr_un *address)
{
	size_t length = strnlen(text, ADDRESS_TEXT_BYTES);

	if (text[0] != '@' || length < 2 || length >= ADDRESS_TEXT_BYTES)
		return 0;
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + 1, text + 1, length - 1);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}
