/* The setting `index_blocks` of LevelDB, which tables keep their index block in memory: checks it,
 * sets it and reads it back. All tables do, or those of levels 0 and 1, which needs the patched
 * LevelDB. */
#include "index_blocks.h"

#include <stdio.h>
#include <stdlib.h>

enum { ALL, LEVELS_0_1, WORDS };
const char *const index_blocks[] = {[ALL] = "all", [LEVELS_0_1] = "levels-0-1", [WORDS] = NULL};

#ifdef LEVELDB_HAS_INDEX_LEVELS

/* of LevelDB (config::kNumLevels) */
static const int levels[] = {[ALL] = 7, [LEVELS_0_1] = 2};

bool index_blocks_check(int64_t word, struct error *error)
{
	return true;
}

void index_blocks_set(leveldb_options_t *options, int64_t word)
{
	leveldb_options_set_index_levels(options, levels[word]);
}

void index_blocks_read(leveldb_t *db, char *answer, size_t size)
{
	char *value = leveldb_property_value(db, "leveldb.index-levels");

	snprintf(answer, size, "levels %s", value != NULL ? value : "unknown");
	for (int word = 0; value != NULL && word < WORDS; word++)
		if (levels[word] == strtol(value, NULL, 10))
			snprintf(answer, size, "%s", index_blocks[word]);
	leveldb_free(value);
}

#else

bool index_blocks_check(int64_t word, struct error *error)
{
	return word == ALL || error_set(error, "--index-blocks %s: this LevelDB has only %s",
					index_blocks[word], index_blocks[ALL]);
}

void index_blocks_set(leveldb_options_t *options, int64_t word)
{
}

void index_blocks_read(leveldb_t *db, char *answer, size_t size)
{
	snprintf(answer, size, "%s", index_blocks[ALL]);
}

#endif
