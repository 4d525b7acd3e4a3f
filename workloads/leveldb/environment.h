/* LevelDB's Env for background=inline: flushes and compactions are done in the caller's thread,
 * and its file calls are logged. */
#pragma once

#include <leveldb/c.h>

/* Returns LevelDB's default environment with two differences, and a log of its calls
 * (engine_files.h):
 * - background work is queued, and done by environment_drain;
 * - tables are read by pread instead of mapped, so that a read of a table is a call. */
leveldb_env_t *environment_inline(void);

/* Does the queued work, and what that queues. */
void environment_drain(void);
