/* Numbers of writes in LevelDB's files. LevelDB numbers each Put and Delete (its "sequence"), and
 * keeps the number with the row in each table that the row moves to. */
#ifndef COMMITPATH_LEVELDB_DATA_H
#define COMMITPATH_LEVELDB_DATA_H

#include <stddef.h>
#include <stdint.h>

/* A batch whose record in the log is being written, in fragments. */
struct data_batch {
	unsigned database;
	unsigned char number[8];
	size_t size; /* of it that is known */
	int64_t call;
};

/* Reports the batches in `size` bytes written to a log at `offset` to moved.h. */
void data_log(struct data_batch *batch, const char *bytes, size_t size, int64_t offset,
	      int64_t call);

/* Reports the rows of a table's block with its trailer, written by `call`. */
void data_block(unsigned database, const char *bytes, size_t size, int64_t call);

#endif
