// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzz_dir_entry.c - readings of directory entries and segment places: what is taken is whole
 *
 * The first byte chooses: a reading as it is; a reading with a right check; a whole entry with some
 * bytes of an older one over it, as a torn reading has.
 */
/* The rest of the library is not needed for what is fuzzed here. */
#pragma weak err_set
#pragma weak grow_array
#pragma weak lock_table_cover
#pragma weak lock_table_reset
#pragma weak peers_cover_slot
#pragma weak rank_died
#pragma weak slab_alloc
#pragma weak table_add_segment
#pragma weak wire_done
#pragma weak wire_get
#pragma weak wire_poll
#pragma weak wire_signal

#include "conn/directory.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t id[WINDOW_ID_BYTES] = { 'o', 'r', 'i', 'e', 'l' };

/* An entry from the input, zeros where it is too short. */
static struct dir_entry entry_of(const uint8_t *data, size_t size)
{
	struct dir_entry entry;

	memset(&entry, 0, sizeof(entry));
	memcpy(&entry, data, size < sizeof(entry) ? size : sizeof(entry));
	return entry;
}

static void check_taken(const struct dir_entry *entry)
{
	if (memcmp(entry->id, id, sizeof(id)) != 0 || entry->disp_unit_bytes == 0 || entry->check == 0 ||
	    entry->check != dir_entry_check(entry))
		abort();
}

static void try_torn(const uint8_t *data, size_t size)
{
	struct dir_entry old = entry_of(data, size), new = old, mixture;
	const uint8_t *mask = data + (size > 16 ? size - 16 : 0);

	memcpy(new.id, id, sizeof(id));
	new.disp_unit_bytes |= 1;
	new.base += 4096;
	new.check = dir_entry_check(&new);
	old.check = dir_entry_check(&old);
	if (!dir_entry_matches(&new, id))
		abort();
	for (size_t i = 0; i < sizeof(mixture); i++)
		((uint8_t *)&mixture)[i] = ((uint8_t *)(size >= 16 && mask[i / 8] >> i % 8 & 1 ? &new : &old))[i];
	if (dir_entry_matches(&mixture, id) && memcmp(&mixture, &new, sizeof(new)) && memcmp(&mixture, &old, sizeof(old)))
		abort();
}

static void try_place(const uint8_t *data, size_t size)
{
	struct segment_ref place, torn;

	if (size < sizeof(place) + 2)
		return;
	memcpy(&place, data, sizeof(place));
	place.check = segment_check(&place);
	if (!segment_ready(&place))
		abort();
	memset(&torn, 0, sizeof(torn));
	for (size_t i = 0; i < sizeof(torn); i++) {
		if (data[sizeof(place) + i / 8] >> i % 8 & 1)
			((uint8_t *)&torn)[i] = ((uint8_t *)&place)[i];
	}
	/* A check of 31 bits: only readings in which it has arrived in full are held to it here. */
	if (torn.check == place.check && segment_ready(&torn) && memcmp(&torn, &place, sizeof(place)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dir_entry entry;

	if (size < 2)
		return 0;
	entry = entry_of(data + 1, size - 1);
	if (data[0] & 1)
		memcpy(entry.id, id, sizeof(id));
	if (data[0] & 2)
		entry.check = dir_entry_check(&entry);
	if (dir_entry_matches(&entry, id))
		check_taken(&entry);
	else if ((data[0] & 3) == 3 && entry.disp_unit_bytes != 0)
		abort();
	if (data[0] & 4)
		try_torn(data + 1, size - 1);
	if (data[0] & 8)
		try_place(data + 1, size - 1);
	return 0;
}
