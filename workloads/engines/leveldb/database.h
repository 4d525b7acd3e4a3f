/* struct database of the engine leveldb (LevelDB's handles and the settings of a run), the indexes
 * of its settings, and the macros by which leveldb/calls.h calls LevelDB. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <leveldb/c.h>

/* For leveldb/calls.h. */
#define STORE(call) leveldb_##call
#define STORE_NAME "leveldb"

#include "leveldb/rows.h"

/* Numbers in engine.settings. */
enum {
	SYNC,
	SYNC_EVERY,
	BACKGROUND,
	WRITE_BUFFER_SIZE,
	MAX_FILE_SIZE,
	BLOCK_CACHE,
	BLOOM_BITS,
	INDEX_BLOCKS,
};

/* Words of its setting `background`. */
enum { INLINE, THREAD };

struct database {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_writebatch_t *batch;
	leveldb_cache_t *cache;
	leveldb_filterpolicy_t *filter; /* NULL: none */
	enum engine_use use;
	int64_t background, sync, sync_every;
	int64_t written; /* transactions */
	struct key_values key_values;
};
