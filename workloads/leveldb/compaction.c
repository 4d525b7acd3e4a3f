/* Compacts a whole LevelDB database, and returns LevelDB's error. */
#include "compaction.h"

#include <stddef.h>

/* CompactRange returns no error, but the next write does: an empty one. */
char *compaction_all(leveldb_t *db)
{
	leveldb_writeoptions_t *options = leveldb_writeoptions_create();
	leveldb_writebatch_t *batch = leveldb_writebatch_create();
	char *message = NULL;

	leveldb_compact_range(db, NULL, 0, NULL, 0);
	leveldb_write(db, options, batch, &message);
	leveldb_writebatch_destroy(batch);
	leveldb_writeoptions_destroy(options);
	return message;
}
