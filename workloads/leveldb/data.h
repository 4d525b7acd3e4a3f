/* Parses the bytes of log and table files in LevelDB's formats, which RocksDB also has, for the
 * sequence number of each row: a row keeps it in each table that it moves to. So each row of a
 * table is attributed to a write (moved.h). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	DATA_TRAILER = 5, /* of a block: compression, checksum */
	DATA_TAG = 8,	  /* at a key's end: number << 8 | kind of write */
};

/* A log that is being written. A batch is a record, or several fragments. */
struct data_batch {
	unsigned database;	 /* engine_files.h */
	unsigned char header[7]; /* of a record */
	size_t header_size;	 /* bytes of it so far */
	size_t left;		 /* of the record */
	unsigned char number[8]; /* of the batch */
	size_t size;		 /* bytes of the number so far */
	int64_t call;
};

/* Reports the batches in `size` bytes written to a log at `offset` by `call`, or -1, to moved.h. */
void data_log(struct data_batch *batch, const char *bytes, size_t size, int64_t offset,
	      int64_t call);

/* A write of a table: its call, and where it ends. */
struct data_part {
	int64_t call;
	size_t end;
};

/* Reports the rows of a table's block with its trailer. `parts` wrote all of it, and end at places
 * in the block. */
void data_block(unsigned database, const char *bytes, size_t size, const struct data_part *parts);

/* A row of a block, or the part of it that one call wrote. */
struct data_row {
	const unsigned char *key;
	size_t key_size;
	uint64_t number;
	int64_t call;
	size_t size;
};

/* Calls `take` for each row of a table's block with its trailer, and for a row that several calls
 * wrote for each of them. `parts` end at places in a file that has the block at `place`. */
void data_rows(const unsigned char *bytes, size_t size, size_t place, const struct data_part *parts,
	       void (*take)(void *context, const struct data_row *row), void *context);

/* Reads a number of `size` bytes. */
uint64_t data_number(const unsigned char *bytes, size_t size);

/* Reads the three numbers that a row begins with. Returns what follows, or NULL at `end`. */
enum {
	DATA_SHARED, /* bytes of its key that it shares with the row before it */
	DATA_OTHERS, /* further bytes of the key */
	DATA_VALUE,
};
const unsigned char *data_row_sizes(const unsigned char *next, const unsigned char *end,
				    size_t sizes[3]);
