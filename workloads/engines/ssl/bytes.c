/* Growing byte buffers, a reader that stops at their end, numbers as varints and in either byte
 * order, and CRC-32C. */
#include "bytes.h"

#include <string.h>

#include "ssl.h"

enum { FIRST_ROOM = 256 };

static bool grow(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room > 0 ? bytes->room : FIRST_ROOM;
	void *data;

	if (bytes->failed)
		return false;
	while (room < bytes->size + more)
		room *= 2;
	if (room == bytes->room)
		return true;
	data = sqlite3_realloc64(bytes->data, room);
	bytes->failed = data == NULL;
	if (data != NULL) {
		bytes->data = data;
		bytes->room = room;
	}
	return data != NULL;
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (size == 0 || !grow(bytes, size))
		return;
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_byte(struct bytes *bytes, uint8_t value)
{
	bytes_add(bytes, &value, 1);
}

void bytes_number(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_byte(bytes, (uint8_t)(value | 0x80));
	bytes_byte(bytes, (uint8_t)value);
}

void bytes_signed(struct bytes *bytes, int64_t value)
{
	bytes_number(bytes, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

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

const uint8_t *read_bytes(struct reader *reader, size_t size)
{
	const uint8_t *at = reader->next;

	if ((size_t)(reader->end - at) < size) {
		reader->bad = true;
		return NULL;
	}
	reader->next += size;
	return at;
}

uint8_t read_byte(struct reader *reader)
{
	const uint8_t *at = read_bytes(reader, 1);

	return at != NULL ? *at : 0;
}

uint64_t read_number(struct reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = read_byte(reader);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	reader->bad = true;
	return 0;
}

int64_t read_signed(struct reader *reader)
{
	uint64_t value = read_number(reader);

	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

void put64(uint8_t *at, uint64_t value)
{
	put32(at, (uint32_t)value);
	put32(at + 4, (uint32_t)(value >> 32));
}

uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

uint64_t get64(const uint8_t *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

void put32be(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

uint32_t get32be(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t table[256];

/* Before any thread checks a log. */
__attribute__((constructor)) static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t value = i;

		for (int bit = 0; bit < 8; bit++)
			value = value >> 1 ^ (value & 1 ? 0x82f63b78 : 0);
		table[i] = value;
	}
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *byte = data;

	crc = ~crc;
	for (; size > 0; size--)
		crc = table[(crc ^ *byte++) & 0xff] ^ crc >> 8;
	return ~crc;
}
