/* Keys and their values by the C interface of LevelDB or RocksDB: what key_values.h calls, and a
 * hook of engine.h. Such an engine lists leveldb/rows.c in ENGINE_SHARED, and -I of its folder in
 * ENGINE_CPPFLAGS. Its database.h defines struct database with `db`, `read`, `batch` and
 * `key_values`, and STORE(call), the call's name with the store's prefix. */
#pragma once

#include <stdbool.h>

#include "engine.h"
#include "key_values/key_values.h"

/* The hook remove of engine.h. */
bool rows_remove(const char *path, struct error *error);

/* Returns whether the store had an error, sets it and frees its text. */
bool call_failed(const char *operation, char *message, struct error *error);

/* ---- What the engine defines, and rows_write of key_values.h. */

/* Rows were read, which may have made a compaction due. */
void rows_were_read(void);
