/* Counts the cache lines and bytes that an engine writes to persistent memory in each transaction,
 * which no block device sees, for persistent.csv. Other engines do not call this. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of the engine's file in that memory, which sets it when it opens a database; NULL: there is none.
 */
extern const char *persistent_role;

/* Makes room for so many transactions; without it none is noted. */
void persistent_prepare(size_t transactions);

/* What the next transaction wrote, which an engine notes at the end of each commit. */
void persistent_note(int64_t lines, int64_t bytes);

/* Writes persistent.csv, if there was room. */
void persistent_write(const char *directory);
