/* Records an engine's writes to persistent memory per transaction, as no block device sees them. An
 * engine without persistent memory does not call these functions, and has no overhead. */
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
