/* Byte buffers that grow, comparing and splitting slices of bytes, reading and writing numbers in
 * them (big-endian, varint): keys and values are made of these. */
#include "kv.h"

#include <string.h>

void bytes_clear(struct bytes *bytes)
{
	bytes->size = 0;
	bytes->failed = false;
}

void bytes_free(struct bytes *bytes)
{
	sqlite3_free(bytes->data);
	*bytes = (struct bytes){0};
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (bytes->failed || size == 0)
		return;
	if (bytes->capacity - bytes->size < size) {
		size_t capacity = 2 * bytes->capacity + size + 32;
		unsigned char *larger = sqlite3_realloc64(bytes->data, capacity);

		if (larger == NULL) {
			bytes->failed = true;
			return;
		}
		bytes->data = larger;
		bytes->capacity = capacity;
	}
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_add_byte(struct bytes *bytes, unsigned char byte)
{
	bytes_add(bytes, &byte, 1);
}

void bytes_add_number(struct bytes *bytes, uint64_t number, size_t size)
{
	unsigned char encoded[sizeof(number)];

	for (size_t i = 0; i < size; i++)
		encoded[i] = (unsigned char)(number >> 8 * (size - 1 - i));
	bytes_add(bytes, encoded, size);
}

void bytes_add_varint(struct bytes *bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		bytes_add_byte(bytes, (unsigned char)(number | 0x80));
	bytes_add_byte(bytes, (unsigned char)number);
}

void bytes_set(struct bytes *bytes, struct slice slice)
{
	bytes_clear(bytes);
	bytes_add(bytes, slice.data, slice.size);
}

int slice_compare(struct slice one, struct slice other)
{
	size_t size = one.size < other.size ? one.size : other.size;
	int order = size == 0 ? 0 : memcmp(one.data, other.data, size);

	return order != 0 ? order : (one.size > other.size) - (one.size < other.size);
}

bool slice_begins_with(struct slice slice, struct slice prefix)
{
	return slice.size >= prefix.size && memcmp(slice.data, prefix.data, prefix.size) == 0;
}

bool slice_take(struct slice *slice, size_t size, struct slice *taken)
{
	if (slice->size < size)
		return false;
	*taken = (struct slice){slice->data, size};
	slice->data += size;
	slice->size -= size;
	return true;
}

bool slice_take_number(struct slice *slice, size_t size, uint64_t *number)
{
	struct slice taken;

	if (!slice_take(slice, size, &taken))
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number = *number << 8 | taken.data[i];
	return true;
}

bool slice_take_varint(struct slice *slice, uint64_t *number)
{
	struct slice byte;

	*number = 0;
	for (unsigned shift = 0; shift < 64 && slice_take(slice, 1, &byte); shift += 7) {
		*number |= (uint64_t)(*byte.data & 0x7f) << shift;
		if (*byte.data < 0x80)
			return true;
	}
	return false;
}
