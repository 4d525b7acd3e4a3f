/* An open LevelDB database, and what all files here do with it. Keys are eight bytes, the largest
 * first, so that their order is that of the numbers. */
#ifndef COMMITPATH_LEVELDB_DATABASE_H
#define COMMITPATH_LEVELDB_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <leveldb/c.h>

#include "engine.h"

/* Numbers in engine_settings. */
enum { SYNC };

struct database {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_writebatch_t *batch;
	enum engine_use use;
	int64_t value_size, sync;
	size_t loaded; /* bytes in the batch */
	unsigned char *buffer;
	size_t size, capacity; /* of what is rendered */
};

/* Whether LevelDB had an error; says which, and frees its text. */
bool call_failed(const char *operation, char *said, struct error *error);

/* A number as `size` bytes, the largest first, and back. */
void encode(unsigned char *bytes, uint64_t number, size_t size);
uint64_t decode(const unsigned char *bytes, size_t size);

#endif
