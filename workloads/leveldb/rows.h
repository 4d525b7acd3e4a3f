/* For engines with the C API of LevelDB or RocksDB: what they must define, so that leveldb/rows.c
 * reads, writes and scans keys for key_values.h. Such an engine lists rows.c in ENGINE_SHARED; its
 * database.h has what calls.h says, and struct database with `db`, `read`, `batch` and
 * `key_values`. */
#pragma once

#include "key_values/key_values.h"
#include "leveldb/calls.h"

/* ---- What the engine defines, and rows_write of key_values.h. */

/* Rows were read, which may have made a compaction due. */
void rows_were_read(void);
