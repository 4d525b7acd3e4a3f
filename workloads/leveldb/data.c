/* Parses log and table bytes that LevelDB or RocksDB writes, for the sequence numbers in them,
 * which attribute each row of a table to the write that made it (moved.h). Formats:
 * doc/log_format.md, doc/table_format.md, db/dbformat.h, db/write_batch.cc,
 * table/block_builder.cc. All its numbers have the smallest byte first. */
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
	MOST_KEY = 1024,
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

/* Takes a row from `begin` to `end` in the parts that wrote it, which are from `part` on. Returns
 * the last of these. */
static const struct data_part *split(const struct data_part *part, struct data_row *row,
				     size_t begin, size_t end,
				     void (*take_row)(void *context, const struct data_row *row),
				     void *context)
{
	for (; begin < end; begin += row->size) {
		while (part->end <= begin)
			part++;
		row->call = part->call;
		row->size = (part->end < end ? part->end : end) - begin;
		take_row(context, row);
	}
	return part;
}

void data_rows(const unsigned char *bytes, size_t size, size_t place, const struct data_part *parts,
	       void (*take_row)(void *context, const struct data_row *row), void *context)
{
	const unsigned char *next = bytes, *end;
	unsigned char key[MOST_KEY];
	size_t restarts, sizes[3];

	if (size < DATA_TRAILER + sizeof(uint32_t) || bytes[size - DATA_TRAILER] != 0)
		return;
	size -= DATA_TRAILER + sizeof(uint32_t);
	restarts = (size_t)data_number(bytes + size, sizeof(uint32_t)) * sizeof(uint32_t);
	if (restarts > size)
		return;
	end = bytes + size - restarts;
	while (next < end) {
		struct data_row row = {.key = key};
		size_t begin = place + (size_t)(next - bytes), whole;

		next = data_row_sizes(next, end, sizes);
		whole = next != NULL ? sizes[DATA_SHARED] + sizes[DATA_OTHERS] : 0;
		if (whole > sizeof(key) || whole < DATA_TAG ||
		    (size_t)(end - next) < sizes[DATA_OTHERS] + sizes[DATA_VALUE])
			return;
		memcpy(key + sizes[DATA_SHARED], next, sizes[DATA_OTHERS]);
		next += sizes[DATA_OTHERS] + sizes[DATA_VALUE];
		row.key_size = whole - DATA_TAG;
		row.number = data_number(key + row.key_size, DATA_TAG) >> 8;
		parts = split(parts, &row, begin, place + (size_t)(next - bytes), take_row,
			      context);
	}
}

static void report(void *context, const struct data_row *row)
{
	const unsigned *database = context;

	moved_data(*database, row->call, row->number, (int64_t)row->size);
}

void data_block(unsigned database, const char *bytes, size_t size, const struct data_part *parts)
{
	data_rows((const unsigned char *)bytes, size, 0, parts, report, &database);
}
