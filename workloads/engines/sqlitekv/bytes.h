/* Byte buffers that grow, slices of bytes, and the numbers in keys and values (big-endian,
 * varint). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice {
	const unsigned char *data;
	size_t size;
};

/* All 0: empty. Without memory it fails, and stays as it is. */
struct bytes {
	unsigned char *data;
	size_t size, capacity;
	bool failed;
};

void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);
void bytes_add(struct bytes *bytes, const void *data, size_t size);
void bytes_add_byte(struct bytes *bytes, unsigned char byte);
/* The largest byte first. */
void bytes_add_number(struct bytes *bytes, uint64_t number, size_t size);
void bytes_add_varint(struct bytes *bytes, uint64_t number);
void bytes_set(struct bytes *bytes, struct slice slice);

static inline struct slice bytes_slice(const struct bytes *bytes)
{
	return (struct slice){bytes->data, bytes->size};
}

int slice_compare(struct slice one, struct slice other);
bool slice_begins_with(struct slice slice, struct slice prefix);
/* Take from the front; false: the slice is too short. */
bool slice_take(struct slice *slice, size_t size, struct slice *taken);
bool slice_take_number(struct slice *slice, size_t size, uint64_t *number);
bool slice_take_varint(struct slice *slice, uint64_t *number);
