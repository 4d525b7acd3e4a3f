/* The setting `index_blocks` of LevelDB, which tables keep their index block in memory: checks it,
 * sets it and reads it back. LevelDB itself has only `all`; the others need patched/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <leveldb/c.h>

#include "error.h"

/* Ended by NULL. */
extern const char *const index_blocks[];

/* Returns whether this LevelDB has the word with this index. */
bool index_blocks_check(int64_t word, struct error *error);

void index_blocks_set(leveldb_options_t *options, int64_t word);

/* Writes the word that is in effect, or the number of levels of none. */
void index_blocks_read(leveldb_t *db, char *answer, size_t size);
