/* Numbers of writes in the files of LevelDB, and of RocksDB, which has its formats. They number
 * each Put and Delete (their "sequence"), and keep the number with the row in each table that the
 * row moves to. */
#ifndef COMMITPATH_LEVELDB_DATA_H
#define COMMITPATH_LEVELDB_DATA_H

#include <stddef.h>
#include <stdint.h>

/* A log that is being written. A batch is a record, or several fragments. */
struct data_batch {
	unsigned database;	 /* engine_files.h */
	unsigned char header[7]; /* of a record */
	size_t header_size;	 /* of it that is known */
	size_t left;		 /* of the record */
	unsigned char number[8]; /* of the batch */
	size_t size;		 /* of it that is known */
	int64_t call;
};

/* Reports the batches in `size` bytes written to a log at `offset` by `call`, or -1, to moved.h. */
void data_log(struct data_batch *batch, const char *bytes, size_t size, int64_t offset,
	      int64_t call);

/* Reports the rows of a table's block with its trailer, written by `call`. */
void data_block(unsigned database, const char *bytes, size_t size, int64_t call);

/* A row of a block: its key and number, and its bytes, which begin at `offset`. */
struct data_row {
	const unsigned char *key;
	size_t key_size;
	uint64_t number;
	size_t offset, size;
};

/* Calls `take` for each row of a table's block with its trailer. */
void data_rows(const unsigned char *bytes, size_t size,
	       void (*take)(void *context, const struct data_row *row), void *context);

/* Reads a number of `size` bytes. */
uint64_t data_number(const unsigned char *bytes, size_t size);

/* Reads the three numbers that a row begins with: bytes of its key that it shares with the row
 * before it, others, and bytes of the value. Returns what follows, or NULL at `end`. */
const unsigned char *data_row_sizes(const unsigned char *next, const unsigned char *end,
				    size_t sizes[3]);

#endif
