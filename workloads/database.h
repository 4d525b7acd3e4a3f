/* SQLite calls that either work or end the run with one clear line. */
#ifndef COMMITPATH_DATABASE_H
#define COMMITPATH_DATABASE_H

#include <stddef.h>
#include <stdint.h>

#include "sqlite3.h"

/* Opens a database with SQLITE_OPEN_* flags and extended result codes. */
sqlite3 *database_open(const char *path, int flags);

/* Closes it. `sqlite3_close` failing (a statement left open) ends the run. */
void database_close(sqlite3 *db);

/* Runs a text of one or more statements and drops its answer. */
void database_run(sqlite3 *db, const char *sql);

/* The first column of the first row of a query, as a number. A query
 * without a row ends the run. */
int64_t database_number(sqlite3 *db, const char *sql);

/* The first column of the first row of a query, as text in `answer`.
 * Returns 0 when it has no row (a pragma that this SQLite does not know). */
int database_text(sqlite3 *db, const char *sql, char *answer, size_t size);

/* Prepares one statement; `kind` names it in an error. */
sqlite3_stmt *database_prepare(sqlite3 *db, const char *sql, const char *kind);

/* Ends the run with the connection's last error: what was done, to which
 * kind of SQL, the extended result code and SQLite's message. */
_Noreturn void database_fail(sqlite3 *db, const char *operation, const char *kind);

/* PRAGMA wal_checkpoint. Ends the run when it is busy or leaves frames in
 * the log. Does nothing in the other journal modes. */
void database_checkpoint(sqlite3 *db);

#endif
