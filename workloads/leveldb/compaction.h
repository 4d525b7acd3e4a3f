/* Compacts a whole LevelDB database, and returns LevelDB's error. */
#pragma once

#include <leveldb/c.h>

/* Moves all rows to tables on one level. Returns LevelDB's error, for leveldb_free, or NULL. */
char *compaction_all(leveldb_t *db);
