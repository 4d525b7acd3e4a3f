/* Keys and their values by the C interface of LevelDB or RocksDB: what key_values.h calls. Such an
 * engine lists leveldb/rows.c in ENGINE_SHARED. Its database.h defines what calls.h says, and
 * struct database with `db`, `read`, `batch` and `key_values`. */
#pragma once

#include "key_values/key_values.h"
#include "leveldb/calls.h"

/* ---- What the engine defines, and rows_write of key_values.h. */

/* Rows were read, which may have made a compaction due. */
void rows_were_read(void);
