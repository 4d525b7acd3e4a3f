/* Numbers of writes in LevelDB's files: doc/log_format.md, doc/table_format.md, db/dbformat.h,
 * db/write_batch.cc, table/block_builder.cc. All its numbers have the smallest byte first. */
#include "data.h"

#include <string.h>

#include "moved.h"

enum {
	LOG_BLOCK = 32768,
	LOG_HEADER = 7, /* checksum, length in two bytes, type */
	AT_LENGTH = 4,
	AT_TYPE = 6,
	FULL = 1,
	FIRST = 2,
	TRAILER = 5, /* compression, checksum */
	TAG = 8,     /* at a key's end: number << 8 | kind of write */
	MOST_KEY = 1024,
};

static uint64_t number_of(const unsigned char *bytes, size_t size)
{
	uint64_t number = 0;

	while (size-- > 0)
		number = number << 8 | bytes[size];
	return number;
}

/* A batch begins with its number, which a fragment may cut. */
static void take(struct data_batch *batch, const unsigned char *bytes, size_t size)
{
	size_t room = sizeof(batch->number) - batch->size, taken = size < room ? size : room;

	if (room == 0)
		return;
	memcpy(batch->number + batch->size, bytes, taken);
	batch->size += taken;
	if (batch->size == sizeof(batch->number))
		moved_source(batch->database, number_of(batch->number, batch->size), batch->call);
}

void data_log(struct data_batch *batch, const char *bytes, size_t size, int64_t offset,
	      int64_t call)
{
	const unsigned char *next = (const unsigned char *)bytes, *end = next + size;

	while (next < end) {
		size_t left = LOG_BLOCK - (size_t)(offset % LOG_BLOCK), length;

		/* zeros, where no header fits */
		if (left < LOG_HEADER) {
			next += left;
			offset += (int64_t)left;
			continue;
		}
		if (end - next < LOG_HEADER)
			return;
		length = (size_t)number_of(next + AT_LENGTH, 2);
		if ((size_t)(end - next) < LOG_HEADER + length)
			return;
		if (next[AT_TYPE] == FULL || next[AT_TYPE] == FIRST)
			*batch = (struct data_batch){.database = batch->database, .call = call};
		take(batch, next + LOG_HEADER, length);
		next += LOG_HEADER + length;
		offset += (int64_t)(LOG_HEADER + length);
	}
}

/* Reads a varint; returns what follows, or NULL at `end`. */
static const unsigned char *varint(const unsigned char *next, const unsigned char *end,
				   size_t *number)
{
	*number = 0;
	for (int shift = 0; next < end && shift < 32; shift += 7) {
		*number |= (size_t)(*next & 0x7f) << shift;
		if ((*next++ & 0x80) == 0)
			return next;
	}
	return NULL;
}

void data_block(unsigned database, const char *bytes, size_t size, int64_t call)
{
	const unsigned char *next = (const unsigned char *)bytes, *end;
	unsigned char key[MOST_KEY];
	size_t restarts;

	if (size < TRAILER + sizeof(uint32_t) || next[size - TRAILER] != 0)
		return;
	size -= TRAILER + sizeof(uint32_t);
	restarts = (size_t)number_of(next + size, sizeof(uint32_t)) * sizeof(uint32_t);
	if (restarts > size)
		return;
	end = next + size - restarts;
	while (next < end) {
		const unsigned char *row = next;
		size_t shared, other, value;

		next = varint(next, end, &shared);
		next = next != NULL ? varint(next, end, &other) : NULL;
		next = next != NULL ? varint(next, end, &value) : NULL;
		if (next == NULL || shared + other > sizeof(key) || shared + other < TAG ||
		    (size_t)(end - next) < other + value)
			return;
		memcpy(key + shared, next, other);
		next += other + value;
		moved_data(database, call, number_of(key + shared + other - TAG, TAG) >> 8,
			   next - row);
	}
}
