/* The log of calls of an engine that is made of SQLite: SQLite's files, and those of its own. */
#ifndef COMMITPATH_SQLITE_LOG_H
#define COMMITPATH_SQLITE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "file_calls.h"

enum role {
	ROLE_DATABASE,
	ROLE_JOURNAL,
	ROLE_WAL,
	ROLE_SHM,
	ROLE_OTHER,
	ROLE_TEMPORARY, /* without a name: SQLite deletes it when it closes it */
	ROLE_OWN,
	ROLE_OWN_WAL, /* it has frames as a WAL has them, under a name that is none's */
};

/* For engine.file_roles; behind them come the names of the engine's own, of one that has such
 * files.
 */
#define SQLITE_FILE_ROLES                                                             \
	[ROLE_DATABASE] = "database", [ROLE_JOURNAL] = "journal", [ROLE_WAL] = "wal", \
	[ROLE_SHM] = "shm", [ROLE_OTHER] = "other", [ROLE_TEMPORARY] = "temporary"

/* What the engine has otherwise than SQLite. */
struct log_engine {
	const char *own_suffix;	    /* how the name of its own file ends; NULL: it has none */
	const char *own_wal_suffix; /* likewise */
	bool whole_frames;	    /* it writes a frame by one call, with its page */
};
extern const struct log_engine log_engine;

/* The database of that number is opened at `path`, which lasts: its files are known by their names,
 * wherever they are. */
void log_database(const char *path, size_t number);

/* A page that SQLite wrote to its WAL and the engine keeps in memory: `offset` and `bytes` are
 * those of the WAL as SQLite knows it. It began at `begin`, in ticks, and ends now. */
void log_note_kept(size_t database, uint64_t begin, int64_t offset, int64_t bytes, int64_t page);

/* A call to the engine's own file that no VFS sees. */
void log_note_own(size_t database, enum file_op op, uint64_t begin, int64_t offset, int64_t bytes,
		  int result);

#endif
