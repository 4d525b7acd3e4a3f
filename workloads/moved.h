/* For engines that number their writes: attributes data that a flush or compaction writes again to
 * the call that wrote it first, by these numbers, and writes moved.csv. */
#pragma once

#include <stdint.h>

/* Call `call` of vfs.csv wrote the data of this number and the next ones of a database, until its
 * next source. */
void moved_source(unsigned database, uint64_t number, int64_t call);

/* Call `call` wrote `bytes` of data with this number again. */
void moved_data(unsigned database, int64_t call, uint64_t number, int64_t bytes);

/* Writes moved.csv, if there is a source: for each call and source the bytes. Data from before the
 * database's first source has none. */
void moved_write(const char *directory);
