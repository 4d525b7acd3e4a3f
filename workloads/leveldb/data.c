/* Numbers of writes in the files of LevelDB and RocksDB: doc/log_format.md, doc/table_format.md,
 * db/dbformat.h, db/write_batch.cc, table/block_builder.cc. All its numbers have the smallest byte
 * first. */
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
	SHARED = 0, /* data_row_sizes */
	OTHERS = 1,
	VALUE = 2,
};

uint64_t data_number(const unsigned char *bytes, size_t size)
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
	if (batch->size == sizeof(batch->number) && batch->call >= 0)
		moved_source(batch->database, data_number(batch->number, batch->size), batch->call);
}

/* Takes a byte of a record's header. */
static void take_header(struct data_batch *batch, unsigned char byte, int64_t call)
{
	unsigned char type;

	batch->header[batch->header_size++] = byte;
	if (batch->header_size < LOG_HEADER)
		return;
	batch->header_size = 0;
	batch->left = (size_t)data_number(batch->header + AT_LENGTH, 2);
	type = batch->header[AT_TYPE];
	if (type == FULL || type == FIRST) {
		batch->size = 0;
		batch->call = call;
	}
}

void data_log(struct data_batch *batch, const char *bytes, size_t size, int64_t offset,
	      int64_t call)
{
	const unsigned char *next = (const unsigned char *)bytes, *end = next + size;

	while (next < end) {
		size_t room = LOG_BLOCK - (size_t)(offset % LOG_BLOCK), done = 1;

		if (batch->left > 0) {
			done = batch->left < (size_t)(end - next) ? batch->left
								  : (size_t)(end - next);
			take(batch, next, done);
			batch->left -= done;
		} else if (batch->header_size > 0 || room >= LOG_HEADER) {
			take_header(batch, *next, call);
		}
		/* else zeros, where no header fits */
		next += done;
		offset += (int64_t)done;
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

const unsigned char *data_row_sizes(const unsigned char *next, const unsigned char *end,
				    size_t sizes[3])
{
	for (int i = 0; i < 3 && next != NULL; i++)
		next = varint(next, end, &sizes[i]);
	return next;
}

void data_rows(const unsigned char *bytes, size_t size,
	       void (*take_row)(void *context, const struct data_row *row), void *context)
{
	const unsigned char *next = bytes, *end;
	unsigned char key[MOST_KEY];
	size_t restarts, sizes[3];

	if (size < TRAILER + sizeof(uint32_t) || bytes[size - TRAILER] != 0)
		return;
	size -= TRAILER + sizeof(uint32_t);
	restarts = (size_t)data_number(bytes + size, sizeof(uint32_t)) * sizeof(uint32_t);
	if (restarts > size)
		return;
	end = bytes + size - restarts;
	while (next < end) {
		struct data_row row = {.key = key, .offset = (size_t)(next - bytes)};
		size_t whole;

		next = data_row_sizes(next, end, sizes);
		whole = next != NULL ? sizes[SHARED] + sizes[OTHERS] : 0;
		if (whole > sizeof(key) || whole < TAG ||
		    (size_t)(end - next) < sizes[OTHERS] + sizes[VALUE])
			return;
		memcpy(key + sizes[SHARED], next, sizes[OTHERS]);
		next += sizes[OTHERS] + sizes[VALUE];
		row.key_size = whole - TAG;
		row.number = data_number(key + row.key_size, TAG) >> 8;
		row.size = (size_t)(next - bytes) - row.offset;
		take_row(context, &row);
	}
}

/* Of a block. */
struct reported {
	unsigned database;
	int64_t call;
};

static void report(void *context, const struct data_row *row)
{
	const struct reported *block = context;

	moved_data(block->database, block->call, row->number, (int64_t)row->size);
}

void data_block(unsigned database, const char *bytes, size_t size, int64_t call)
{
	struct reported block = {database, call};

	data_rows((const unsigned char *)bytes, size, report, &block);
}
