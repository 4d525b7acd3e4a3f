/* Compacts a whole LevelDB database, and returns LevelDB's error. */
#ifndef COMMITPATH_LEVELDB_COMPACTION_H
#define COMMITPATH_LEVELDB_COMPACTION_H

#include <leveldb/c.h>

/* Moves all rows to tables on one level. Returns LevelDB's error, for leveldb_free, or NULL. */
char *compaction_all(leveldb_t *db);

#endif
