/* struct database of the engine rocksdb: RocksDB's handles and the settings of a run, and the
 * functions that its C files share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rocksdb/c.h>

/* For leveldb/calls.h. */
#define STORE(call) rocksdb_##call
#define STORE_NAME "rocksdb"

#include "leveldb/rows.h"

/* Numbers in engine.settings. */
enum {
	SYNC,
	BACKGROUND,
	DISABLE_WAL,
	WAL_RECOVERY_MODE,
	WRITE_BUFFER_SIZE,
	TARGET_FILE_SIZE_BASE,
	BLOCK_CACHE,
	BLOOM_BITS,
	CACHE_INDEX_AND_FILTER_BLOCKS,
	PIN_L0_FILTER_AND_INDEX_BLOCKS_IN_CACHE,
	SETTINGS,
};

enum { ANSWER_SIZE = 48 };

/* Words of its setting `background`. */
enum { INLINE, THREAD };

struct database {
	rocksdb_t *db;
	rocksdb_options_t *options;
	rocksdb_readoptions_t *read;
	rocksdb_writeoptions_t *write;
	rocksdb_writebatch_t *batch;
	struct rocksdb_wait_for_compact_options_t *wait; /* from release 9 on */
	enum engine_use use;
	int64_t background;
	bool logs;			       /* writes go to the log */
	char effective[SETTINGS][ANSWER_SIZE]; /* read back when it was opened */
	struct key_values key_values;
};

/* Sets whether the background work of the database that is opened is done inline or by threads. */
void background_begin(const struct database *database);
/* Returns when no flush and no compaction is due or runs. */
bool background_finish(struct database *database, struct error *error);
/* Returns whether each flush and compaction since the database was opened succeeded. */
bool background_check(struct database *database, struct error *error);
/* Sets what is requested in database->options and database->write. */
bool settings_set(struct database *database, const struct options *options, struct error *error);
/* Finds the newest file OPTIONS in a database's folder. */
bool settings_file(const char *path, char *name, size_t size);
/* Reads back what is in effect in the database that was opened there. */
bool settings_read_back(struct database *database, const char *path, struct error *error);
