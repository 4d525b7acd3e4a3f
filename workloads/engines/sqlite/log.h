/* Log of file calls of engines made of SQLite (log.c): roles of files in vfs.csv, and functions
 * that record calls on an engine's own file, which no VFS sees. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "file_calls.h"

enum role {
	ROLE_DATABASE,
	ROLE_JOURNAL,
	ROLE_WAL,
	ROLE_SHM,
	ROLE_OTHER,
	ROLE_TEMPORARY, /* unnamed: SQLite deletes it when closed */
	ROLE_OWN,
	ROLE_OWN_WAL, /* with frames like a WAL's, under another name */
};

/* For engine.file_roles; an engine with files of its own adds their names. */
#define SQLITE_FILE_ROLES                                                             \
	[ROLE_DATABASE] = "database", [ROLE_JOURNAL] = "journal", [ROLE_WAL] = "wal", \
	[ROLE_SHM] = "shm", [ROLE_OTHER] = "other", [ROLE_TEMPORARY] = "temporary"

/* An engine's differences from SQLite. */
struct log_engine {
	const char *own_suffix;	    /* suffix of its own file; NULL: none */
	const char *own_wal_suffix; /* the same for ROLE_OWN_WAL */
	bool whole_frames;	    /* it writes a frame and its page in one call */
};
extern const struct log_engine log_engine;

/* Registers the database at `path`, which must stay valid: its files are recognised by name, in any
 * folder. */
void log_database(const char *path, size_t number);

/* Records a page that SQLite wrote to its WAL and the engine keeps in memory: `offset` and `bytes`
 * refer to SQLite's WAL. It began at `begin`, in ticks, and ends now. */
void log_note_kept(size_t database, uint64_t begin, int64_t offset, int64_t bytes, int64_t page);

/* Records a call to the engine's own file that no VFS sees. */
void log_note_own(size_t database, enum file_op op, uint64_t begin, int64_t offset, int64_t bytes,
		  int result);
